// A request as the scheduler knows it, whatever protocol it came by: events to tag, what is wanted
// of each, and what came of it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "data/event.hpp"
#include "infer/tagger.hpp"
#include "serve/refusal.hpp"

namespace cosmic::serve {

using Clock = std::chrono::steady_clock;

/// Which results of an event are made. Those on the network's grid are large.
struct Wanted {
  bool pixels = false;  ///< tag and both probabilities of every pixel that was sent
  bool tag = false;     ///< these on the network's grid
  bool cosmic = false;
  bool neutrino = false;
  bool logits = false;
};

/// One event: what was sent, and what is said about it.
struct EventWork {
  data::SparseImage image;
  infer::StoredPixels pixels;     ///< on the grid of the image
  std::vector<std::uint8_t> tag;  ///< [3, rows, columns] of the network, and so on
  std::vector<float> cosmic;
  std::vector<float> neutrino;
  std::vector<float> logits;  ///< [3 planes, 3 classes, rows, columns]
  /// Set where nothing can be said about it.
  std::optional<Refusal> refusal = {};
};

/// The highest priority is taken first, whatever waits in the others.
enum class Priority : std::uint8_t { high, normal, low };
inline constexpr std::size_t kPriorities = 3;

/// Where the time of a call went, in seconds.
struct CallTimes {
  double queue = 0;   ///< until its first event was taken
  double input = 0;   ///< making images, of all batches with an event of it
  double infer = 0;   ///< the network
  double output = 0;  ///< making tags and probabilities
};

/// Shared by whoever waits for it and the replicas that have events of it: one that waits no more
/// must not take away what a replica works on.
struct TaggingCall {
  std::vector<EventWork> events;
  Wanted wanted;
  Priority priority = Priority::normal;
  std::optional<Clock::time_point> deadline = {};

  // The scheduler's. `left` and `times` are guarded by the mutex.
  std::mutex mutex = {};
  std::condition_variable done = {};
  std::size_t left = 0;  ///< events without a result
  bool begun = false;    ///< a replica has taken one
  Clock::time_point arrival = {};
  CallTimes times = {};
};

}  // namespace cosmic::serve
