// Images lie in memory as the target wants them; weights, matrices and numbers stay plain. Which
// operands of an op are images is the op's to say (graph/op_nature.hpp).
#include <algorithm>
#include <map>

#include "compile/passes/passes.hpp"
#include "compile/rewrite.hpp"

namespace cosmic::compile {
namespace {

using graph::Graph;
using graph::ImageUse;
using graph::Layout;
using graph::Node;
using graph::ValueId;

constexpr Layout kPlain = Layout::plain;

class LayoutAssigner {
 public:
  LayoutAssigner(const Graph& from, const TargetInfo& target)
      : from_(from), target_(target), images_(target.image_layout(from)), map_(from.size()) {}

  Graph run() {
    for_each_node(from_, [&](ValueId id, const Node& node) { place(id, node); });
    copy_boundary(from_, map_, to_);
    for (graph::NamedValue& output : to_.outputs) {
      output.value = in_layout(output.value, kPlain);
    }
    for (graph::StateUpdate& update : to_.updates) {
      update.value = in_layout(update.value, kPlain);
    }
    return std::move(to_);
  }

 private:
  void place(ValueId id, const Node& node) {
    // Someone else's wish for a layout: honoured where it is one, dropped where it is so already.
    if (const auto* reorder = graph::op_if<graph::Reorder>(node)) {
      map_[id.index()] =
          in_layout(map_[node.operands[0].index()], reorder->to == kPlain ? kPlain : images_);
      return;
    }
    Node copy = node;
    for (ValueId& operand : copy.operands) {
      operand = map_[operand.index()];
    }
    const ImageUse use = image_use_of(copy.op, operand_types(to_, copy));
    const bool alike = use.kind == ImageUse::Kind::alike && has_image_operand(copy);
    for (std::size_t i = 0; i < copy.operands.size(); ++i) {
      const bool is_image = alike || (use.takes(i) && !read_as_it_is(copy, i));
      copy.operands[i] = in_layout(copy.operands[i], is_image ? images_ : kPlain);
    }
    copy.layout = alike || use.result ? images_ : kPlain;
    map_[id.index()] = to_.append(std::move(copy));
  }

  bool has_image_operand(const Node& node) const {
    return std::any_of(node.operands.begin(), node.operands.end(),
                       [&](ValueId operand) { return to_.node(operand).layout != kPlain; });
  }

  /// A layout for many channels may multiply the size of an image that has one.
  bool read_as_it_is(const Node& node, std::size_t operand) const {
    const Node& image = to_.node(node.operands[operand]);
    return image.layout == kPlain && image.type.dim(1) == 1 &&
           target_.reads_plain_channel(node, operand, images_);
  }

  ValueId in_layout(ValueId value, Layout wanted) {
    const Node& node = to_.node(value);
    if (node.layout == wanted) {
      return value;
    }
    const auto [found, is_new] = reordered_.try_emplace(value);
    if (is_new) {
      // Plain tensors are floats anyway; there is nothing to round a second time.
      const NumberFormat format =
          wanted == graph::Layout::blocked ? node.format : NumberFormat::f32;
      found->second = to_.append({graph::Reorder{wanted},
                                  {value},
                                  node.type,
                                  node.name,
                                  true,
                                  wanted,
                                  format,
                                  node.stage});
    }
    return found->second;
  }

  const Graph& from_;
  const TargetInfo& target_;
  Layout images_;
  Graph to_;
  std::vector<ValueId> map_;
  std::map<ValueId, ValueId> reordered_;
};

}  // namespace

Pass assign_layouts(const TargetInfo& target) {
  return {"assign-layouts",
          "after all rewrites of ops, so that every value meets its final readers; before storage "
          "is chosen, which depends on how much room a value takes",
          [target](Graph graph) {
            return target.image_layout(graph) == kPlain ? graph
                                                        : LayoutAssigner(graph, target).run();
          },
          Required::yes};
}

}  // namespace cosmic::compile
