// Many events made by many threads, handed over one by one in the order of their numbers, so that
// what is written from them does not depend on the number of threads.
#pragma once

#include <cstdint>
#include <functional>

#include "data/detector/detector.hpp"

namespace cosmic::data::detector {

/// Calls take(event) for events 0 to `events` - 1, in the calling thread, while `threads` others
/// make the next ones. A few events per thread are in memory at once, never more. An error of
/// either side stops both and leaves as an exception.
void make_in_order(const Detector& detector, std::uint64_t seed, std::int64_t events, int threads,
                   const std::function<void(const SimulatedEvent&)>& take);

}  // namespace cosmic::data::detector
