// An inference run: every event of a file is tagged, predictions are written beside what the file
// had, and if there are labels the run says how good they are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "config/configuration.hpp"
#include "core/output_rule.hpp"
#include "core/provenance.hpp"
#include "data/read_note.hpp"
#include "infer/inference_outputs.hpp"
#include "machine/event_rate.hpp"
#include "output/metrics.hpp"
#include "output/run_log.hpp"

namespace cosmic::infer {

struct InferenceProgress {
  std::int64_t events = 0;
  std::int64_t all_events = 0;
  double events_per_second = 0;
  Provenance provenance = Provenance::measured;  ///< of the rate
  std::optional<machine::EventRate> modelled;    ///< of a machine that is not here
};

struct InferenceHooks {
  std::function<void(double done, const std::string& what)> compiling = {};
  std::function<void(const InferenceProgress&)> progress = {};
  /// Everything is checked, no event is tagged yet: the time to make files.
  std::function<void()> ready = {};
};

/// The number of events to use of a file with `entries`: those from mode.start_index on, at most
/// run.iterations batches unless that is 0.
std::int64_t events_wanted(const config::Configuration& configuration, std::int64_t entries);

struct InferenceSummary {
  std::int64_t events = 0;
  std::int64_t batches = 0;
  double seconds = 0;
  Provenance provenance = Provenance::measured;  ///< of the seconds
  output::Metrics scores;                        ///< means over events; empty without labels
  std::string data_fingerprint;                  ///< of the whole input
  std::vector<data::ReadNote> read_notes;        ///< what was odd in the events
  std::filesystem::path weights;
  std::vector<std::string> insisted_on;  ///< settings that contradict the weights; mostly none
  std::filesystem::path predictions;     ///< the file that was written, or the folder of several
  std::vector<std::filesystem::path> prediction_files;  ///< one, or one for each input
  std::vector<Findings> findings;                       ///< of each of them
  std::filesystem::path report;  ///< the scores as JSON; empty if there is none
};

/// Predictions go where prediction_files (prediction_files.hpp) says. Throws UserError without
/// weights, or if the rule does not let it write one of its files; then it has written nothing.
/// DataError for scores that are not finite and for events without any pixel.
///
/// A shard without an event is tagged at once, and nothing is written.
///
/// With a communicator, its processes tag the batches in turn, and the first writes what all of
/// them found, in the order of the input: the same files, whatever their number.
InferenceSummary infer(const config::Configuration& configuration, const std::string& target,
                       output::RunLog& log, const InferenceHooks& hooks = {},
                       const OutputRule& rule = {}, comm::Communicator* communicator = nullptr,
                       const InferenceOutputs& outputs = {});

}  // namespace cosmic::infer
