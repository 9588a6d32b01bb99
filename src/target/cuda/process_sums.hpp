// Sums over all processes that run a program together, as they stand among the works of a queue.
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "core/number_format.hpp"
#include "target/cuda/work.hpp"

namespace cosmic::target::cuda {

class Queue;

/// From here on these numbers are added up over all processes, each in its place, while the queue
/// goes on. Nobody touches them until an AwaitSum of the same number. Programs of all processes
/// have the same sums in the same order.
struct BeginSum {
  float* numbers = nullptr;
  std::int64_t count = 0;
  int number = 0;                           ///< counted within a program
  NumberFormat format = NumberFormat::f32;  ///< that they travel in
};

/// What follows in the queue begins when that sum is there.
struct AwaitSum {
  int number = 0;
};

/// What a program consists of: kernels, and where other processes take part.
using Deed = std::variant<Work, BeginSum, AwaitSum>;

/// How the sums are made: straight between devices, or by way of the hosts' memory. One that
/// remembers sums by their number is for one program.
class ProcessSums {
 public:
  virtual ~ProcessSums() = default;
  /// Before sums are recorded: whatever has to be done once.
  virtual void get_ready(Queue& queue, std::span<const BeginSum> sums) = 0;
  /// Gives the queue all that makes this sum.
  virtual void add_up(Queue& queue, const BeginSum& sum) = 0;
  /// After a run. Throws what went wrong in its sums.
  virtual void require_done() = 0;
};

}  // namespace cosmic::target::cuda
