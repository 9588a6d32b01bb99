// What a program takes of a device's memory, known from its plan alone.
#pragma once

#include "compile/plan.hpp"
#include "target/cuda/device_memory.hpp"
#include "target/cuda/rooms.hpp"

namespace cosmic::target::cuda {

/// Room for an input on its way: the whole of it, or its pixels in three parts that each begin on a
/// boundary.
inline std::int64_t staging_bytes(const graph::TensorType& type) {
  return round_up(type.bytes()) + 3 * kAlignment;
}

/// In bytes; CudaExecutable allocates these and no others.
struct ProgramMemory {
  std::int64_t values = 0;    ///< the arena, and small values beside it
  std::int64_t inputs = 0;    ///< as the kernels read them
  std::int64_t staging = 0;   ///< pixels that are yet to be scattered over the inputs
  std::int64_t scratch = 0;   ///< partial sums, and the gradient that several kernels read
  std::int64_t prepared = 0;  ///< packed weights, counters, and the table of joined launches

  std::int64_t bytes() const { return values + inputs + staging + scratch + prepared; }
};

/// The memory of its works beside values. How much that is depends on shapes, not on where values
/// are.
struct WorkMemory {
  Rooms rooms;
  std::int64_t table = 0;  ///< of joined launches, at most
};

WorkMemory work_memory(const compile::Plan& plan);

ProgramMemory program_memory(const compile::Plan& plan);

}  // namespace cosmic::target::cuda
