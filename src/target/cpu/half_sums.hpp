// Running sums in float16, for products that want them (graph::partials_of): the usual kernels add
// up the products of a group in float32, and what is here takes the group in. Which sums a call
// computes, and on which thread, changes no bit.
#pragma once

#include <cstdint>
#include <optional>

#include "target/cpu/kernels/conv_kernels.hpp"
#include "target/cpu/prepared_step.hpp"

namespace cosmic::target::cpu {

class HalfSums {
 public:
  /// Those behind the value `product`, if it wants them.
  static std::optional<HalfSums> of(const Memory& memory, graph::ValueId product);

  /// Adds a group to each of `count` sums and rounds them. Where rounding is stochastic, `row` and
  /// the elements from `first` on tell this addition to these sums from all others of the product.
  void add(float* sums, const float* group, std::int64_t count, std::int64_t row,
           std::int64_t first) const;

  /// Floats that conv_row needs for a row of so many pixels.
  static std::int64_t scratch_floats(std::int64_t width) { return 2 * width * kBlock; }
  /// As cpu::conv_row. `noise_row` is a number for each output block of each call: that of the
  /// first one here, others follow.
  void conv_row(const ConvRow& row, std::int64_t noise_row, float* scratch) const;

 private:
  HalfSums(const Memory& memory, graph::ValueId product);
  void conv_block(const ConvRow& row, std::int64_t block, std::int64_t noise_row,
                  float* scratch) const;

  NumberFormat format_;
  std::uint64_t value_;
  const RunRounding* rounding_;
};

}  // namespace cosmic::target::cpu
