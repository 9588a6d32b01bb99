// How kernels are cut into blocks. It depends on shapes alone, never on the card or on what else it
// does, so sums are taken in the same order everywhere and a run gives the same bits again.
#pragma once

#include <algorithm>
#include <cstdint>

#include "target/cuda/kernels/device_code.hpp"

namespace cosmic::target::cuda {

inline constexpr int kThreadsPerBlock = 256;
/// Of the x axis of a grid, which is the only one used.
inline constexpr std::int64_t kMostBlocks = (std::int64_t{1} << 31) - 1;

constexpr std::int64_t blocks_for(std::int64_t elements) {
  return (elements + kThreadsPerBlock - 1) / kThreadsPerBlock;
}

/// Vectors of a PixelMap that a block of threads has, so that it fills its table once for some.
inline constexpr int kItemsOfBlock = 4 * kThreadsPerBlock;

/// A reduction in two fixed stages. The terms of an output are cut into chunks, one block each. Of
/// its chunk, thread t takes terms t, t + 256, ...; it adds up kTermsPerSum of them in float32, and
/// these sums in double. The sums of the threads are joined by a tree, those of the chunks by a
/// second kernel in the same manner; a single chunk needs none.
struct ReductionGeometry {
  std::int64_t chunks = 1;
  std::int64_t terms_per_chunk = 0;
};

inline constexpr std::int64_t kTermsPerSum = 64;
/// As many blocks as keep the largest cards busy; more would only write more partial sums.
inline constexpr std::int64_t kBlocksWanted = 4096;

constexpr ReductionGeometry reduction_geometry(std::int64_t outputs, std::int64_t terms) {
  const std::int64_t least_terms = kTermsPerSum * kThreadsPerBlock;
  const std::int64_t wanted = (kBlocksWanted + outputs - 1) / std::max<std::int64_t>(outputs, 1);
  const std::int64_t most = std::max<std::int64_t>(1, (terms + least_terms - 1) / least_terms);
  ReductionGeometry geometry;
  geometry.chunks = std::clamp<std::int64_t>(wanted, 1, most);
  geometry.terms_per_chunk = (terms + geometry.chunks - 1) / geometry.chunks;
  return geometry;
}

/// Partial sums that its first stage leaves.
template <class Body>
constexpr std::int64_t partial_numbers(const Reduction<Body>& reduction) {
  const std::int64_t chunks = reduction_geometry(reduction.outputs, reduction.terms).chunks;
  return chunks == 1 ? 0 : reduction.outputs * chunks * Body::kSums;
}

}  // namespace cosmic::target::cuda
