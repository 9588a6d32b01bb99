#include "target/cpu/assign_layouts.hpp"

#include <map>

#include "compile/rewrite.hpp"
#include "target/cpu/image_layout.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::Graph;
using graph::Layout;
using graph::Node;
using graph::ValueId;

/// What an op wants of its operands and makes of them. Operands beyond the list are plain.
struct Layouts {
  std::vector<Layout> operands;
  Layout result = Layout::plain;
};

constexpr Layout kPlain = Layout::plain;

/// Answers for one node, given the layout of images and those its operands have.
class Rule {
 public:
  Rule(const Graph& graph, const Node& node, Layout images, const std::vector<Layout>& have)
      : graph_(graph), node_(node), images_(images), have_(have) {}

  Layouts operator()(const graph::Conv&) const { return convolution(); }
  Layouts operator()(const graph::ConvTranspose&) const { return convolution(); }
  Layouts operator()(const graph::ConvKernelGradient&) const {
    return {{image(0), images_}, kPlain};
  }
  Layouts operator()(const graph::Statistics&) const { return {{images_}, kPlain}; }
  Layouts operator()(const graph::ChannelProducts&) const { return {{images_, images_}, kPlain}; }
  Layouts operator()(const graph::ChannelSum&) const {
    return is_matrix(0) ? Layouts{} : Layouts{{images_}, kPlain};
  }
  Layouts operator()(const graph::SegmentationSums&) const { return {{images_}, kPlain}; }
  Layouts operator()(const graph::SegmentationSumsGradient&) const { return {{images_}, images_}; }
  Layouts operator()(const graph::StatisticsGradient&) const { return {{images_}, images_}; }
  Layouts operator()(const graph::MaxPool&) const { return {{images_}, images_}; }
  Layouts operator()(const graph::MaxPoolGradient&) const { return {{images_, images_}, images_}; }
  Layouts operator()(const graph::Upsample&) const { return {{images_}, images_}; }
  Layouts operator()(const graph::UpsampleGradient&) const { return {{images_}, images_}; }

  Layouts operator()(const graph::ChannelAffine&) const { return per_channel(); }
  Layouts operator()(const graph::ChannelScale&) const { return per_channel(); }
  Layouts operator()(const graph::ChannelBias&) const { return per_channel(); }

  Layouts operator()(const graph::Add&) const { return all_as_any(); }
  Layouts operator()(const graph::Scale&) const { return all_as_any(); }
  Layouts operator()(const graph::LeakyRelu&) const { return all_as_any(); }
  Layouts operator()(const graph::LeakyReluGradient&) const { return all_as_any(); }
  Layouts operator()(const graph::PlanesToChannels&) const { return all_as_any(); }
  Layouts operator()(const graph::ChannelsToPlanes&) const { return all_as_any(); }
  Layouts operator()(const graph::DepthToPlanes&) const { return all_as_any(); }
  Layouts operator()(const graph::PlanesToDepth&) const { return all_as_any(); }

  Layouts operator()(const graph::Concat& op) const { return along(op.axis); }
  Layouts operator()(const graph::Slice& op) const { return along(op.axis); }
  Layouts operator()(const graph::Embed& op) const { return along(op.axis); }

  /// Everything else works on plain tensors: weights, matrices, single numbers.
  template <class Op>
  Layouts operator()(const Op&) const {
    return {};
  }

 private:
  bool is_matrix(std::size_t operand) const {
    return graph_.type(node_.operands[operand]).rank() == 2;
  }
  /// A single plain channel is read as it is; blocking it would multiply its size by eight.
  Layout image(std::size_t operand) const {
    const bool single =
        have_[operand] == kPlain && graph_.type(node_.operands[operand]).dim(1) == 1;
    return single && images_ == Layout::blocked ? kPlain : images_;
  }
  Layouts convolution() const { return {{image(0), kPlain, kPlain, images_}, images_}; }
  Layouts per_channel() const { return is_matrix(0) ? Layouts{} : Layouts{{images_}, images_}; }
  Layouts all_as_any() const {
    for (const Layout layout : have_) {
      if (layout != kPlain) {
        return {std::vector<Layout>(have_.size(), images_), images_};
      }
    }
    return {};
  }
  /// Images and channels can be picked out of blocked tensors, rows and columns cannot.
  Layouts along(std::int64_t axis) const { return axis < 2 ? all_as_any() : Layouts{}; }

  const Graph& graph_;
  const Node& node_;
  Layout images_;
  const std::vector<Layout>& have_;
};

class LayoutAssigner {
 public:
  explicit LayoutAssigner(const Graph& from)
      : from_(from), images_(image_layout(from)), map_(from.size()) {}

  Graph run() {
    for_each_node(from_, [&](ValueId id, const Node& node) { place(id, node); });
    compile::copy_boundary(from_, map_, to_);
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
    std::vector<Layout> have;
    for (ValueId& operand : copy.operands) {
      operand = map_[operand.index()];
      have.push_back(to_.node(operand).layout);
    }
    const Layouts layouts = std::visit(Rule(to_, copy, images_, have), node.op);
    for (std::size_t i = 0; i < copy.operands.size(); ++i) {
      const Layout wanted = i < layouts.operands.size() ? layouts.operands[i] : kPlain;
      copy.operands[i] = in_layout(copy.operands[i], wanted);
    }
    copy.layout = layouts.result;
    map_[id.index()] = to_.append(std::move(copy));
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
  Layout images_;
  Graph to_;
  std::vector<ValueId> map_;
  std::map<ValueId, ValueId> reordered_;
};

}  // namespace

compile::Pass assign_layouts() {
  return {"assign-layouts",
          "after all rewrites of ops, so that every value meets its final readers; before storage "
          "is chosen, which depends on how much room a value takes",
          [](const Graph& graph) { return LayoutAssigner(graph).run(); }, compile::Required::yes};
}

}  // namespace cosmic::target::cpu
