// Processes that train together add up their gradients before anyone updates. Many small messages
// would each cost a wait, and one large one could not start before the last gradient is there, so
// gradients go in buckets, in the order in which the backward pass makes them.
#include <algorithm>

#include "compile/node_order.hpp"
#include "compile/passes/passes.hpp"
#include "graph/builder.hpp"
#include "graph/ops/exchange_begins.hpp"

namespace cosmic::compile {
namespace {

using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::ValueId;

// Large enough that its bytes take longer than its messages, small enough that several fit into a
// backward pass.
constexpr std::int64_t kBucketBytes = 1 << 20;

bool is_same_everywhere(const Node& node) {
  return graph::op_if<graph::Fill>(node) != nullptr;
}

/// Tensors that are exchanged together, and where they come from among those that were given.
struct Bucket {
  std::vector<std::size_t> members;
  std::int64_t bytes = 0;

  bool takes(std::int64_t more) const {
    return members.empty() ||
           (members.size() < graph::kMostExchanged && begin_of_next() + more <= kBucketBytes);
  }
  void take(std::size_t member, std::int64_t more) {
    members.push_back(member);
    bytes = begin_of_next() + more;
  }
  std::int64_t begin_of_next() const {
    constexpr std::int64_t kMultiple =
        graph::kExchangedMultiple * static_cast<std::int64_t>(sizeof(float));
    return (bytes + kMultiple - 1) / kMultiple * kMultiple;
  }
};

std::vector<Bucket> buckets_of(const Graph& graph, const std::vector<ValueId>& tensors) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!is_same_everywhere(graph.node(tensors[i]))) {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return tensors[a] < tensors[b]; });
  std::vector<Bucket> buckets;
  for (const std::size_t i : order) {
    const std::int64_t bytes = graph.type(tensors[i]).bytes();
    if (buckets.empty() || !buckets.back().takes(bytes)) {
      buckets.emplace_back();
    }
    buckets.back().take(i, bytes);
  }
  return buckets;
}

}  // namespace

std::vector<std::int64_t> bucket_bytes(std::span<const std::int64_t> tensors) {
  std::vector<Bucket> buckets;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (buckets.empty() || !buckets.back().takes(tensors[i])) {
      buckets.emplace_back();
    }
    buckets.back().take(i, tensors[i]);
  }
  std::vector<std::int64_t> bytes;
  for (const Bucket& bucket : buckets) {
    bytes.push_back(bucket.bytes);
  }
  return bytes;
}

std::vector<ValueId> exchanged(Builder& g, std::vector<ValueId> tensors,
                               const graph::AllReduce& how) {
  g.set_scope(kExchangeScope);
  for (const Bucket& bucket : buckets_of(g.graph(), tensors)) {
    std::vector<ValueId> operands;
    std::vector<graph::TensorType> types;  // g moves its nodes as it grows
    for (const std::size_t member : bucket.members) {
      operands.push_back(tensors[member]);
      types.push_back(g.type(tensors[member]));
    }
    g.set_stage(g.graph().node(operands.front()).stage);
    const ValueId sum = g.add(how, operands);
    const std::vector<std::int64_t> begins = graph::exchange_begins(types);
    for (std::size_t i = 0; i < types.size(); ++i) {
      const graph::Slice part{0, begins[i], begins[i] + types[i].elements()};
      tensors[bucket.members[i]] = g.add(graph::Reshape{types[i].shape}, {g.add(part, {sum})});
    }
  }
  return tensors;
}

Pass exchange_gradients(double factor, NumberFormat format) {
  return {"exchange-gradients", "after the gradients exist; before the optimizer reads them",
          [factor, format](Graph graph) {
            std::vector<std::string> names;
            std::vector<ValueId> gradients;
            for (const graph::StateVariable& state : graph.states) {
              if (state.kind == graph::StateKind::parameter) {
                names.push_back(gradient_name(state.name));
                gradients.push_back(graph.output(names.back()).value);
              }
            }
            const ValueId loss = graph.output(kLossOutput).value;
            Builder g(std::move(graph));
            // By itself, so that all know whether the step counts long before its last gradient.
            const ValueId sum = exchanged(g, {loss}, {}).front();
            const std::vector<ValueId> sums = exchanged(g, gradients, {factor, format});
            g.output(kLossOfAllOutput, sum);
            graph = g.take();
            for (std::size_t i = 0; i < names.size(); ++i) {
              std::find_if(graph.outputs.begin(), graph.outputs.end(), [&](const auto& output) {
                return output.name == names[i];
              })->value = sums[i];
            }
            return graph;
          },
          Required::yes,
          "factor=" + std::to_string(factor) +
              (format == NumberFormat::f32 ? "" : " as " + to_string(format))};
}

namespace {

/// Does a step begin here that takes its time, and on which nothing before it rides?
bool begins_work(const Graph& graph, std::size_t at) {
  const Node& node = graph.nodes()[at];
  if (graph::op_if<graph::ConvKernelGradient>(node) == nullptr) {
    return graph::op_if<graph::Conv>(node) != nullptr ||
           graph::op_if<graph::ConvTranspose>(node) != nullptr ||
           graph::op_if<graph::MatMul>(node) != nullptr;
  }
  // The gradient of a kernel rides on that of its image, if it follows that.
  for (std::size_t i = at; i-- > 0;) {
    if (graph::op_if<graph::ConvTranspose>(graph.nodes()[i]) != nullptr) {
      return graph.nodes()[i].operands[0] != node.operands[1];
    }
  }
  return true;
}

/// What follows a convolution at once may ride on it, so a sum starts before the next step that
/// takes its time, not right after its last operand.
Graph started_early(const Graph& graph) {
  Followers followers;
  for_each_node(graph, [&](ValueId id, const Node& node) {
    if (graph::op_if<graph::AllReduce>(node) == nullptr) {
      return;
    }
    std::size_t after = std::max_element(node.operands.begin(), node.operands.end())->index();
    while (after + 1 < id.index() && !begins_work(graph, after + 1)) {
      ++after;
    }
    if (after + 1 < id.index()) {
      followers[ValueId(after)].push_back(id);
    }
  });
  return with_followers(graph, followers, Sources::stay);
}

}  // namespace

Pass start_exchanges_early() {
  return {"start-exchanges-early",
          "after gradients are paired, whose order it keeps, and when all nodes are there",
          [](const Graph& graph) { return started_early(graph); }};
}

}  // namespace cosmic::compile
