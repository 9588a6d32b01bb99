// What compiling did, and where the time of a call went.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compile/pass.hpp"
#include "compile/stages.hpp"
#include "core/provenance.hpp"
#include "graph/graph.hpp"
#include "machine/prediction.hpp"
#include "session/device_memory.hpp"

namespace cosmic::session {

/// What compiling did and what running will need.
struct CompileReport {
  double seconds = 0;
  std::vector<compile::PassReport> passes;
  double planning_seconds = 0;  ///< placing values in memory
  double kernels_seconds = 0;   ///< choosing and preparing kernels
  std::size_t nodes = 0;
  std::int64_t arena_bytes = 0;
  std::int64_t peak_live_bytes = 0;
  std::int64_t memory_bytes = 0;      ///< arena, scratch, prepared weights
  double flops = 0;                   ///< of one run, by the ops' own count
  std::int64_t cache_hits = 0;        ///< programs that the executable cache had
  std::int64_t cache_misses = 0;      ///< programs that it did not have
  std::vector<std::string> found_in;  ///< the files of programs that were not compiled here
  std::vector<std::string> notes;     ///< for a log
  std::vector<std::string> warnings;  ///< the same, but somebody should look after it
  Provenance provenance = Provenance::measured;  ///< of the target's timings
  /// What a step of the model would take on the machine, if that is modelled.
  std::optional<machine::Prediction> prediction;
  /// Of a target with memory of its own: what its programs need there, and what was free before.
  std::optional<DeviceMemoryPlan> device_memory;
  std::vector<compile::StageReport> stages;  ///< empty unless the model is spread over several
};

/// Where the time of the last call went: one entry per node that did work.
struct OpTiming {
  std::string op;
  std::string layer;
  graph::TensorType type;  ///< of its result
  double seconds = 0;
  graph::Cost cost;  ///< of its step, with what rides along (session/step_cost.hpp)
  /// What its step computes along with it, and what it evaluates while it reads, as texts:
  /// "statistics", "leaky_relu(channel_affine(%40, %42))".
  std::vector<std::string> riders = {};
  std::vector<std::string> evaluates = {};
};

}  // namespace cosmic::session
