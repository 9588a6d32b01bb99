// A training that is watched through the files it leaves in its folder: it needs not know, may end
// and begin again, or run on another machine that shares the folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>

#include "view/learning_rate_curve.hpp"
#include "view/metrics_follower.hpp"

namespace cosmic::view {

/// Does the folder look like that of a training?
bool is_run(const std::filesystem::path& folder);

/// How much of a run a page has already.
struct SeenRows {
  std::int64_t generation = -1;  ///< of both tables; nothing is kept of another one
  std::int64_t train = 0;
  std::int64_t test = 0;
};

/// Threads share it.
class RunFollower {
 public:
  /// Throws UserError if there is no such folder, or nothing of a training in it.
  explicit RunFollower(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const { return folder_; }
  /// "A21/01": what tells runs apart, for people.
  std::string name() const;
  /// Rows after those that were seen, the learning rate, and the process if it runs here, as JSON:
  ///   {"generation": 0, "train": {"from": 0, "columns": [...], "rows": [[...]]}, "test": {...},
  ///    "learning_rate": [[0, 0.001], ...], "job": {...} or null}
  std::string changes(const SeenRows& seen);

 private:
  std::filesystem::path folder_;
  std::mutex mutex_;  // guards what follows
  MetricsFollower train_;
  MetricsFollower test_;
  LearningRateCurve learning_rate_;
};

}  // namespace cosmic::view
