// Where the tensors that all_reduce takes lie in its result.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/op_nature.hpp"

namespace cosmic::graph {

/// The numbers of each operand begin at a multiple of this many, so that every target can have the
/// operands lie in the result itself, as aligned as it wants tensors to be. Between two operands
/// there are zeros.
inline constexpr std::int64_t kExchangedMultiple = 64;

/// Of each operand: the index of its first number in the result.
std::vector<std::int64_t> exchange_begins(Types operands);

}  // namespace cosmic::graph
