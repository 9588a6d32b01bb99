// What an inference is to write, and what it says about the files that it wrote.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/threads.hpp"

namespace cosmic::infer {

/// One of as many parts of the events, each about as large, for jobs that share the work.
struct Shard {
  std::int64_t number = 1;  ///< from 1
  std::int64_t of = 1;

  Range part_of(const Range& entries) const;
  /// "shard-03-of-16", in the order of numbers when sorted; empty for all of one.
  std::string name() const;
};

/// Where predictions go if mode.output_file does not say.
enum class Placement {
  run_folder,     ///< output_dir
  beside_inputs,  ///< `runs/a.h5` becomes `runs/a.tagged.h5`
};

/// What an inference writes, and of which events.
struct InferenceOutputs {
  /// In the run's folder: log, scores and predictions. Beside the inputs: predictions and nothing
  /// else.
  Placement placement = Placement::run_folder;
  Shard shard = {};
};

/// What was found in the events of a file; pixels are those that its input has stored, if these
/// were asked for (EventPredictions::stored), and otherwise those that the network saw.
struct Findings {
  std::filesystem::path file;
  std::int64_t events = 0;
  std::int64_t pixels = 0;
  std::int64_t cosmic_pixels = 0;
  std::int64_t neutrino_pixels = 0;
  std::int64_t events_with_neutrino = 0;  ///< with at least one such pixel
};

}  // namespace cosmic::infer
