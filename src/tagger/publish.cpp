#include "tagger/publish.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "checkpoint/checkpoint_file.hpp"
#include "checkpoint/checkpoint_folder.hpp"
#include "core/error.hpp"
#include "core/file_fingerprint.hpp"
#include "core/make_folder.hpp"
#include "core/output_rule.hpp"
#include "core/regular_file.hpp"
#include "core/whole_file.hpp"
#include "infer/temperature.hpp"
#include "run/input_files.hpp"
#include "run/run_data.hpp"
#include "session/safetensors.hpp"
#include "tagger/event_tagger.hpp"
#include "tagger/model_card.hpp"
#include "tagger/tagging_settings.hpp"

namespace cosmic::tagger {
namespace {

/// Tags of the pixels with charge of one event after the other.
using Tags = std::vector<std::uint8_t>;

class Calibration {
 public:
  Calibration(const config::Configuration& configuration, const PublishRequest& request)
      : configuration_(configuration),
        source_(run::open_events_of_files(configuration)),
        events_(std::min(source_->size(), request.most_events)) {
    COSMIC_REQUIRE(DataError, source_->labelled(),
                   source_->description()
                       << ": has no labels '" << configuration.data.label_producer
                       << "' (a temperature is fitted to labels); name their producer with "
                          "data.label_producer, or calibrate on other events");
  }

  const data::EventSource& source() const { return *source_; }
  std::int64_t events() const { return events_; }

  /// Tags the events with the weights that the configuration names.
  Tags tag(const config::Configuration& configuration, output::RunLog& log,
           const std::function<void(std::int64_t, std::int64_t)>& progress,
           const std::function<void(const infer::TaggedEvent&)>& visit) const {
    EventTagger tagger(configuration, source_->meta(), log);
    const auto reader = source_->reader();
    Tags tags;
    data::SparseEvent event;
    for (std::int64_t entry = 0; entry < events_; ++entry) {
      reader->read(entry, event);
      tagger.tag(std::span(&event, 1),
                 [&](std::size_t, const infer::TaggedEvent& tagged, const infer::StoredPixels&) {
                   for (std::size_t i = 0; i < tagged.charge.size(); ++i) {
                     if (tagged.charge[i] != 0) {
                       tags.push_back(tagged.classes[i]);
                     }
                   }
                   visit(tagged);
                 });
      if (progress) {
        progress(entry + 1, events_);
      }
    }
    return tags;
  }

 private:
  const config::Configuration& configuration_;
  std::unique_ptr<data::EventSource> source_;
  std::int64_t events_;
};

/// Kernels alone: what is one number per channel takes no room, and its last bits matter.
void round_kernels(checkpoint::Checkpoint& checkpoint) {
  for (auto& [name, tensor] : checkpoint.tensors) {
    if (tensor.type.dtype == graph::DType::f32 && tensor.type.rank() > 1) {
      for (float& value : tensor.as<float>()) {
        value = session::rounded_to_bfloat16(value);
      }
    }
  }
}

std::int64_t parameters_of(const checkpoint::Checkpoint& checkpoint) {
  std::int64_t count = 0;
  for (const auto& [name, tensor] : weights_of(checkpoint)) {
    const bool statistic = name.ends_with("running_mean") || name.ends_with("running_var") ||
                           name.ends_with("num_batches_tracked");
    count += statistic ? 0 : tensor.type.elements();
  }
  return count;
}

/// The text of the evaluation, which must be one of these weights.
std::string evaluation_of(const std::filesystem::path& file,
                          const std::filesystem::path& checkpoint) {
  if (file.empty()) {
    return {};
  }
  std::ifstream stream(regular_file(file), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  const std::string theirs = json.is_object() && json.contains("provenance")
                                 ? json["provenance"].value("weights_fingerprint", std::string())
                                 : std::string();
  const std::string ours = file_fingerprint(checkpoint);
  COSMIC_REQUIRE(
      DataError, theirs == ours,
      file.string() << ": is not an evaluation of " << checkpoint.string() << " (it has "
                    << (theirs.empty() ? "no fingerprint of weights" : "the fingerprint " + theirs)
                    << ", the weights have " << ours
                    << "); evaluate them with mode.weights_location=" << checkpoint.string());
  return text;
}

/// Where the training wrote says nothing about the weights, and names a folder of somebody.
void leave_out_output_folder(std::string& settings) {
  constexpr std::string_view key = "\noutput_dir:";
  const std::size_t line = settings.find(key);
  if (line != std::string::npos) {
    settings.erase(line, settings.find('\n', line + 1) - line);
  }
}

}  // namespace

Published publish(const PublishRequest& request, output::RunLog& log,
                  const std::function<void(std::int64_t, std::int64_t)>& progress) {
  checkpoint::LoadedCheckpoint loaded = checkpoint::load_newest(request.checkpoint);
  for (const checkpoint::Warning& warning : loaded.warnings) {
    log.warning(warning.file.string() + ": " + warning.reason);
  }
  leave_out_output_folder(loaded.checkpoint.run.configuration);
  Published result;
  result.file = request.output;
  result.card = std::filesystem::path(request.output).replace_extension(".md");
  OutputRule rule{request.existing, run::weights_files(request.checkpoint)};
  rule.inputs.insert(rule.inputs.end(), request.calibrate_on.begin(), request.calibrate_on.end());
  require_output(result.file, rule);
  require_output(result.card, rule);

  CardSource source;
  source.evaluation = evaluation_of(request.evaluation, loaded.file);
  config::Resolved resolved = tagging_settings(loaded.file.string(), request.settings);
  for (const std::string& note : resolved.notes) {
    log.info(note);
  }
  config::Configuration& configuration = resolved.configuration;
  configuration.data.data_directory.clear();
  configuration.data.file.clear();
  for (const std::filesystem::path& file : request.calibrate_on) {
    configuration.data.file.push_back(file.string());
  }
  const Calibration calibration(configuration, request);
  // What an earlier publication noted would be fitted on top of.
  loaded.checkpoint.run.notes.erase(checkpoint::kTemperatureNote);

  infer::TemperatureFit fit;
  std::vector<infer::InputFigures> figures;
  const Tags tags =
      calibration.tag(configuration, log, progress, [&](const infer::TaggedEvent& event) {
        fit.add(event);
        figures.push_back(infer::input_figures(event));
        result.inputs.shape = event.shape;
      });
  const std::string& trained_on = loaded.checkpoint.run.data_fingerprint;
  COSMIC_REQUIRE(
      UserError,
      trained_on.empty() ||
          run::same_events(trained_on, calibration.source().fingerprint()) != run::SameEvents::yes,
      calibration.source().description()
          << ": the network was trained on these events (it is surer of them than of "
             "others, so the temperature would be too low); calibrate on others");
  result.trained_as = loaded.file.string();
  result.step = loaded.checkpoint.step;
  result.parameters = parameters_of(loaded.checkpoint);
  result.events = calibration.events();
  result.calibrated_on = calibration.source().description();
  result.pixels = fit.pixels();
  result.temperature = fit.best();
  result.loss_before = fit.loss(1);
  result.loss_after = fit.loss(result.temperature);
  result.error_before = fit.calibration_error(1);
  result.error_after = fit.calibration_error(result.temperature);
  result.inputs = infer::profile_of(result.inputs.shape, figures);

  auto& notes = loaded.checkpoint.run.notes;
  notes[checkpoint::kTemperatureNote] = infer::temperature_text(result.temperature);
  notes[checkpoint::kInputsNote] = result.inputs.to_text();
  if (const auto before = notes.find(checkpoint::kTrainedByNote); before != notes.end()) {
    source.trained_by = before->second;
  } else {
    source.trained_by = loaded.checkpoint.run.program;
  }
  if (result.file.has_parent_path()) {
    make_folder(result.file.parent_path(), "--output");
  }
  if (request.halve) {
    round_kernels(loaded.checkpoint);
  }
  checkpoint::save_weights(result.file, loaded.checkpoint,
                           {.existing = request.existing, .halve_exact = request.halve});
  if (request.halve) {
    config::Configuration rounded = configuration;
    rounded.mode.weights_location = result.file.string();
    const Tags after = calibration.tag(rounded, log, progress, [](const infer::TaggedEvent&) {});
    std::size_t same = 0;
    for (std::size_t i = 0; i < tags.size(); ++i) {
      same += tags[i] == after[i] ? 1 : 0;
    }
    result.same_tags =
        tags.empty() ? 1 : static_cast<double>(same) / static_cast<double>(tags.size());
    constexpr double kEnough = 0.995;
    if (*result.same_tags < kEnough) {
      std::filesystem::remove(result.file);
      throw UserError("bfloat16 changes " + std::to_string(tags.size() - same) + " of " +
                      std::to_string(tags.size()) + " tags (more than one in 200); publish " +
                      "float32");
    }
  }
  source.name = result.file.stem().string();
  source.trained_on = trained_on;
  source.fingerprint = file_fingerprint(result.file);
  source.configuration = loaded.checkpoint.run.configuration;
  source.tagging = configuration;
  write_whole_file(result.card, model_card(result, source), request.existing);
  return result;
}

}  // namespace cosmic::tagger
