// A training of CosmicTagger's own networks, by the settings of the command line.
#include <algorithm>

#include "bindings.hpp"
#include "config/parse.hpp"
#include "model/enum_text.hpp"
#include "report/page/plot.hpp"
#include "report/page/style.hpp"
#include "run/output_folder.hpp"
#include "run/weights.hpp"
#include "target/registry.hpp"
#include "train/training.hpp"

namespace cosmic::python {
namespace {

py::dict metrics_of(const output::Metrics& metrics) {
  py::dict values;
  for (const output::Metric& metric : metrics) {
    values[py::str(metric.key)] = metric.value;
  }
  return values;
}

std::string to_text(train::Ending ending) {
  switch (ending) {
    case train::Ending::complete:
      return "complete";
    case train::Ending::stopped:
      return "stopped";
    case train::Ending::out_of_time:
      return "out of time";
    case train::Ending::no_improvement:
      return "no improvement";
  }
  return "";
}

/// Trains to the end, or until `should_stop()`. `on_progress(step, last_step, loss, accuracy, iou,
/// images_per_second)` is called after each update, `on_line(line)` with each line of the log.
py::dict train(const std::vector<std::string>& settings, const py::function& on_progress,
               const py::function& on_line, const py::function& should_stop) {
  const config::Resolved resolved = config::parse(settings, {.mode = config::Mode::train,
                                                             .command = config::Command::train,
                                                             .weights = run::weights_record});
  for (const std::string& note : resolved.notes) {
    on_line(note);
  }
  const config::Configuration& configuration = resolved.configuration;
  train::TrainingHooks hooks;
  hooks.progress = [&](const train::TrainingProgress& progress) {
    const py::gil_scoped_acquire python;
    on_progress(progress.step, progress.last_step, progress.loss, progress.accuracy,
                progress.mean_iou, progress.images_per_second);
  };
  hooks.stop_requested = [&] {
    const py::gil_scoped_acquire python;
    return should_stop().cast<bool>();
  };
  train::TrainingSummary summary;
  {
    const py::gil_scoped_release others_may_run;
    const std::string target =
        target::target_of_compute_mode(model::to_string(configuration.run.compute_mode));
    output::RunLog log(
        run::output_folder(configuration) / "process.log",
        [&](const std::string& line) {
          const py::gil_scoped_acquire python;
          on_line(line);
        },
        output::RunLog::Opening::later);
    summary = train::train(configuration, target, log, hooks);
  }
  py::dict result;
  result["ending"] = to_text(summary.ending);
  result["steps"] = summary.steps;
  result["seconds"] = summary.seconds;
  result["checkpoint"] = summary.checkpoint.string();
  result["output_folder"] = summary.output_folder.string();
  result["training"] = metrics_of(summary.last_training);
  result["validation"] = metrics_of(summary.last_validation);
  return result;
}

/// A curve over steps as one <svg> that needs no page around it.
std::string curve(const std::vector<double>& x, const std::vector<double>& y,
                  const std::string& name) {
  using namespace report::page;
  PlotSeries series{.name = name, .points = {}};
  PlotAxis steps{.title = "step", .low = 0, .high = 1};
  PlotAxis values{.title = name, .low = 0, .high = 0};
  for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
    series.points.push_back({.x = x[i], .y = y[i]});
    steps.high = std::max(steps.high, x[i]);
    values.high = std::max(values.high, y[i]);
  }
  if (values.high == 0) {
    values.high = 1;
  }
  std::string svg =
      draw({.description = name + " over steps", .x = steps, .y = values, .series = {series}});
  const std::size_t inside = svg.find('>') + 1;
  svg.insert(inside, "<style>" + std::string(common_style()) + "</style>");
  return svg;
}

}  // namespace

void add_training(py::module_& module) {
  module.def("train", &train, py::arg("settings"), py::arg("on_progress"), py::arg("on_line"),
             py::arg("should_stop"));
  module.def("curve", &curve, py::arg("x"), py::arg("y"), py::arg("name"));
}

}  // namespace cosmic::python
