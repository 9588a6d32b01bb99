#include "target/cpu/small_images/image_layout.hpp"

#include "target/cpu/small_images/interleaved_image.hpp"
#include "target/cpu/small_images/interleaved_steps.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::Graph;
using graph::ImageUse;
using graph::Layout;
using graph::Node;

// With more channels than this, blocks of channels are full and Winograd's algorithm saves more
// than interleaving does.
constexpr std::int64_t kFewChannels = 32;

// Eight images of this many pixels and a few channels stay in the second-level cache.
constexpr std::int64_t kFewPixels = 64 * 64;

enum class Verdict { does_not_matter, for_it, against_it };

bool is_small(const graph::TensorType& image) {
  return image.rank() == 4 && image.dim(0) % kBundle == 0 && image.dim(1) <= kFewChannels &&
         image.dim(2) * image.dim(3) <= kFewPixels;
}

/// A larger stride spreads the input out, which the mirrored convolution cannot express.
bool is_spread_out(const Node& node) {
  const auto* transpose = graph::op_if<graph::ConvTranspose>(node);
  return transpose != nullptr &&
         (transpose->window.stride[1] != 1 || transpose->window.stride[2] != 1);
}

/// What one node has to say about interleaving.
Verdict verdict_of(const Graph& graph, const Node& node) {
  const std::vector<graph::TensorType> types = operand_types(graph, node);
  const ImageUse use = image_use_of(node.op, types);
  switch (use.kind) {
    case ImageUse::Kind::none:
      return Verdict::does_not_matter;
    case ImageUse::Kind::alike:
      return has_interleaved_step(node.op) || node.type.rank() < 4 ? Verdict::does_not_matter
                                                                   : Verdict::against_it;
    case ImageUse::Kind::some:
      break;
  }
  bool small = has_interleaved_step(node.op) && !is_spread_out(node);
  for (std::size_t i = 0; i < types.size(); ++i) {
    small = small && (!use.takes(i) || is_small(types[i]));
  }
  return small && (!use.result || is_small(node.type)) ? Verdict::for_it : Verdict::against_it;
}

}  // namespace

Layout image_layout(const Graph& graph) {
  if (graph.numerics.partials != NumberFormat::f32) {
    return Layout::blocked;  // whose steps can round sums
  }
  bool wanted = false;
  for (const Node& node : graph.nodes()) {
    const Verdict verdict = verdict_of(graph, node);
    if (verdict == Verdict::against_it) {
      return Layout::blocked;
    }
    wanted = wanted || verdict == Verdict::for_it;
  }
  return wanted ? Layout::interleaved : Layout::blocked;
}

}  // namespace cosmic::target::cpu
