// Makes sure that a tree out of a pickle is a tree: Python lets a list contain itself.
#pragma once

#include <cstddef>

#include "checkpoint/pickle_value.hpp"

namespace cosmic::checkpoint {

/// Throws DataError if a value contains itself or values are nested deeper than `max_depth`. Looks
/// at each value once, without recursion.
void require_bounded_nesting(const PickleTree& tree, std::size_t max_depth);

}  // namespace cosmic::checkpoint
