// What a joined launch (kernels/joined.hpp) can have in its table, and how it is cut into parts.
#pragma once

#include <cstring>
#include <type_traits>

#include "target/cuda/launch_geometry.hpp"
#include "target/cuda/work.hpp"

#define COSMIC_CUDA_JOINED_WORKS(entry)                                                  \
  COSMIC_CUDA_NUMBER_WORKS(entry)                                                        \
  COSMIC_CUDA_SCALING_WORKS(entry)                                                       \
  entry(Map<PackWeightsBody>) entry(JoinKernelGradient) entry(Reduction<ChannelSumBody>) \
      entry(Reduction<NegativeLogLikelihoodBody>) entry(Reduction<MatMulSumBody>)        \
          entry(Map<CopyBody<std::uint32_t>>) entry(Map<CopyBody<std::uint64_t>>)        \
              entry(Map<PutBody<std::uint32_t>>) entry(Map<TakeBody<std::uint32_t>>)     \
                  entry(Map<EmbedBody<std::uint32_t>>) entry(Map<FillBody<float>>)       \
                      entry(Map<FillBody<std::int64_t>>)

namespace cosmic::target::cuda {

template <class... Kinds>
struct KindList {};

template <class Kind, class None, class... Kinds>
constexpr int position_in(KindList<None, Kinds...>) {
  int position = 0;
  int found = -1;
  ((found = std::is_same_v<Kind, Kinds> ? position : found, ++position), ...);
  return found;
}

#define COSMIC_CUDA_NEXT(...) , __VA_ARGS__
using JoinedKinds = KindList<NoWork COSMIC_CUDA_JOINED_WORKS(COSMIC_CUDA_NEXT)>;
#undef COSMIC_CUDA_NEXT

/// Its number in the table; -1 for what is always a launch of its own.
template <class Kind>
inline constexpr int kJoinedKind = position_in<Kind>(JoinedKinds{});

/// Calls visit(work) with what the entry is. The device has a switch of its own, since what it
/// calls is for devices alone.
template <class Visit>
void visit_joined(const JoinedEntry& entry, const Visit& visit) {
  switch (entry.kind) {
#define COSMIC_CUDA_CASE(...)                                 \
  case kJoinedKind<__VA_ARGS__>:                              \
    visit(*reinterpret_cast<const __VA_ARGS__*>(entry.work)); \
    return;
    COSMIC_CUDA_JOINED_WORKS(COSMIC_CUDA_CASE)
#undef COSMIC_CUDA_CASE
  }
}

template <class Kind>
JoinedEntry joined_entry(const Kind& work, int stage, std::int64_t per_part) {
  static_assert(sizeof(Kind) <= JoinedEntry::kMostBytes && alignof(Kind) <= alignof(JoinedEntry) &&
                std::is_trivially_copyable_v<Kind>);
  JoinedEntry entry;
  entry.kind = kJoinedKind<Kind>;
  entry.stage = stage;
  entry.per_part = per_part;
  if constexpr (requires {
                  work.terms;
                  work.outputs;
                }) {
    const ReductionGeometry geometry = reduction_geometry(work.outputs, work.terms);
    entry.chunks = geometry.chunks;
    entry.terms_per_chunk = geometry.terms_per_chunk;
  }
  std::memcpy(entry.work, &work, sizeof work);
  return entry;
}

/// How a work is cut into parts if it has its blocks of threads for itself.
struct Parts {
  std::int64_t count = 0;  ///< elements, outputs or chunks
  std::int64_t per_part = 1;

  std::int64_t parts() const { return (count + per_part - 1) / per_part; }
};

/// So many that what is the same for all elements is computed for several of them.
template <class Body>
Parts parts_of(const Map<Body>& work, int) {
  constexpr std::int64_t kMany = 64 * kThreadsPerBlock;
  return {work.elements, (work.elements > kMany ? 4 : 1) * kThreadsPerBlock};
}

template <class Body>
Parts parts_of(const Reduction<Body>& work, int stage) {
  const std::int64_t chunks = reduction_geometry(work.outputs, work.terms).chunks;
  return {stage == 0 ? work.outputs * chunks : work.outputs, 1};
}

/// Numbers of a kernel's gradient that a block of threads joins: one for each thread of a warp.
inline constexpr int kJoinedAtOnce = 32;

inline Parts parts_of(const JoinKernelGradient& work, int) {
  return {work.outputs(), work.outputs_of_block()};
}

template <class Kind>
int stages_of(const Kind&) {
  return 1;
}
template <class Body>
int stages_of(const Reduction<Body>& work) {
  return reduction_geometry(work.outputs, work.terms).chunks > 1 ? 2 : 1;
}

}  // namespace cosmic::target::cuda
