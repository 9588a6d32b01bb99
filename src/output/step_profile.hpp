// Where the time of each iteration went. Always on: two clock readings per phase. Read as a table,
// as a NumPy array like the reference's, or as a timeline in chrome://tracing and Perfetto.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/pending_file.hpp"
#include "core/provenance.hpp"
#include "output/iteration_times.hpp"

namespace cosmic::output {

/// Parts of an iteration. A compiled step runs forward, loss, backward and update as one program,
/// so they are one phase. Phases may nest: `train` holds `io` and `step`. Only an inference has
/// `predictions`: scores become classes and probabilities, which are written.
enum class Phase { train, val, io, step, checkpoint, summary, log, predictions };

inline constexpr std::size_t kPhases = 8;

std::string to_string(Phase phase);

/// Used by one thread. An iteration is begun, phases are timed, the iteration is ended.
class StepProfile {
 public:
  using Clock = std::chrono::steady_clock;

  /// What is kept does not grow with the run. Of the latest iterations, every stretch for the
  /// timeline; of more of them, the sums of their phases for medians and for the array; of all, how
  /// many there were, the longest and their sum.
  struct Kept {
    std::size_t traced = 1000;
    std::size_t iterations = 4000;
  };

  StepProfile() = default;
  explicit StepProfile(const Kept& kept);

  void begin_iteration(std::int64_t number, Clock::time_point now = Clock::now());
  void end_iteration(Clock::time_point now = Clock::now());
  /// A stretch of the current iteration. A phase may come more than once.
  void add(Phase phase, Clock::time_point begin, Clock::time_point end);

  /// Times a phase as long as it lives.
  class Timing {
   public:
    Timing(StepProfile& profile, Phase phase) : profile_(profile), phase_(phase) {}
    ~Timing() { profile_.add(phase_, begin_, Clock::now()); }
    Timing(const Timing&) = delete;
    Timing& operator=(const Timing&) = delete;

   private:
    StepProfile& profile_;
    Phase phase_;
    Clock::time_point begin_ = Clock::now();
  };
  [[nodiscard]] Timing time(Phase phase) { return {*this, phase}; }

  /// Of the finished iterations.
  IterationTimes iteration_times() const;
  /// Seconds of a phase in the latest iteration, ended or not.
  double latest_seconds(Phase phase) const;
  /// Seconds of a phase over the whole run.
  double all_seconds(Phase phase) const;

  /// For people: per phase how often, median of the kept iterations, maximum, sum and share of the
  /// whole.
  std::string table() const;
  /// The reference's `profiling_info_rank_<r>.npy`: a structured array, one row per kept iteration.
  /// What a compiled step does not have apart (forward, backward, ...) is NaT; `step` is added.
  void write_numpy(const std::filesystem::path& path) const;
  /// Trace events in JSON, one process per rank, which says whose time it is.
  void write_timeline(const std::filesystem::path& path, Provenance provenance, int rank = 0,
                      Existing existing = Existing::replace) const;

 private:
  using Duration = std::chrono::nanoseconds;

  struct Iteration {
    std::int64_t number = 0;
    Duration start{};                    ///< since the profile began
    std::optional<Duration> whole = {};  ///< once it has ended
    std::array<Duration, kPhases> sums{};
  };
  struct Stretch {
    std::int64_t iteration = 0;  ///< its number
    std::optional<Phase> phase;  ///< none: the whole iteration
    Duration start{};
    Duration duration{};
  };

  /// Of a phase, or of whole iterations: all those that have ended and had it.
  struct Total {
    std::int64_t count = 0;
    Duration sum{};
    Duration most{};

    void add(Duration duration);
  };

  void trace(std::optional<Phase> phase, Clock::time_point begin, Clock::time_point end);
  /// Of the kept iterations that have ended and had the phase.
  std::vector<Duration> durations(std::optional<Phase> phase) const;

  Kept kept_;
  Clock::time_point origin_ = Clock::now();
  std::chrono::system_clock::time_point origin_on_the_wall_ = std::chrono::system_clock::now();
  std::deque<Iteration> iterations_;  ///< the latest
  std::deque<Stretch> stretches_;
  std::deque<std::size_t> stretches_of_;  ///< how many stretches each traced iteration has
  Total whole_;
  std::array<Total, kPhases> phases_{};
  std::vector<double> first_seconds_;
};

}  // namespace cosmic::output
