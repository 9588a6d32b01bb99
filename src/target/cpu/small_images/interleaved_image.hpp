// The geometry of a feature map in this target's interleaved layout, for many small images:
//   [bundle of 8 images][channel][row][column][8 images]
// The same pixel of eight images lies side by side, so a vector holds one pixel of each. Nothing is
// padded and no kernel has edges in its vectors, however few channels or columns there are; blocks
// of channels would be mostly padding there.
#pragma once

#include <cstdint>

#include "graph/graph.hpp"
#include "target/cpu/kernels/conv_kernels.hpp"

namespace cosmic::target::cpu {

/// Images of a bundle. The same as the channels of a block, so that kernels serve both layouts.
inline constexpr std::int64_t kBundle = kBlock;

struct InterleavedImage {
  std::int64_t bundles = 1;
  std::int64_t channels = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  explicit InterleavedImage(const graph::TensorType& type) {
    const graph::FeatureMap map = graph::feature_map(type, "an interleaved value");
    bundles = map.batch / kBundle;
    channels = map.channels;
    rows = map.rows;
    columns = map.columns;
  }

  std::int64_t images() const { return bundles * kBundle; }
  std::int64_t pixels() const { return rows * columns; }  ///< of one channel
  /// A sheet is one channel of a bundle.
  std::int64_t sheets() const { return bundles * channels; }
  std::int64_t row_floats() const { return columns * kBundle; }
  /// From a channel to the next, and, counted on, from a bundle to the next.
  std::int64_t sheet_stride() const { return rows * row_floats(); }
  std::int64_t floats() const { return sheets() * sheet_stride(); }
};

}  // namespace cosmic::target::cpu
