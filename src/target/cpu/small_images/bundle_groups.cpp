#include "target/cpu/small_images/bundle_groups.hpp"

#include <algorithm>

#include "target/cpu/small_images/interleaved_image.hpp"
#include "target/cpu/small_images/interleaved_steps.hpp"

namespace cosmic::target::cpu {
namespace {

using compile::Part;
using compile::RoundedWhen;
using graph::Graph;
using graph::Node;
using graph::op_if;
using graph::ValueId;

enum class Has { images, numbers };

Part of_images(std::int64_t images, Has has, bool joined_last = false) {
  return {images % kBundle == 0 ? images / kBundle : 0, joined_last, has == Has::images};
}

/// Numbers per image, [2, images, channels], belong to bundles if there is a whole number of them.
Part of_numbers(const Graph& graph, const Node& node) {
  if (op_if<graph::NormCoefficients>(node) != nullptr ||
      op_if<graph::NormCoefficientsGradient>(node) != nullptr) {
    return of_images(graph.type(node.operands[0]).dim(1), Has::numbers,
                     division_of(node.op) == graph::Division::sums);
  }
  return {};
}

/// Where numbers are summed over groups of images, does a group lie in one bundle?
bool mixes_bundles(const Node& node, std::int64_t images) {
  const auto* statistics = op_if<graph::Statistics>(node);
  const auto* products = op_if<graph::ChannelProducts>(node);
  const std::int64_t groups = statistics != nullptr ? statistics->groups
                              : products != nullptr ? products->groups
                                                    : 1;
  return kBundle % (images / groups) != 0;
}

bool rounds(const compile::Step& step) {
  const auto is_rounded = [](const compile::Computed& computed) {
    return computed.rounded != RoundedWhen::never;
  };
  return is_rounded(step.leader) ||
         std::any_of(step.riders.begin(), step.riders.end(),
                     [&](const compile::Rider& rider) { return is_rounded(rider.computed); });
}

}  // namespace

Part part_of_group(const Graph& graph, const compile::Step& step) {
  const ValueId id = step.leader.value;
  const Node& node = graph.node(id);
  if (rounds(step)) {
    return {};  // what is rounded is rounded when all of it is there
  }
  if (!is_interleaved(graph, id)) {
    return of_numbers(graph, node);
  }
  // All operands and results have the same batch; of a reduction only the operand is an image.
  const std::int64_t images = graph.type(node.operands[0]).dim(0);
  switch (division_of(node.op)) {
    case graph::Division::elements:
      // A step that does not look at the layout cuts elements anywhere.
      return op_if<graph::Scale>(node) != nullptr ? Part{} : of_images(images, Has::images);
    case graph::Division::images:
      return of_images(images, Has::images);
    case graph::Division::groups:
      return mixes_bundles(node, images) ? Part{} : of_images(images, Has::images);
    case graph::Division::sums:
      return of_images(images, Has::images, true);
    case graph::Division::whole:
      break;
  }
  return {};
}

std::vector<std::size_t> inputs_of(const Graph& graph, const compile::StepList& steps,
                                   const compile::StepGroup& group) {
  const std::size_t first = steps.steps[group.first].leader.value.index();
  const compile::Step& last_step = steps.steps[group.last];
  const std::size_t last = last_step.riders.empty()
                               ? last_step.leader.value.index()
                               : last_step.riders.back().computed.value.index();
  const auto takes_in = [&](ValueId reader) {
    return reader.index() >= first && reader.index() <= last &&
           op_if<graph::Reorder>(graph.node(reader)) != nullptr;
  };
  const auto comes_later = [&](ValueId reader) { return reader.index() > last; };
  const auto readers = readers_of(graph);
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const ValueId input = graph.inputs[i].value;
    const auto& all = readers[input.index()];
    const bool comes_in = std::any_of(all.begin(), all.end(), takes_in) &&
                          std::all_of(all.begin(), all.end(), [&](ValueId reader) {
                            return takes_in(reader) || comes_later(reader);
                          });
    if (comes_in && graph.type(input).dim(0) == group.parts * kBundle &&
        graph.node(input).format == NumberFormat::f32) {
      inputs.push_back(i);
    }
  }
  return inputs;
}

std::int64_t memory_kind(const Graph& graph, ValueId id) {
  const Node& node = graph.node(id);
  // Images that leave the layout are written by bundles, too.
  const bool by_bundles = node.layout == graph::Layout::interleaved ||
                          (op_if<graph::Reorder>(node) != nullptr && is_interleaved(graph, id));
  return by_bundles ? node.type.bytes() : 0;
}

}  // namespace cosmic::target::cpu
