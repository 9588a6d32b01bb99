// The wire planes of the detector, whose images a network sees side by side.
#pragma once

#include <cstdint>

namespace cosmic::model {

inline constexpr std::int64_t kPlanes = 3;

}  // namespace cosmic::model
