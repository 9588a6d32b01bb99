// Random numbers for the n-th thing of a kind: a stream of its own for each, so that none depends
// on how many were drawn before, which is what makes a loader's state a single number.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/random.hpp"

namespace cosmic::data {

/// The stream "<name> <number>" of a seed. Allocates nothing.
RandomStream numbered_stream(std::uint64_t seed, std::string_view name, std::int64_t number);

}  // namespace cosmic::data
