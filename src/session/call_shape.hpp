// How many micro-batches one call takes, and in which order. The model sees one micro-batch at a
// time: batch norm knows no more than that.
#pragma once

#include <cstdint>
#include <span>

#include "session/options.hpp"

namespace cosmic::session {

/// Micro-batches lie one after the other: those of the first iteration, in it those of the first
/// replica, in it one per accumulated gradient.
struct CallShape {
  std::int64_t iterations = 1;
  std::int64_t replicas = 1;
  std::int64_t accumulation = 1;

  std::int64_t per_update() const { return replicas * accumulation; }
  std::int64_t batches() const { return iterations * per_update(); }
};

/// Micro-batch number `batch` of a call that takes `batches` of them.
template <class Element>
std::span<const Element> micro_batch(std::span<const Element> whole, std::int64_t batch,
                                     std::int64_t batches) {
  const std::size_t size = whole.size() / static_cast<std::size_t>(batches);
  return whole.subspan(static_cast<std::size_t>(batch) * size, size);
}

inline CallShape call_shape(const Options& options) {
  return {options.device_iterations, options.replication_factor, options.gradient_accumulation};
}

}  // namespace cosmic::session
