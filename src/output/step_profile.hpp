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

  /// So many iterations, the latest, are kept in full for the timeline; of all others the sums.
  static constexpr std::size_t kTracedIterations = 1000;

  explicit StepProfile(std::size_t traced_iterations = kTracedIterations);

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

  /// Seconds of every finished iteration, in order.
  std::vector<double> iteration_seconds() const;
  /// Seconds of a phase in the latest iteration, ended or not.
  double latest_seconds(Phase phase) const;
  /// Seconds of a phase over the whole run.
  double all_seconds(Phase phase) const;

  /// For people: per phase how often, median, maximum, sum and share of the whole.
  std::string table() const;
  /// The reference's `profiling_info_rank_<r>.npy`: a structured array, one row per iteration. What
  /// a compiled step does not have apart (forward, backward, ...) is NaT; `step` is added.
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
    std::size_t iteration = 0;   ///< index into iterations_
    std::optional<Phase> phase;  ///< none: the whole iteration
    Duration start{};
    Duration duration{};
  };

  void trace(std::optional<Phase> phase, Clock::time_point begin, Clock::time_point end);
  std::vector<Duration> durations(std::optional<Phase> phase) const;

  std::size_t traced_iterations_;
  Clock::time_point origin_ = Clock::now();
  std::chrono::system_clock::time_point origin_on_the_wall_ = std::chrono::system_clock::now();
  std::vector<Iteration> iterations_;
  std::deque<Stretch> stretches_;
};

}  // namespace cosmic::output
