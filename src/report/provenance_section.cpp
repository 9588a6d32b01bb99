// Where the numbers come from: the training behind the weights, files and settings.
#include <fmt/core.h>

#include <algorithm>

#include "report/markup.hpp"
#include "report/page_sections.hpp"
#include "report/plot.hpp"

namespace cosmic::report {
namespace {

// Single steps scatter; the faint line shows that, the strong one the trend.
constexpr std::size_t kFaintPoints = 400;
constexpr std::size_t kTrendPoints = 40;

std::string curve_plot(const TrainingCurve& curve, const std::string& title,
                       double CurvePoint::*which, AxisUnit unit) {
  // A run may go on from another, so the first step need not be 0.
  const auto first_step = static_cast<double>(curve.training.front().step);
  double last_step = first_step + 1;
  double most = 0;
  const auto series = [&](const char* name, SeriesLook look, SeriesTone tone,
                          const std::vector<CurvePoint>& points) {
    PlotSeries result{name, look, tone, {}};
    for (const CurvePoint& point : points) {
      result.points.push_back({static_cast<double>(point.step), point.*which});
      last_step = std::max(last_step, static_cast<double>(point.step));
      most = std::max(most, point.*which);
    }
    return result;
  };
  Plot plot;
  plot.description = title + " against training steps";
  plot.series = {
      series("", SeriesLook::faint_line, SeriesTone::first, thinned(curve.training, kFaintPoints)),
      series("training", SeriesLook::line, SeriesTone::first,
             thinned(curve.training, kTrendPoints)),
  };
  if (!curve.validation.empty()) {
    plot.series.push_back(series("validation", SeriesLook::line, SeriesTone::second,
                                 thinned(curve.validation, kTrendPoints)));
  }
  plot.x = {"step", first_step, last_step};
  plot.y = {title, 0, unit == AxisUnit::percent ? 1 : std::max(most, 1e-6) * 1.05,
            AxisScale::linear, unit};
  return draw(plot);
}

}  // namespace

std::string training_section(const Evaluation& evaluation) {
  const TrainingCurve& curve = evaluation.curve;
  if (curve.training.empty()) {
    return "";
  }
  std::string html =
      "<p>The course of the run that the weights come from, batch by batch; strong lines are means "
      "over stretches of it.</p><div class=\"plots\"><figure>";
  html += curve_plot(curve, "loss", &CurvePoint::loss, AxisUnit::number);
  html += "<figcaption><b>Loss</b> of the batches.</figcaption></figure><figure>";
  html += curve_plot(curve, "mean IoU", &CurvePoint::mean_iou, AxisUnit::percent);
  html += "<figcaption><b>Mean IoU</b> of cosmic and neutrino pixels.</figcaption></figure></div>";
  return html;
}

std::string provenance_section(const Evaluation& evaluation) {
  const Provenance& from = evaluation.provenance;
  std::string html = "<dl>";
  const auto row = [&](const char* name, const std::string& value) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>", name, value);
  };
  row("Program",
      fmt::format("{}, revision <code>{}</code>", escaped(from.program), escaped(from.revision)));
  row("Date", escaped(from.date));
  row("Network", escaped(from.network));
  row("Weights",
      fmt::format("<code>{}</code>, step {}, fingerprint <code>{}</code>", escaped(from.weights),
                  count_text(from.step), escaped(from.weights_fingerprint)));
  row("Events", fmt::format("<code>{}</code>, {} of {} events, fingerprint <code>{}</code>",
                            escaped(from.data),
                            count_text(static_cast<std::int64_t>(evaluation.events.size())),
                            count_text(evaluation.entries), escaped(from.data_fingerprint)));
  row("Images",
      fmt::format("3 planes of {} x {} pixels (each axis halved {} time{})", evaluation.shape.rows,
                  evaluation.shape.columns, from.downsample, from.downsample == 1 ? "" : "s"));
  row("Seen in training", !from.trained_on_these.has_value() ? "not known, the weights do not tell"
                          : *from.trained_on_these ? "<b>yes, these are the events trained on</b>"
                                                   : "no, the training had other events");
  html += "</dl><h3>Configuration</h3><pre>" + escaped(from.configuration) + "</pre>";
  return html;
}

}  // namespace cosmic::report
