// Weights made ready to ship: alone, with a temperature fitted to events that they were not trained
// on, figures of what they know, and a model card that says what they are good for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "core/pending_file.hpp"
#include "infer/input_profile.hpp"
#include "output/run_log.hpp"

namespace cosmic::tagger {

struct PublishRequest {
  std::filesystem::path checkpoint;                 ///< or a folder of them
  std::vector<std::filesystem::path> calibrate_on;  ///< labelled events that were not trained on
  std::filesystem::path output;                     ///< the card is beside it, with the ending .md
  std::filesystem::path evaluation;  ///< JSON of `evaluate` with that checkpoint; may be empty
  /// Round kernels to bfloat16, in half the bytes. Refused if that changes more than one tag in
  /// 200.
  bool halve = false;
  std::int64_t most_events = 400;
  std::vector<std::string> settings;  ///< further words, such as "run.threads=4"
  Existing existing = Existing::refuse;
};

struct Published {
  std::filesystem::path file;
  std::filesystem::path card;
  std::string trained_as;  ///< the checkpoint
  std::int64_t step = 0;
  std::int64_t parameters = 0;
  std::int64_t events = 0;  ///< that it was calibrated on
  std::string calibrated_on;
  std::int64_t pixels = 0;
  double temperature = 1;
  double loss_before = 0;  ///< mean negative logarithm of the probability of the label
  double loss_after = 0;
  double error_before = 0;  ///< expected calibration error of the tag's probability
  double error_after = 0;
  infer::InputProfile inputs;
  std::optional<double> same_tags;  ///< share, of the pixels with charge, if kernels were rounded
};

/// Throws UserError for events that the weights were trained on, DataError for events without
/// labels and for an evaluation of other weights. `progress` hears how many events of how many.
Published publish(const PublishRequest& request, output::RunLog& log,
                  const std::function<void(std::int64_t, std::int64_t)>& progress = {});

}  // namespace cosmic::tagger
