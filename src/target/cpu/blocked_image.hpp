// The geometry of a feature map in this target's blocked layout:
//   [batch][depth][channel block][row][column][8 channels]
// Depth stands next to the batch, so a depth slice is just another image and two- and
// three-dimensional networks share every kernel. Channels that fill up the last block are zero.
#pragma once

#include <cstdint>

#include "graph/graph.hpp"
#include "target/cpu/kernels/conv_kernels.hpp"

namespace cosmic::target::cpu {

struct BlockedImage {
  std::int64_t batch = 1;
  std::int64_t depth = 1;
  std::int64_t channels = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  explicit BlockedImage(const graph::TensorType& type) {
    const graph::FeatureMap map = graph::feature_map(type, "a blocked value");
    batch = map.batch;
    depth = map.depth;
    channels = map.channels;
    rows = map.rows;
    columns = map.columns;
  }

  std::int64_t images() const { return batch * depth; }
  std::int64_t blocks() const { return (channels + kBlock - 1) / kBlock; }
  std::int64_t row_floats() const { return columns * kBlock; }
  /// From a row of one channel block to the same row of the next.
  std::int64_t block_stride() const { return rows * row_floats(); }
  std::int64_t image_stride() const { return blocks() * block_stride(); }
  std::int64_t floats() const { return images() * image_stride(); }
  std::int64_t offset(std::int64_t image, std::int64_t block, std::int64_t row) const {
    return image * image_stride() + block * block_stride() + row * row_floats();
  }
};

/// A two-dimensional image ignores what a window or a factor says about depth.
inline graph::Window window_on(const graph::TensorType& image, graph::Window window) {
  if (image.rank() < 5) {
    window.stride[0] = 1;
    window.pad[0] = 0;
  }
  return window;
}
inline graph::Factors factors_on(const graph::TensorType& image, graph::Factors factors) {
  if (image.rank() < 5) {
    factors[0] = 1;
  }
  return factors;
}

/// Bytes of a value as this target stores it.
inline std::int64_t storage_bytes(const graph::Node& node) {
  if (node.layout == graph::Layout::blocked) {
    return BlockedImage(node.type).floats() * bytes_of(node.format);
  }
  return node.type.bytes();  // rounded or not, they are floats
}

}  // namespace cosmic::target::cpu
