// How good a trained network is on labelled events: everything that a report shows, as numbers.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "config/configuration.hpp"
#include "data/read_note.hpp"
#include "infer/inference.hpp"
#include "output/metrics.hpp"
#include "output/run_log.hpp"
#include "report/evaluation/event_result.hpp"
#include "report/evaluation/event_view.hpp"
#include "report/evaluation/pixel_scores.hpp"
#include "report/evaluation/selection.hpp"
#include "report/evaluation/training_curve.hpp"

namespace cosmic::report::evaluation {

/// What was measured with what. Nothing about the machine.
struct Provenance {
  std::string program;  ///< name and version
  std::string revision;
  std::string date;  ///< UTC
  std::string run_id;
  std::string network;
  std::string weights;  ///< file
  std::string weights_fingerprint;
  std::int64_t step = 0;                 ///< updates behind the weights
  std::vector<std::string> insisted_on;  ///< settings that contradict the weights; mostly none
  std::string data;                      ///< file
  std::string data_fingerprint;
  /// Whether the training had events with this fingerprint; not every checkpoint tells.
  std::optional<bool> trained_on_these;
  std::int64_t downsample = 0;
  std::string configuration;  ///< YAML
};

/// Cosmic-ray-only events for a selection: those of the file or, if it has few, its events with the
/// charge of the neutrino taken out.
enum class CosmicOnlyKind { real, neutrino_removed, both };

struct Evaluation {
  Provenance provenance;
  data::DenseShape shape;
  std::int64_t entries = 0;                ///< of the file; events may be fewer
  std::vector<EventResult> events;         ///< in the file's order
  infer::EventConfusion planes;            ///< sums over events
  output::Metrics reference_scores;        ///< means over events, with the reference's keys
  std::vector<data::ReadNote> read_notes;  ///< what was odd in the events
  PixelScores pixel_scores;
  double temperature = 1;              ///< of the weights
  PixelScores uncalibrated_scores;     ///< without it; empty if it is 1
  std::optional<Selection> selection;  ///< nothing without events of both kinds
  CosmicOnlyKind cosmic_only = CosmicOnlyKind::real;
  TrainingCurve curve;
  /// By IoU of the neutrino: the first is the best, or the worst.
  std::vector<EventView> best;
  std::vector<EventView> typical;
  std::vector<EventView> worst;

  infer::Confusion all() const;
  /// Sum over events.
  std::int64_t tagged_without_charge() const;
  /// One of the reference's means.
  double score(const std::string& key) const;
};

/// Sums over events, and the reference's means.
void add_up(Evaluation& evaluation);

/// Entries of the events with a neutrino, from the best to the worst IoU of its pixels.
std::vector<std::size_t> ranked(const std::vector<EventResult>& events);

/// Tags the events and measures. Throws UserError without weights, and DataError for a file without
/// labels or pixels and for scores that are not finite.
///
/// With a communicator, its processes tag the batches in turn, and the first has everything: the
/// same numbers, whatever their number. The others have what they needed of it.
Evaluation measure(const config::Configuration& configuration, const std::string& target,
                   output::RunLog& log, const infer::InferenceHooks& hooks = {},
                   comm::Communicator* communicator = nullptr);

/// Tags these events of the same files alone, and draws them: pictures of events that another
/// network's evaluation has chosen. Throws as measure does.
std::vector<EventView> view(const config::Configuration& configuration, const std::string& target,
                            output::RunLog& log, const std::vector<EventResult>& events);

}  // namespace cosmic::report::evaluation
