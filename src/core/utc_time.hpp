// The time of day for reports: in UTC, so that it means the same to everybody.
#pragma once

#include <string>

namespace cosmic {

/// "2024-05-01 12:30 UTC"
std::string utc_now();

}  // namespace cosmic
