// How much memory this process holds and could get, as the system counts it.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.hpp"

namespace cosmic {

/// Bytes in memory now.
std::int64_t resident_bytes();
/// The most there were at any time.
std::int64_t peak_resident_bytes();

/// What this process can get without making its host swap, and within the limit of its control
/// group. Throws TargetError where the system does not say.
std::int64_t available_bytes();

/// Something is larger than what this host has left. A system that hands out memory before it has
/// it would end the process instead, without a word.
class HostMemoryError : public TargetError {
 public:
  using TargetError::TargetError;
};

/// Throws HostMemoryError if this host cannot have that many bytes free, swap included. `what` says
/// what they are for, as in "batches of 64 events". Does nothing where the system does not say what
/// it has.
void require_host_memory(std::int64_t bytes, const std::string& what);

}  // namespace cosmic
