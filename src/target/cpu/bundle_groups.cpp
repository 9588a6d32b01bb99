#include "target/cpu/bundle_groups.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "target/cpu/interleaved_image.hpp"
#include "target/cpu/interleaved_steps.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::Graph;
using graph::Node;
using graph::op_if;
using graph::ValueId;

/// How a node takes part in a group.
struct Part {
  std::int64_t bundles = 0;  ///< 0: not at all
  bool joined_last = false;  ///< its result is only there when the whole group is done
};

/// Numbers per image, [2, images, channels]. They belong to bundles if there is a whole number.
Part of_images(std::int64_t images, bool joined_last = false) {
  return {images % kBundle == 0 ? images / kBundle : 0, joined_last};
}

Part part_of(const Graph& graph, ValueId id) {
  const Node& node = graph.node(id);
  if (node.format != NumberFormat::f32) {
    return {};  // what is rounded is rounded when all of it is there
  }
  if (op_if<graph::NormCoefficients>(node) != nullptr) {
    return of_images(node.type.dim(1));
  }
  if (const auto* gradient = op_if<graph::NormCoefficientsGradient>(node)) {
    return of_images(graph.type(node.operands[0]).dim(1),
                     gradient->of != graph::NormCoefficientsGradient::Of::statistics);
  }
  if (!is_interleaved(graph, id) || op_if<graph::Scale>(node) != nullptr) {
    return {};
  }
  // All operands and results have the same batch; of a reduction only the operand is an image.
  const std::int64_t images = graph.type(node.operands[0]).dim(0);
  const auto mixes_bundles = [&](std::int64_t groups) { return kBundle % (images / groups) != 0; };
  if (const auto* statistics = op_if<graph::Statistics>(node)) {
    return mixes_bundles(statistics->groups) ? Part{} : of_images(images);
  }
  if (const auto* products = op_if<graph::ChannelProducts>(node)) {
    return mixes_bundles(products->groups) ? Part{} : of_images(images);
  }
  const bool sums_up = op_if<graph::ChannelSum>(node) != nullptr ||
                       op_if<graph::ConvKernelGradient>(node) != nullptr;
  return of_images(images, sums_up);
}

}  // namespace

std::vector<BundleGroup> bundle_groups(const Graph& graph) {
  std::vector<BundleGroup> groups;
  std::optional<BundleGroup> current;
  std::set<ValueId> joined_last;
  bool has_images = false;
  const auto close = [&] {
    if (current && has_images && current->nodes.first != current->nodes.last) {
      groups.push_back(*current);
    }
    current.reset();
    joined_last.clear();
    has_images = false;
  };
  for_each_node(graph, [&](ValueId id, const Node& node) {
    if (op_if<graph::Input>(node) != nullptr || op_if<graph::State>(node) != nullptr) {
      return;
    }
    const Part part = part_of(graph, id);
    const bool reads_unfinished =
        std::any_of(node.operands.begin(), node.operands.end(),
                    [&](ValueId operand) { return joined_last.contains(operand); });
    if (current && (part.bundles != current->bundles || reads_unfinished)) {
      close();
    }
    if (part.bundles == 0) {
      return;
    }
    if (!current) {
      current = BundleGroup{{id.index(), id.index()}, part.bundles};
    }
    current->nodes.last = id.index();
    has_images = has_images || is_interleaved(graph, id);
    if (part.joined_last) {
      joined_last.insert(id);
    }
  });
  close();
  return groups;
}

std::int64_t memory_kind(const Graph& graph, ValueId id) {
  const Node& node = graph.node(id);
  // Images that leave the layout are written by bundles, too.
  const bool by_bundles = node.layout == graph::Layout::interleaved ||
                          (op_if<graph::Reorder>(node) != nullptr && is_interleaved(graph, id));
  return by_bundles ? node.type.bytes() : 0;
}

}  // namespace cosmic::target::cpu
