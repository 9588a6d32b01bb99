// How much memory this process holds, as the system counts it.
#pragma once

#include <cstdint>

namespace cosmic {

/// Bytes in memory now.
std::int64_t resident_bytes();
/// The most there were at any time.
std::int64_t peak_resident_bytes();

}  // namespace cosmic
