// Where the numbers come from: the training behind the weights, files and settings.
#include <fmt/core.h>

#include <algorithm>

#include "report/evaluation/page_sections.hpp"
#include "report/page/facts.hpp"
#include "report/page/markup.hpp"
#include "report/page/plot.hpp"

namespace cosmic::report::evaluation {
namespace {

// Single steps scatter; the faint line shows that, the strong one the trend.
constexpr std::size_t kFaintPoints = 400;
constexpr std::size_t kTrendPoints = 40;

std::string curve_plot(const TrainingCurve& curve, const std::string& title,
                       double CurvePoint::*which, page::AxisUnit unit) {
  // A run may go on from another, so the first step need not be 0.
  const auto first_step = static_cast<double>(curve.training.front().step);
  double last_step = first_step + 1;
  double most = 0;
  const auto series = [&](const char* name, page::SeriesLook look, page::SeriesTone tone,
                          const std::vector<CurvePoint>& points) {
    page::PlotSeries result{name, look, tone, {}};
    for (const CurvePoint& point : points) {
      result.points.push_back({static_cast<double>(point.step), point.*which});
      last_step = std::max(last_step, static_cast<double>(point.step));
      most = std::max(most, point.*which);
    }
    return result;
  };
  page::Plot plot;
  plot.description = title + " against training steps";
  plot.series = {
      series("", page::SeriesLook::faint_line, page::SeriesTone::first,
             thinned(curve.training, kFaintPoints)),
      series("training", page::SeriesLook::line, page::SeriesTone::first,
             thinned(curve.training, kTrendPoints)),
  };
  if (!curve.validation.empty()) {
    plot.series.push_back(series("validation", page::SeriesLook::line, page::SeriesTone::second,
                                 thinned(curve.validation, kTrendPoints)));
  }
  plot.x = {"step", first_step, last_step};
  plot.y = {title, 0, unit == page::AxisUnit::percent ? 1 : std::max(most, 1e-6) * 1.05,
            page::AxisScale::linear, unit};
  return page::draw(plot);
}

}  // namespace

std::string training_section(const Evaluation& evaluation) {
  const TrainingCurve& curve = evaluation.curve;
  if (curve.training.empty()) {
    return "";
  }
  std::string html =
      "<p>The run that the weights come from, batch by batch; bold lines are "
      "averages over many batches.</p><div class=\"plots\"><figure>";
  html += curve_plot(curve, "loss", &CurvePoint::loss, page::AxisUnit::number);
  html += "<figcaption><b>Loss</b> of the batches.</figcaption></figure><figure>";
  html += curve_plot(curve, "mean IoU", &CurvePoint::mean_iou, page::AxisUnit::percent);
  html += "<figcaption><b>Mean IoU</b> of cosmic and neutrino pixels.</figcaption></figure></div>";
  return html;
}

std::string provenance_section(const Evaluation& evaluation) {
  const Provenance& from = evaluation.provenance;
  page::FactList facts;
  facts.add("Program", fmt::format("{}, revision <code>{}</code>", page::escaped(from.program),
                                   page::escaped(from.revision)));
  facts.add("Date", page::escaped(from.date));
  facts.add("Network", page::escaped(from.network));
  facts.add("Weights", fmt::format("<code>{}</code>, step {}, fingerprint <code>{}</code>",
                                   page::escaped(from.weights), page::count_text(from.step),
                                   page::escaped(from.weights_fingerprint)));
  if (!from.insisted_on.empty()) {
    std::string settings;
    for (const std::string& one : from.insisted_on) {
      settings += (settings.empty() ? "" : "; ") + page::escaped(one);
    }
    facts.add(
        "Against the weights",
        "<b>settings that the weights were not trained with were insisted on</b>: " + settings);
  }
  facts.add(
      "Events",
      fmt::format("<code>{}</code>, {} of {} events, fingerprint <code>{}</code>",
                  page::escaped(from.data),
                  page::count_text(static_cast<std::int64_t>(evaluation.events.size())),
                  page::count_text(evaluation.entries), page::escaped(from.data_fingerprint)));
  facts.add("Images", fmt::format("3 planes of {} x {} pixels (each axis halved {} time{})",
                                  evaluation.shape.rows, evaluation.shape.columns, from.downsample,
                                  from.downsample == 1 ? "" : "s"));
  facts.add("Seen in training",
            !from.trained_on_these.has_value() ? "not known, the weights do not tell"
            : *from.trained_on_these           ? "<b>yes, these are the events trained on</b>"
                                               : "no, the training had other events");
  return facts.html() + page::configuration_listing(from.configuration);
}

}  // namespace cosmic::report::evaluation
