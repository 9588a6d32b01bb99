// Memory that works need besides the values of a program. Lowering runs twice: first to learn how
// much, with nothing there, then with memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "target/cuda/device_memory.hpp"

namespace cosmic::target::cuda {

/// Hands out bytes on boundaries, one after the other.
class Room {
 public:
  explicit Room(std::byte* base = nullptr) : base_(base) {}

  template <class Element>
  Element* take(std::int64_t count) {
    std::byte* const at = base_ == nullptr ? nullptr : base_ + used_;
    used_ += round_up(count * static_cast<std::int64_t>(sizeof(Element)));
    most_ = std::max(most_, used_);
    return reinterpret_cast<Element*>(at);
  }
  void clear() { used_ = 0; }
  std::int64_t most() const { return most_; }

 private:
  std::byte* base_;
  std::int64_t used_ = 0;
  std::int64_t most_ = 0;
};

struct Rooms {
  Room scratch;   ///< of one step; the next one uses it again
  Room prepared;  ///< packed weights: there as long as the program is
  Room counters;  ///< zero before the first run and after each
};

}  // namespace cosmic::target::cuda
