// Between float32 and the 16-bit formats, for runs of any length and alignment. The bits are those
// of core/number_format.hpp, whatever the vector width. `format` is bf16 or f16 throughout.
#pragma once

#include <cstdint>

#include "core/number_format.hpp"

namespace cosmic::target::cpu {

/// Stochastic rounding of elements first, first + 1, ... of a row (see core/rounding_noise.hpp).
struct RowNoise {
  std::uint32_t row = 0;
  std::uint32_t first = 0;
};

void widen_row(float* out, const std::uint16_t* bits, NumberFormat format, std::int64_t count);

void narrow_row(std::uint16_t* bits, const float* x, NumberFormat format, std::int64_t count);
void narrow_row(std::uint16_t* bits, const float* x, NumberFormat format, const RowNoise& noise,
                std::int64_t count);

/// The numbers as they come back from being written, still as floats. `out` may be `x`.
void round_row(float* out, const float* x, NumberFormat format, std::int64_t count);
void round_row(float* out, const float* x, NumberFormat format, const RowNoise& noise,
               std::int64_t count);

/// sum + x as it comes back from being written.
void add_row_rounded(float* sum, const float* x, NumberFormat format, std::int64_t count);
void add_row_rounded(float* sum, const float* x, NumberFormat format, const RowNoise& noise,
                     std::int64_t count);

}  // namespace cosmic::target::cpu
