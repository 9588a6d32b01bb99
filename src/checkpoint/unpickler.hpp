// Reads a pickle without running it. Python's unpickler is a machine that calls whatever function
// the file names; this one knows the opcodes of numbers, texts and containers, and the handful of
// names in pickle_globals.cpp. It takes memory in proportion to the bytes it is given, never in
// proportion to a number that stands in them.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "checkpoint/pickle_value.hpp"

namespace cosmic::checkpoint {

/// Throws DataError naming the byte, the opcode and what is wrong with it. `what` names the bytes
/// in messages. The tree has no cycles and bounded depth, so that it may be walked.
PickleTree unpickle(std::span<const std::byte> bytes, const std::string& what);

}  // namespace cosmic::checkpoint
