// Arithmetic that needs no memory: the most a core can do, to set the kernels against.
#pragma once

#include <cstdint>

namespace cosmic::target::cpu {

/// Does `rounds` rounds of independent multiply-adds in registers. Returns how many floating point
/// operations that was; `sink` takes a result, so that none of them can be left out.
double multiply_add_rounds(std::int64_t rounds, float* sink);

}  // namespace cosmic::target::cpu
