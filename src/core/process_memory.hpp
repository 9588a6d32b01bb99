// How much memory this process holds and could get, as the system counts it.
#pragma once

#include <cstdint>

namespace cosmic {

/// Bytes in memory now.
std::int64_t resident_bytes();
/// The most there were at any time.
std::int64_t peak_resident_bytes();

/// What processes of this host can get without making it swap.
std::int64_t available_bytes();

}  // namespace cosmic
