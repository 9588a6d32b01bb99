#include "infer/inference.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/error.hpp"
#include "core/pending_file.hpp"
#include "core/stopwatch.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/larcv/predictions.hpp"
#include "data/loader/batch_loader.hpp"
#include "infer/event_scores.hpp"
#include "infer/tagger.hpp"
#include "output/metrics_csv.hpp"
#include "output/report_lines.hpp"
#include "output/step_profile.hpp"
#include "profile/run_profile.hpp"
#include "train/compile_log.hpp"
#include "train/profile_files.hpp"
#include "train/run_choices.hpp"
#include "train/run_data.hpp"
#include "train/training.hpp"

namespace cosmic::infer {
namespace {

using output::Phase;

void write_json(const std::filesystem::path& path, const InferenceSummary& summary) {
  nlohmann::ordered_json json;
  json["events"] = summary.events;
  json["batches"] = summary.batches;
  json["seconds"] = summary.seconds;
  json["provenance"] = summary.provenance == Provenance::measured ? to_string(summary.provenance)
                                                                  : std::string(kHostClockMark);
  json["weights"] = summary.weights.string();
  json["predictions"] = summary.predictions.string();
  for (const output::Metric& metric : summary.scores) {
    json["metrics"][metric.key] = metric.value;
  }
  const std::string text = json.dump(2) + "\n";
  PendingFile file(path, Existing::replace);
  file.append(std::as_bytes(std::span(text)));
  file.commit();
}

/// Of the whole inference, in parts that do not overlap.
std::vector<profile::TimeShare> time_shares(const output::StepProfile& phases,
                                            const profile::OpTimes& ops,
                                            const session::CompileReport& compiled,
                                            double seconds) {
  return profile::with_rest(
      {
          {profile::kInsideProgram, ops.all_op_seconds()},
          {"copying batches in and scores out", ops.all_call_seconds() - ops.all_op_seconds()},
          {"waiting for data", phases.all_seconds(Phase::io)},
          {"making classes and probabilities of scores, and writing them",
           phases.all_seconds(Phase::predictions)},
          {"writing logs and metrics", phases.all_seconds(Phase::log)},
          {"compiling the step", compiled.seconds},
      },
      "the rest: opening files, reading weights, copying products", seconds);
}

}  // namespace

std::int64_t events_wanted(const config::Configuration& configuration, std::int64_t entries) {
  const std::int64_t left = std::max<std::int64_t>(entries - configuration.mode.start_index, 0);
  const std::int64_t limit = configuration.run.iterations * configuration.run.minibatch_size;
  return limit > 0 ? std::min(left, limit) : left;
}

InferenceSummary infer(const config::Configuration& configuration, const std::string& target,
                       output::RunLog& log, const InferenceHooks& hooks) {
  const Stopwatch whole_run;
  const std::filesystem::path folder = train::output_folder(configuration);
  std::filesystem::create_directories(folder);
  const std::unique_ptr<data::EventSource> source = train::open_events(configuration);
  const data::DenseShape shape =
      data::dense_shape(source->meta(), train::dense_options(configuration).downsample);
  log.info("Larcv file prepared: " + source->description());
  Tagger tagger(configuration, target, shape, log, hooks.compiling);

  InferenceSummary summary;
  summary.weights = tagger.weights();
  summary.provenance = tagger.report().provenance;
  summary.predictions = configuration.mode.output_file.empty()
                            ? folder / "predictions.h5"
                            : std::filesystem::path(configuration.mode.output_file);
  const std::int64_t wanted = events_wanted(configuration, source->size());
  data::larcv::EventFileWriter writer(summary.predictions);
  if (wanted == source->size()) {
    const std::vector<data::larcv::ProductName> earlier{
        {"sparse2d", data::larcv::kCosmicPrediction},
        {"sparse2d", data::larcv::kNeutrinoPrediction}};
    writer.copy_products(configuration.data.file_path(), earlier);
  } else {
    log.info("Only " + std::to_string(wanted) + " of " + std::to_string(source->size()) +
             " events are tagged, so the output has their predictions without the other products.");
  }

  data::BatchLoader loader(*source, train::one_pass_options(configuration));
  std::optional<output::MetricsCsv> csv;
  if (source->labelled()) {
    csv.emplace(output::metrics_csv_path(folder, output::Series::ana));
  }
  MeanScores all;
  const Stopwatch watch;
  output::StepProfile phases;
  profile::OpTimes ops;
  while (summary.events < wanted) {
    phases.begin_iteration(summary.batches);
    const data::Batch* batch = nullptr;
    {
      const auto timing = phases.time(Phase::io);
      batch = loader.next();
    }
    COSMIC_ASSERT(batch != nullptr);
    {
      const auto timing = phases.time(Phase::step);
      tagger.run(*batch);
    }
    if (configuration.run.profile) {
      ops.add(phases.latest_seconds(Phase::step), tagger.timings());
    }
    MeanScores of_batch;
    {
      const auto timing = phases.time(Phase::predictions);
      tagger.visit_events(*batch, [&](const TaggedEvent& event) {
        if (summary.events == wanted) {
          return;
        }
        writer.begin_event(event.id);
        writer.write_sparse(data::larcv::kCosmicPrediction,
                            event.probabilities(data::Label::cosmic));
        writer.write_sparse(data::larcv::kNeutrinoPrediction,
                            event.probabilities(data::Label::neutrino));
        if (csv) {
          const EventConfusion confusion = event.confusion();
          of_batch.add(confusion);
          all.add(confusion);
        }
        ++summary.events;
      });
    }
    if (csv) {
      const auto timing = phases.time(Phase::log);
      csv->add(summary.batches, of_batch.metrics());
      if (summary.batches % configuration.mode.logging_iteration == 0) {
        log.info(output::metrics_line(output::Series::ana, summary.batches, of_batch.metrics()));
      }
    }
    ++summary.batches;
    phases.end_iteration();
    if (hooks.progress) {
      hooks.progress({summary.events, wanted,
                      static_cast<double>(summary.events) / std::max(watch.seconds(), 1e-9),
                      summary.provenance, tagger.modelled_rate()});
    }
  }
  writer.commit();
  summary.seconds = watch.seconds();
  summary.scores = csv ? all.metrics() : output::Metrics{};
  summary.report = folder / "inference.json";
  write_json(summary.report, summary);
  for (const std::string& line :
       output::inference_report(summary.batches, summary.events, summary.scores)) {
    log.info(line);
  }
  for (const std::string& line : output::throughput_lines(
           phases.iteration_seconds(), configuration.run.minibatch_size, summary.provenance)) {
    log.info(line);
  }
  train::log_prediction(log, "the inference", tagger.report(), configuration.run.minibatch_size);
  if (configuration.run.profile) {
    const double seconds = whole_run.seconds();
    train::write_profile(folder / "profiles",
                         {.configuration = configuration,
                          .options = tagger.options(),
                          .purpose = session::Purpose::inference,
                          .compiled = tagger.report(),
                          .memory = tagger.memory(),
                          .data = source->description(),
                          .image = train::batch_types(configuration, shape).image},
                         {.phases = phases,
                          .ops = ops,
                          .shares = time_shares(phases, ops, tagger.report(), seconds),
                          .seconds = seconds},
                         log);
  }
  return summary;
}

}  // namespace cosmic::infer
