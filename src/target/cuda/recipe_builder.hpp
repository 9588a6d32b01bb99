// From expressions of a plan to recipes.
#pragma once

#include <optional>

#include "compile/expression.hpp"
#include "target/cuda/addresses.hpp"
#include "target/cuda/kernels/recipe.hpp"

namespace cosmic::target::cuda {

/// Extents fit; supports_node has seen to it.
inline int as_int(std::int64_t number) {
  return static_cast<int>(number);
}

/// The image that a value is; `base` is null where it has no memory.
Image image_of(const graph::Node& node, std::byte* base);

/// Bytes of a value as it is stored: only blocked images are narrow, others stay floats.
std::int64_t storage_bytes(const graph::Node& node);

Format format_of(const graph::Node& node);

/// The loss at the scores that a SegmentationSums, or its gradient, reads.
Segmentation segmentation_of(const Addresses& addresses, const graph::Node& node, bool focal);

/// How a value is evaluated where it is read. `result` is a value that the kernel has at hand.
Recipe make_recipe(const Addresses& addresses, const compile::TermView& value,
                   std::optional<graph::ValueId> result = std::nullopt);

/// An image that is stored.
Recipe make_stored_recipe(const Image& image);

/// The single channel of a plain image, spread so that its taps along a row become channels.
Recipe make_spread_recipe(const Addresses& addresses, graph::ValueId image, int taps, int shift,
                          int columns);

/// Groups of images that the numbers of a recipe belong to; slices of a batch must not mix them.
int groups_of(const Recipe& recipe, int batch);

/// Is there a recipe for this value, whatever else is not stored? What needs more than the stack
/// has is stored.
bool has_recipe(const graph::Graph& graph, graph::ValueId value);

}  // namespace cosmic::target::cuda
