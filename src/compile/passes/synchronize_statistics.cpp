// Batch statistics over all processes. Each has as many elements, so the mean over processes of
// their means and of their means of squares are those of the whole batch. Backwards, every process
// has a part of the gradient of what all of them normalise with: the parts are added up, and each
// element takes as much of the sum as it had part in the statistics, one of processes x elements.
//
// It is done here and not in the network, where an exchange with a gradient rule could stand just
// as well: the statistics of a process stay the op that rides on the convolution which makes its
// image, the bias in front of a normalisation is still known to have no effect, and the gradient
// with respect to x is the op that is recomputed where it is read. Only numbers per channel are
// added to the program.
#include "compile/passes/passes.hpp"
#include "compile/rewrite.hpp"

namespace cosmic::compile {
namespace {

using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::ValueId;

/// The mean over all processes, in the shape of each.
ValueId mean_of_all(Builder& g, ValueId numbers, std::int64_t processes) {
  const ValueId sum = g.add(graph::AllReduce{1.0 / static_cast<double>(processes)}, {numbers});
  return g.add(graph::Reshape{g.type(numbers).shape}, {sum});
}

ValueId statistics_of_all(Builder& g, graph::Statistics own, ValueId x, std::int64_t processes) {
  own.over = graph::Over::process;
  const ValueId moments =
      g.add(graph::RestateStatistics{graph::SecondMoment::mean_square}, {g.add(own, {x})});
  return g.add(graph::RestateStatistics{graph::SecondMoment::variance},
               {mean_of_all(g, moments, processes)});
}

Graph synchronized(const Graph& graph, std::int64_t processes) {
  return rewrite(
      graph,
      [&](Builder& g, ValueId id, std::span<const ValueId> operands) -> std::optional<ValueId> {
        const Node& node = graph.node(id);
        if (is_synchronized(node)) {
          return statistics_of_all(g, *graph::op_if<graph::Statistics>(node), operands[0],
                                   processes);
        }
        const auto reads_synchronized = [&] {
          return is_synchronized(graph.node(node.operands[1]));
        };
        if (const auto* gradient = graph::op_if<graph::StatisticsGradient>(node);
            gradient != nullptr && reads_synchronized()) {
          return g.add(*gradient,
                       {operands[0], operands[1], mean_of_all(g, operands[2], processes)});
        }
        if (const auto* update = graph::op_if<graph::RunningUpdate>(node);
            update != nullptr && reads_synchronized()) {
          graph::RunningUpdate of_all = *update;
          of_all.count *= processes;
          return g.add(of_all, {operands[0], operands[1]});
        }
        return std::nullopt;
      });
}

}  // namespace

bool is_synchronized(const Node& node) {
  const auto* statistics = graph::op_if<graph::Statistics>(node);
  return statistics != nullptr && statistics->over == graph::Over::all_processes;
}

Pass synchronize_statistics(std::int64_t processes) {
  return {"synchronize-statistics",
          "after differentiation, whose gradients it completes, and after biases are cancelled, "
          "which looks for normalisations as the network has them",
          [processes](const Graph& graph) { return synchronized(graph, processes); }, Required::yes,
          "processes=" + std::to_string(processes)};
}

}  // namespace cosmic::compile
