#include "infer/inference.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "config/dump.hpp"
#include "core/checked_product.hpp"
#include "core/config.hpp"
#include "core/error.hpp"
#include "core/file_fingerprint.hpp"
#include "core/make_folder.hpp"
#include "core/pending_file.hpp"
#include "core/stopwatch.hpp"
#include "core/utc_time.hpp"
#include "data/loader/batch_loader.hpp"
#include "infer/event_predictions.hpp"
#include "infer/event_scores.hpp"
#include "infer/notes_of_all.hpp"
#include "infer/prediction_files.hpp"
#include "infer/tagger.hpp"
#include "infer/temperature.hpp"
#include "output/metrics_csv.hpp"
#include "output/report_lines.hpp"
#include "output/step_profile.hpp"
#include "report/profile/run_profile.hpp"
#include "run/compile_log.hpp"
#include "run/output_folder.hpp"
#include "run/profile_files.hpp"
#include "run/run_choices.hpp"
#include "run/run_data.hpp"
#include "run/same_everywhere.hpp"

namespace cosmic::infer {
namespace {

using output::Phase;

void write_json(PendingFile& report, const InferenceSummary& summary) {
  nlohmann::ordered_json json;
  json["events"] = summary.events;
  json["batches"] = summary.batches;
  json["seconds"] = summary.seconds;
  json["provenance"] = summary.provenance == Provenance::measured ? to_string(summary.provenance)
                                                                  : std::string(kHostClockMark);
  json["weights"] = summary.weights.string();
  if (!summary.insisted_on.empty()) {
    json["insisted_on_settings"] = summary.insisted_on;
  }
  json["predictions"] = summary.predictions.string();
  for (const std::filesystem::path& file : summary.prediction_files) {
    json["prediction_files"].push_back(file.string());
  }
  json["data_fingerprint"] = summary.data_fingerprint;
  json["read_warnings"] = nlohmann::ordered_json::array();
  for (const data::ReadNote& note : summary.read_notes) {
    json["read_warnings"].push_back(
        {{"what", note.what}, {"count", note.count}, {"first", note.first}});
  }
  for (const output::Metric& metric : summary.scores) {
    json["metrics"][metric.key] = metric.value;
  }
  const std::string text = json.dump(2) + "\n";
  report.append(std::as_bytes(std::span(text)));
  report.commit();
}

/// One file as it is; of several, the folder that they are in.
std::filesystem::path folder_or_file(const std::vector<std::filesystem::path>& files) {
  if (files.size() <= 1) {
    return files.empty() ? std::filesystem::path() : files.front();
  }
  std::filesystem::path folder = files.front().parent_path();
  for (const std::filesystem::path& file : files) {
    while (file.lexically_relative(folder).native().starts_with("..")) {
      folder = folder.parent_path();
    }
  }
  return folder;
}

/// An error may end an inference while a batch is in flight, whose memory is the loader's.
class AbandonAtEnd {
 public:
  explicit AbandonAtEnd(Tagger& tagger) : tagger_(tagger) {}
  ~AbandonAtEnd() { tagger_.abandon(); }
  AbandonAtEnd(const AbandonAtEnd&) = delete;
  AbandonAtEnd& operator=(const AbandonAtEnd&) = delete;

 private:
  Tagger& tagger_;
};

/// Of the whole inference, in parts that do not overlap.
std::vector<report::profile::TimeShare> time_shares(const output::StepProfile& phases,
                                                    const report::profile::OpTimes& ops,
                                                    const session::CompileReport& compiled,
                                                    double seconds) {
  return report::profile::with_rest(
      {
          {report::profile::kInsideProgram, ops.all_op_seconds()},
          {"copying batches in and scores out", ops.all_call_seconds() - ops.all_op_seconds()},
          {"waiting for data", phases.all_seconds(Phase::io)},
          {"turning scores into classes and probabilities, and writing them",
           phases.all_seconds(Phase::predictions)},
          {"writing logs and metrics", phases.all_seconds(Phase::log)},
          {"compiling the step", compiled.seconds},
      },
      "other: opening files, reading weights, copying products", seconds);
}

/// Events of an input as they are stored, beside the batches that a network is given. A source of
/// its own, so that what is odd in an event is counted once.
class StoredEvents {
 public:
  explicit StoredEvents(const config::Configuration& configuration)
      : source_(run::open_events_of_files(configuration)),
        reader_(source_->reader()),
        downsample_(run::dense_options(configuration).downsample) {}

  StoredPixels pixels_of(const TaggedEvent& tagged) {
    reader_->read(tagged.entry, event_);
    return tagged.at_pixels_of(event_.image, downsample_);
  }

 private:
  std::unique_ptr<data::EventSource> source_;
  std::unique_ptr<data::EventReader> reader_;
  int downsample_;
  data::SparseEvent event_;
};

/// What predictions were made with, as they keep it.
std::map<std::string, std::string> provenance_of(const Tagger& tagger,
                                                 config::Configuration configuration) {
  // Where they were written says nothing about them.
  configuration.output_dir.clear();
  configuration.mode.output_file.clear();
  return {{"program", "cosmictagger " + std::string(version)},
          {"revision", std::string(revision)},
          {"time", utc_now()},
          {"weights", tagger.weights().string()},
          {"weights_fingerprint", file_fingerprint(tagger.weights())},
          {"weights_step", std::to_string(tagger.step())},
          {"temperature", temperature_text(tagger.temperature())},
          {"settings", config::to_yaml(configuration)}};
}

/// Warns of each input that does not look like what the network knows.
void warn_of_odd_inputs(const InputProfile& known, const data::DenseShape& shape,
                        const std::vector<data::SourcePart>& parts,
                        const std::vector<std::vector<InputFigures>>& figures,
                        output::RunLog& log) {
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (figures[part].empty()) {
      continue;
    }
    const std::vector<std::string> odd = oddities(known, shape, figures[part]);
    if (odd.empty()) {
      continue;
    }
    std::string text = parts[part].name + " does not look like the events that the network was " +
                       "trained on, and its tags may be wrong: ";
    for (std::size_t i = 0; i < odd.size(); ++i) {
      text += (i == 0 ? "" : "; ") + odd[i];
    }
    log.warning(text + ". Charges are as the network sees them, after data.img_transform.");
  }
}

}  // namespace

std::int64_t events_wanted(const config::Configuration& configuration, std::int64_t entries) {
  const std::int64_t left = std::max<std::int64_t>(entries - configuration.mode.start_index, 0);
  const std::optional<std::int64_t> limit =
      checked_product({configuration.run.iterations, configuration.run.minibatch_size});
  COSMIC_REQUIRE(
      UserError, limit,
      "run.iterations = " << configuration.run.iterations << " batches of "
                          << configuration.run.minibatch_size
                          << " events (more than any file has); use run.iterations=0 for "
                             "every event once");
  return *limit > 0 ? std::min(left, *limit) : left;
}

namespace {

Range entries_wanted(const config::Configuration& configuration, std::int64_t entries) {
  const std::int64_t first = std::min(configuration.mode.start_index, entries);
  return {first, first + events_wanted(configuration, entries)};
}

}  // namespace

InferenceSummary infer(const config::Configuration& given, const std::string& target,
                       output::RunLog& log, const InferenceHooks& hooks, const OutputRule& rule,
                       comm::Communicator* communicator, const InferenceOutputs& outputs) {
  const Stopwatch whole_run;
  const run::Processes processes(communicator);
  const config::Configuration configuration = run::with_own_part(given, target, processes);
  const std::filesystem::path folder = run::output_folder(configuration);
  const std::unique_ptr<data::EventSource> source = run::open_events_of_files(configuration);
  run::require_same_events(processes, source->parts(), "inference");
  const std::vector<data::ReadNote> notes_of_opening = source->notes();
  const data::DenseShape shape =
      data::dense_shape(source->meta(), run::dense_options(configuration).downsample);
  log.info("Larcv file prepared: " + source->description() + run::list_of(source->parts()));
  log.info(processes.threads_text(given.run.threads));

  InferenceSummary summary;
  const bool run_files = outputs.placement == Placement::run_folder;
  const Range entries = outputs.shard.part_of(entries_wanted(configuration, source->size()));
  if (entries.empty() && !outputs.shard.name().empty()) {
    log.warning("There are fewer events than shards: " + outputs.shard.name() +
                " has none, and nothing is written.");
    return summary;
  }
  const std::int64_t wanted = entries.size();
  std::vector<PredictionFile> files =
      prediction_files(configuration, {folder, outputs.placement, outputs.shard}, *source, entries);
  for (const PredictionFile& file : files) {
    summary.prediction_files.push_back(file.path);
  }
  summary.predictions = folder_or_file(summary.prediction_files);
  const std::filesystem::path table = output::metrics_csv_path(folder, output::Series::ana);
  if (run_files) {
    summary.report = folder / "inference.json";
  }
  if (processes.lead()) {
    if (run_files) {
      require_appendable(folder / "process.log", rule);
      require_output(summary.report, rule);
      if (source->labelled()) {
        require_output(table, rule);
      }
    }
    for (const std::filesystem::path& file : summary.prediction_files) {
      require_output(file, rule);
    }
  }
  if (processes.size() > 1) {
    log.info(processes.description() + "; they tag batches in turn.");
  }

  output::RunLog unheard("", [](const std::string&) {});  // the leader says the same
  Tagger tagger(configuration, target, shape, processes.lead() ? log : unheard, hooks.compiling);
  tagger.share_weights(processes);
  summary.weights = tagger.weights();
  summary.insisted_on = tagger.insisted_on();
  summary.provenance = tagger.report().provenance;
  const std::filesystem::path profiles =
      run::profile_folder_of(folder / "profiles", processes.rank());
  if (configuration.run.profile) {
    for (const std::filesystem::path& file :
         run::profile_paths(profiles, session::Purpose::inference, tagger.report())) {
      require_output(file, rule);
    }
  }

  // Everything is checked; from here on there are files, whose names nobody else gets.
  if (hooks.ready) {
    hooks.ready();
  }
  std::optional<PredictionWriter> writer;
  std::optional<PendingFile> report;
  if (processes.lead()) {
    if (run_files) {
      make_folder(folder, "output_dir");
      log.open();
      report.emplace(summary.report, rule.existing);
    }
    writer.emplace(std::move(files), provenance_of(tagger, given), rule.existing, log);
  }

  const data::EventSamples samples = run::one_pass_samples(*source, configuration);
  data::LoaderOptions loading = run::one_pass_options(
      configuration, [&](const std::string& text) { log.warning(text + "."); });
  loading.order.start_index = entries.begin;
  loading.order.end_index = entries.end;
  // A batch for each process.
  loading.batch *= processes.size();
  loading.partition = processes.partition();
  const run::HandOver hand_over = tagger.hand_over(run::Calls::overlapping);
  hand_over.set_up(loading);
  data::BatchLoader loader(samples, loading);
  const AbandonAtEnd before_loader_goes(tagger);
  std::optional<output::WholeMetricsCsv> csv;
  if (source->labelled() && processes.lead() && run_files) {
    csv.emplace(table, rule.existing);
  }
  const Labels labels = source->labelled() ? Labels::there : Labels::none;
  std::optional<StoredEvents> stored;
  if (configuration.mode.output_resolution == config::OutputResolution::original) {
    stored.emplace(configuration);
  }
  MeanScores all;
  const std::vector<data::SourcePart> parts = source->parts();
  std::vector<std::vector<InputFigures>> figures(parts.size());
  const Stopwatch watch;
  output::StepProfile phases;
  report::profile::OpTimes ops;
  std::int64_t taken = 0;
  /// The next batch, while there are events that nobody took.
  const auto next_batch = [&]() -> const data::Batch* {
    if (taken >= wanted) {
      return nullptr;
    }
    const auto timing = phases.time(Phase::io);
    const data::Batch* const batch = loader.next();
    COSMIC_ASSERT(batch != nullptr);
    taken += loading.batch;
    return batch;
  };
  const auto submit = [&](const data::Batch& batch) {
    const auto timing = phases.time(Phase::step);
    tagger.submit(batch);
  };
  const data::Batch* next = nullptr;
  while (summary.events < wanted) {
    phases.begin_iteration(summary.batches);
    const data::Batch* const batch = next != nullptr ? next : next_batch();
    if (next == nullptr) {
      submit(*batch);
    }
    // Where the target runs beside the host: it fetches the next batch while it computes this one,
    // and computes the next while this one's scores are looked at.
    next = hand_over.ahead ? next_batch() : nullptr;
    if (next != nullptr) {
      tagger.stage(*next);
    }
    {
      const auto timing = phases.time(Phase::step);
      tagger.wait();
    }
    if (configuration.run.profile) {
      ops.add(phases.latest_seconds(Phase::step), tagger.timings());
    }
    if (next != nullptr) {
      submit(*next);
    }
    std::vector<EventPredictions> own;
    {
      const auto timing = phases.time(Phase::predictions);
      tagger.visit_events(*batch, [&](const TaggedEvent& event) {
        if (event.entry < entries.end) {
          own.push_back(predictions_of(event, labels));
          if (stored) {
            own.back().stored = stored->pixels_of(event);
          }
        }
      });
    }
    for (const SharedBatch& of_process : shared(processes, std::move(own))) {
      if (of_process.count == 0) {
        continue;  // there were fewer batches left than processes
      }
      summary.events += of_process.count;
      MeanScores of_batch;
      if (writer) {
        const auto timing = phases.time(Phase::predictions);
        for (const EventPredictions& event : of_process.events) {
          writer->write(event);
          const auto part = std::find_if(parts.begin(), parts.end(),
                                         [&](const auto& one) { return event.entry < one.end; });
          figures[static_cast<std::size_t>(part - parts.begin())].push_back(event.inputs);
          if (csv) {
            of_batch.add(event.confusion);
            all.add(event.confusion);
          }
        }
      }
      if (csv) {
        const auto timing = phases.time(Phase::log);
        csv->add(summary.batches, of_batch.metrics());
        if (summary.batches % configuration.mode.logging_iteration == 0) {
          log.routine(
              output::metrics_line(output::Series::ana, summary.batches, of_batch.metrics()));
        }
      }
      ++summary.batches;
    }
    phases.end_iteration();
    if (hooks.progress) {
      hooks.progress({summary.events, wanted,
                      static_cast<double>(summary.events) / std::max(watch.seconds(), 1e-9),
                      summary.provenance, tagger.modelled_rate()});
    }
  }
  summary.read_notes = notes_of_all(processes, loader, *source, notes_of_opening, loading.warn);
  const auto write_own_profile = [&] {
    if (!configuration.run.profile) {
      return;
    }
    const double seconds = whole_run.seconds();
    run::write_profile(profiles,
                       {.configuration = configuration,
                        .options = tagger.options(),
                        .purpose = session::Purpose::inference,
                        .compiled = tagger.report(),
                        .memory = tagger.memory(),
                        .data = source->description(),
                        .image = run::batch_types(configuration, shape).image},
                       {.phases = phases,
                        .ops = ops,
                        .shares = time_shares(phases, ops, tagger.report(), seconds),
                        .seconds = seconds},
                       rule.existing, log);
  };
  summary.seconds = watch.seconds();
  if (!processes.lead()) {
    write_own_profile();
    return summary;
  }
  summary.data_fingerprint = source->fingerprint();  // costs nothing once the events are read
  writer->commit();
  if (tagger.known_inputs()) {
    warn_of_odd_inputs(*tagger.known_inputs(), shape, parts, figures, log);
  }
  summary.findings = writer->findings();
  summary.seconds = watch.seconds();
  summary.scores = csv ? all.metrics() : output::Metrics{};
  if (csv) {
    csv->commit();
  }
  if (report) {
    write_json(*report, summary);
  }
  for (const std::string& line :
       output::inference_report(summary.batches, summary.events, summary.scores)) {
    log.info(line);
  }
  for (const std::string& line :
       output::throughput_lines(phases.iteration_times(), loading.batch, summary.provenance)) {
    log.info(line);
  }
  run::log_prediction(log, "the inference", tagger.report(), configuration.run.minibatch_size);
  write_own_profile();
  return summary;
}

}  // namespace cosmic::infer
