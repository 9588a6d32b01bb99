// What the network's probabilities are worth.
#include <fmt/core.h>

#include <cmath>

#include "report/evaluation/page_sections.hpp"
#include "report/evaluation/share_text.hpp"
#include "report/page/markup.hpp"
#include "report/page/plot.hpp"

namespace cosmic::report::evaluation {
namespace {

std::string threshold_plot(const PixelScores& scores) {
  page::Plot plot;
  plot.description = "Efficiency and purity of neutrino pixels against a probability threshold";
  plot.x = {"threshold on the pixel\xe2\x80\x99s neutrino probability", 0, 1};
  plot.y = {"share of pixels", 0, 1, page::AxisScale::linear, page::AxisUnit::percent};
  page::PlotSeries efficiency{"efficiency", page::SeriesLook::line, page::SeriesTone::first, {}};
  page::PlotSeries purity{"purity", page::SeriesLook::line, page::SeriesTone::second, {}};
  for (const PixelScores::AtThreshold& at : scores.threshold_scan()) {
    efficiency.points.push_back({at.threshold, at.efficiency});
    purity.points.push_back({at.threshold, at.purity});
  }
  plot.series = {efficiency, purity};
  return page::draw(plot);
}

page::PlotSeries calibration_series(const char* name, page::SeriesLook look, page::SeriesTone tone,
                                    const PixelScores& scores) {
  page::PlotSeries series{name, look, tone, {}};
  for (const PixelScores::Calibration& group : scores.calibration(kCalibrationGroups)) {
    series.points.push_back({group.mean_probability, static_cast<double>(group.neutrinos) /
                                                         static_cast<double>(group.pixels)});
  }
  return series;
}

std::string calibration_plot(const Evaluation& evaluation) {
  page::Plot plot;
  plot.description = "Share of true neutrino pixels against the predicted probability";
  plot.x = {"predicted neutrino probability", 0, 1, page::AxisScale::linear,
            page::AxisUnit::percent};
  plot.y = {"true neutrino pixels", 0, 1, page::AxisScale::linear, page::AxisUnit::percent};
  plot.series = {calibration_series("measured", page::SeriesLook::line, page::SeriesTone::first,
                                    evaluation.pixel_scores)};
  if (evaluation.temperature != 1) {
    plot.series.push_back(calibration_series("without the temperature", page::SeriesLook::line,
                                             page::SeriesTone::second,
                                             evaluation.uncalibrated_scores));
  }
  plot.series.push_back(
      {"ideal", page::SeriesLook::dashed_line, page::SeriesTone::plain, {{0, 0}, {1, 1}}});
  return page::draw(plot);
}

}  // namespace

std::string probabilities_section(const Evaluation& evaluation) {
  const PixelScores& scores = evaluation.pixel_scores;
  if (scores.neutrinos() == 0) {
    return "";
  }
  std::string html = fmt::format(
      "<p>The {} pixels with charge, by the neutrino probability that the network assigns to them. "
      "The tag is the most probable class; a threshold trades efficiency for purity.</p>"
      "<div class=\"plots\"><figure>",
      page::count_text(scores.pixels()));
  html += threshold_plot(scores);
  html +=
      "<figcaption><b>Choosing a threshold.</b> Pixels with a higher neutrino probability are "
      "tagged as neutrino.</figcaption></figure><figure>";
  html += calibration_plot(evaluation);
  html += fmt::format(
      "<figcaption><b>Do probabilities mean what they say?</b> On the dashed line, 70 % would be "
      "right in 70 of 100 cases. Mean distance, weighted by pixels: {}{}. Losses that weigh "
      "classes "
      "or hard pixels move probabilities away from the line.</figcaption></figure></div>",
      percent_text(scores.calibration_error(kCalibrationGroups), 2),
      evaluation.temperature == 1
          ? std::string()
          : fmt::format(
                "; {} without the temperature of the weights, {:.3f}",
                percent_text(evaluation.uncalibrated_scores.calibration_error(kCalibrationGroups),
                             2),
                evaluation.temperature));
  return html;
}

}  // namespace cosmic::report::evaluation
