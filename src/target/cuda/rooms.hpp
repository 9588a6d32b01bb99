// Memory that works need besides the values of a program. Lowering runs twice: first to learn how
// much (work_memory), with nothing there, then with memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "target/cuda/device_memory.hpp"
#include "target/cuda/evaluated_gradients.hpp"

namespace cosmic::target::cuda {

/// Hands out bytes on boundaries, one after the other.
class Room {
 public:
  Room() = default;
  /// `most` is what one step takes at most.
  Room(std::byte* base, std::int64_t bytes, std::int64_t most)
      : base_(base), bytes_(bytes), most_(most) {}

  template <class Element>
  Element* take(std::int64_t count) {
    std::byte* const at = base_ == nullptr ? nullptr : base_ + used_;
    used_ += round_up(count * static_cast<std::int64_t>(sizeof(Element)));
    most_ = std::max(most_, used_ - first_);
    return reinterpret_cast<Element*>(at);
  }
  /// What was handed out is free again, but the next step gets other bytes as long as there are
  /// some: then what is left of this one can be done later.
  void begin_step() {
    if (used_ + most_ > bytes_) {
      used_ = 0;
    }
    first_ = used_;
  }
  /// Handed out since the step began.
  std::span<std::byte> of_step() const {
    return base_ == nullptr ? std::span<std::byte>()
                            : std::span(base_ + first_, static_cast<std::size_t>(used_ - first_));
  }
  std::byte* end() const { return base_ == nullptr ? nullptr : base_ + used_; }
  /// Of a step; of all of them where none begins.
  std::int64_t most() const { return most_; }

 private:
  std::byte* base_ = nullptr;
  std::int64_t bytes_ = 0;
  std::int64_t used_ = 0;
  std::int64_t first_ = 0;
  std::int64_t most_ = 0;
};

/// Steps, as large as the largest, that have scratch memory at the same time.
inline constexpr std::int64_t kStepsOfScratch = 2;

/// Of them, for steps as large as the largest. Small ones have room for many.
constexpr std::int64_t scratch_bytes(std::int64_t most) {
  constexpr std::int64_t kPlenty = std::int64_t{16} << 20;
  return std::max(kStepsOfScratch * most, std::min(16 * most, kPlenty));
}

struct Rooms {
  Room scratch;   ///< of one step; later ones use it again
  Room prepared;  ///< packed weights: there as long as the program is
  Room counters;  ///< zero before the first run and after each
  EvaluatedGradients gradients;
};

/// Floats of the counters that say whether a run ahead has lost its loss: the guard of losses, that
/// of gradients, and what is carried from run to run.
inline constexpr std::int64_t kCarriedNumbers = 3;

}  // namespace cosmic::target::cuda
