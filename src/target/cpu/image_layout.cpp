#include "target/cpu/image_layout.hpp"

#include "target/cpu/interleaved_image.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::Graph;
using graph::Layout;
using graph::Node;

// With more channels than this, blocks of channels are full and Winograd's algorithm saves more
// than interleaving does.
constexpr std::int64_t kFewChannels = 32;

// Eight images of this many pixels and a few channels stay in the second-level cache.
constexpr std::int64_t kFewPixels = 64 * 64;

enum class Verdict { does_not_matter, for_it, against_it };

/// What one node has to say about interleaving.
class Opinion {
 public:
  Opinion(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  Verdict operator()(const graph::Conv&) const { return of_images({operand(0), node_.type}); }
  Verdict operator()(const graph::ConvTranspose& op) const {
    // A larger stride spreads the input out, which the mirrored convolution cannot express.
    return op.window.stride[1] == 1 && op.window.stride[2] == 1
               ? of_images({operand(0), node_.type})
               : Verdict::against_it;
  }
  Verdict operator()(const graph::ConvKernelGradient&) const {
    return of_images({operand(0), operand(1)});
  }
  Verdict operator()(const graph::Statistics&) const { return of_images({operand(0)}); }
  Verdict operator()(const graph::StatisticsGradient&) const { return of_images({operand(0)}); }
  Verdict operator()(const graph::ChannelProducts&) const { return of_images({operand(0)}); }
  Verdict operator()(const graph::MaxPool&) const { return of_images({operand(0)}); }
  Verdict operator()(const graph::MaxPoolGradient&) const { return of_images({operand(0)}); }
  Verdict operator()(const graph::ChannelSum&) const { return unless_matrix(); }
  Verdict operator()(const graph::ChannelAffine&) const { return unless_matrix(); }
  Verdict operator()(const graph::ChannelScale&) const { return unless_matrix(); }
  Verdict operator()(const graph::ChannelBias&) const { return unless_matrix(); }

  Verdict operator()(const graph::Upsample&) const { return Verdict::against_it; }
  Verdict operator()(const graph::UpsampleGradient&) const { return Verdict::against_it; }
  Verdict operator()(const graph::SegmentationSums&) const { return Verdict::against_it; }
  Verdict operator()(const graph::SegmentationSumsGradient&) const { return Verdict::against_it; }
  Verdict operator()(const graph::PlanesToChannels&) const { return Verdict::against_it; }
  Verdict operator()(const graph::ChannelsToPlanes&) const { return Verdict::against_it; }
  Verdict operator()(const graph::PlanesToDepth&) const { return Verdict::against_it; }
  Verdict operator()(const graph::DepthToPlanes&) const { return Verdict::against_it; }
  Verdict operator()(const graph::Concat&) const { return unless_small(); }
  Verdict operator()(const graph::Slice&) const { return unless_small(); }
  Verdict operator()(const graph::Embed&) const { return unless_small(); }

  /// Element by element, or not on images.
  template <class Op>
  Verdict operator()(const Op&) const {
    return Verdict::does_not_matter;
  }

 private:
  const graph::TensorType& operand(std::size_t i) const { return graph_.type(node_.operands[i]); }

  static Verdict of_images(std::initializer_list<graph::TensorType> images) {
    for (const graph::TensorType& image : images) {
      const bool fits = image.rank() == 4 && image.dim(0) % kBundle == 0 &&
                        image.dim(1) <= kFewChannels && image.dim(2) * image.dim(3) <= kFewPixels;
      if (!fits) {
        return Verdict::against_it;
      }
    }
    return Verdict::for_it;
  }
  Verdict unless_matrix() const {
    return operand(0).rank() == 2 ? Verdict::does_not_matter : of_images({operand(0)});
  }
  /// Pieces of images are cut out and joined in blocks of channels only.
  Verdict unless_small() const {
    return node_.type.rank() < 4 ? Verdict::does_not_matter : Verdict::against_it;
  }

  const Graph& graph_;
  const Node& node_;
};

}  // namespace

Layout image_layout(const Graph& graph) {
  if (graph.numerics.partials != NumberFormat::f32) {
    return Layout::blocked;  // whose steps can round sums
  }
  bool wanted = false;
  for (const Node& node : graph.nodes()) {
    const Verdict verdict = std::visit(Opinion(graph, node), node.op);
    if (verdict == Verdict::against_it) {
      return Layout::blocked;
    }
    wanted = wanted || verdict == Verdict::for_it;
  }
  return wanted ? Layout::interleaved : Layout::blocked;
}

}  // namespace cosmic::target::cpu
