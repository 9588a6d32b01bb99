// Evaluations made by hand, whose figures can be worked out on paper.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "report/evaluation/evaluation.hpp"

namespace cosmic::report::evaluation {

using Counts = std::array<std::array<std::int64_t, infer::kClasses>, infer::kClasses>;

/// The same counts on each plane, by [true class][tagged class].
inline EventResult made_event(std::int64_t entry, const Counts& counts, double score = 0.5) {
  EventResult event;
  event.entry = entry;
  event.id = {1, 2, entry};
  for (infer::Confusion& plane : event.planes) {
    plane.counts = counts;
  }
  event.score = score;
  return event;
}

/// 20 neutrino pixels a plane, of which `found` are found and `wrong` others are false.
inline EventResult neutrino_event(std::int64_t entry, std::int64_t found, std::int64_t wrong,
                                  double score = 0.5) {
  return made_event(entry, {{{900, 0, 0}, {0, 80 - wrong, wrong}, {0, 20 - found, found}}}, score);
}

inline Evaluation made_evaluation(std::vector<EventResult> events,
                                  const std::string& data = "events.h5") {
  Evaluation evaluation;
  evaluation.provenance.program = "cosmictagger 1.2.3";
  evaluation.provenance.revision = "abcdef";
  evaluation.provenance.date = "2024-05-01 12:00 UTC";
  evaluation.provenance.run_id = "01";
  evaluation.provenance.network = "A21";
  evaluation.provenance.weights = "run/checkpoints/model-7.safetensors";
  evaluation.provenance.weights_fingerprint = "12ab";
  evaluation.provenance.step = 7;
  evaluation.provenance.data = data;
  evaluation.provenance.data_fingerprint = "34cd";
  evaluation.provenance.configuration = "run:\n  id: \"01\"\n";
  evaluation.shape = {10, 100};
  evaluation.entries = static_cast<std::int64_t>(events.size());
  evaluation.events = std::move(events);
  add_up(evaluation);
  return evaluation;
}

}  // namespace cosmic::report::evaluation
