#include "run/measure_performance.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "core/checked_product.hpp"
#include "core/error.hpp"
#include "core/process_memory.hpp"
#include "core/stopwatch.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "run/hand_over.hpp"
#include "run/run_choices.hpp"
#include "run/some_events.hpp"
#include "session/model.hpp"

namespace cosmic::run {
namespace {

std::vector<double> sorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values;
}

using ShowProgress = std::function<void(const PerformanceProgress&)>;

void measure_calls(Performance& performance, const PerformanceOptions& options,
                   const ShowProgress& show, const std::function<void()>& call) {
  PerformanceProgress progress;
  progress.all_calls = options.calls_before + options.calls;
  progress.modelled = machine::event_rate(performance.prediction, performance.events_per_run);
  for (std::int64_t i = 0; i < progress.all_calls; ++i) {
    const Stopwatch watch;
    call();
    const double seconds = watch.seconds();
    if (i >= options.calls_before) {
      performance.seconds.push_back(seconds);
    }
    if (show) {
      progress.calls = i + 1;
      progress.events_per_second = static_cast<double>(performance.events_per_call) / seconds;
      show(progress);
    }
  }
}

void add_report(Performance& performance, const session::CompileReport& report) {
  performance.compile_seconds = report.seconds;
  performance.program_bytes = report.memory_bytes;
  performance.provenance = report.provenance;
  performance.prediction = report.prediction;
  performance.device_memory = report.device_memory;
}

}  // namespace

double Performance::events_per_second() const {
  const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  return static_cast<double>(events_per_call) * static_cast<double>(seconds.size()) / all;
}

double Performance::least_seconds() const {
  return sorted(seconds).front();
}

double Performance::median_seconds() const {
  const std::vector<double> all = sorted(seconds);
  const std::size_t half = all.size() / 2;
  return all.size() % 2 == 1 ? all[half] : 0.5 * (all[half - 1] + all[half]);
}

double Performance::most_seconds() const {
  return sorted(seconds).back();
}

Performance measure_performance(const config::Configuration& configuration,
                                const std::string& target, const PerformanceOptions& options,
                                const ShowProgress& progress) {
  Performance performance;
  performance.target = target;
  performance.events_per_run = configuration.run.minibatch_size;
  const model::UResNet network(configuration.network);
  const session::BatchTypes types = batch_types(configuration, options.shape);
  if (configuration.mode.name == config::Mode::train) {
    const std::optional<std::int64_t> per_call = checked_product(
        {configuration.run.minibatch_size, configuration.mode.optimizer.gradient_accumulation});
    COSMIC_REQUIRE(UserError, per_call,
                   "mode.optimizer.gradient_accumulation = "
                       << configuration.mode.optimizer.gradient_accumulation << " batches of "
                       << configuration.run.minibatch_size
                       << " events (one call takes all of them, and no memory is that large); "
                          "choose fewer");
    performance.events_per_call = *per_call;
    const model::SegmentationLoss loss = loss_of(configuration.mode.optimizer);
    session::TrainingModel model(network, loss, optimizer_of(configuration.mode.optimizer),
                                 training_options(configuration, target));
    // Before the events: whether they fit is known sooner than they are made.
    add_report(performance, model.compile(types));
    const SomeEvents events =
        some_events(configuration, options.shape, performance.events_per_call);
    performance.events_from = events.origin;
    performance.warnings = events.warnings;
    const std::int64_t batches = configuration.mode.optimizer.gradient_accumulation;
    const PixelsOf pixels(events.images, events.labels, performance.events_per_run, batches, model);
    const double rate = configuration.mode.optimizer.learning_rate;
    measure_calls(performance, options, progress, [&] {
      if (pixels.batches().empty()) {
        model(events.images, events.labels, rate);
        return;
      }
      // As a training does: what the next call takes goes up while this one runs.
      model.submit(pixels.batches(), rate);
      model.stage(pixels.batches());
      model.wait();
    });
  } else {
    performance.events_per_call = configuration.run.minibatch_size;
    session::InferenceModel model(network, inference_options(configuration, target));
    add_report(performance, model.compile(types.image));
    const SomeEvents events =
        some_events(configuration, options.shape, performance.events_per_call);
    performance.events_from = events.origin;
    performance.warnings = events.warnings;
    const PixelsOf pixels(events.images, events.labels, performance.events_per_run, 1, model);
    measure_calls(performance, options, progress, [&] {
      if (pixels.batches().empty()) {
        model(events.images);
        return;
      }
      model.submit(pixels.batches());
      model.stage(pixels.batches());
      model.wait();
    });
  }
  performance.peak_resident_bytes = peak_resident_bytes();
  return performance;
}

}  // namespace cosmic::run
