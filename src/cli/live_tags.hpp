// The same few events, tagged with every new checkpoint of a run, so that one can watch it learn.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "view/event_store.hpp"

namespace cosmic::cli {

/// The first `events` events that a run validates with, as a file of their own in `folder`: of its
/// validation file, or made by the simulated detector if that is where its events come from.
/// Nothing for a run that has neither.
std::optional<std::filesystem::path> watched_events(const std::filesystem::path& run,
                                                    std::int64_t events,
                                                    const std::filesystem::path& folder);

/// A thread that looks for new checkpoints while this lives. It takes one core for as long as
/// tagging takes, and says on the error stream what it cannot do.
class LiveTags {
 public:
  /// The store has the events of `events` and outlives this.
  LiveTags(std::filesystem::path run, std::filesystem::path events, view::EventStore& store);
  ~LiveTags();
  LiveTags(const LiveTags&) = delete;
  LiveTags& operator=(const LiveTags&) = delete;

 private:
  void watch();
  void tag(const std::filesystem::path& checkpoint);

  std::filesystem::path run_;
  std::filesystem::path events_;
  view::EventStore& store_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace cosmic::cli
