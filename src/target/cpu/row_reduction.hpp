// Sums over the pixels of an image, gathered row by row: statistics, gradients of numbers per
// channel, losses. A reduction can be a step of its own, or ride on the convolution that writes its
// image and take each row while it is still in the cache.
//
// Every thread sums its own rows; the parts are joined in thread order, so the result depends on
// the number of threads and on nothing else.
#pragma once

#include <cstdint>
#include <memory>

#include "target/cpu/blocked_image.hpp"
#include "target/cpu/prepared_step.hpp"

namespace cosmic::target::cpu {

class RowReduction {
 public:
  RowReduction() = default;
  virtual ~RowReduction() = default;
  RowReduction(const RowReduction&) = delete;
  RowReduction& operator=(const RowReduction&) = delete;

  virtual const BlockedImage& image() const = 0;
  virtual std::int64_t scratch_floats() const = 0;  ///< per thread
  /// Forgets what a thread has added.
  virtual void clear(int thread) = 0;
  /// Adds one row of one channel block.
  virtual void add(int thread, std::int64_t image, std::int64_t block, std::int64_t row,
                   float* scratch) = 0;
  /// Joins the threads' parts and writes the result.
  virtual void finish() = 0;
};

/// Of an op whose graph::Reduction is over pixels.
std::unique_ptr<RowReduction> make_row_reduction(const Memory& memory,
                                                 const compile::Computed& sums, int threads);
/// The reduction as a step of its own.
std::unique_ptr<PreparedStep> make_reduction_step(const Memory& memory, const compile::Step& step,
                                                  const Team& team);

}  // namespace cosmic::target::cpu
