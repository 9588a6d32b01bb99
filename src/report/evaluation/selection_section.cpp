// Keeping events with a neutrino and rejecting those with cosmic rays only.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "report/evaluation/page_sections.hpp"
#include "report/evaluation/share_text.hpp"
#include "report/page/markup.hpp"
#include "report/page/plot.hpp"

namespace cosmic::report::evaluation {
namespace {

// A page needs no more points of a curve than it has pixels for.
constexpr std::size_t kCurvePoints = 400;

page::PlotPoint with_band(double x, const Share& share) {
  return {x, share.value, share.low, share.high};
}

std::string scan_plot(const Selection& selection) {
  page::Plot plot;
  plot.description = "Events kept against the threshold on the event's score";
  plot.x = {"threshold on the event\xe2\x80\x99s score", 0, 1};
  plot.y = {"events kept", 0, 1, page::AxisScale::linear, page::AxisUnit::percent};
  page::PlotSeries neutrino{"with a neutrino", page::SeriesLook::line, page::SeriesTone::first, {}};
  page::PlotSeries cosmic{"cosmic rays only", page::SeriesLook::line, page::SeriesTone::second, {}};
  for (const Kept& kept : selection.scan(kScanSteps)) {
    neutrino.points.push_back(with_band(kept.threshold, selection.neutrino_share(kept)));
    cosmic.points.push_back(with_band(kept.threshold, selection.cosmic_only_share(kept)));
  }
  plot.series = {neutrino, cosmic};
  return page::draw(plot);
}

std::string cuts_plot(const Selection& selection) {
  page::Plot plot;
  plot.description = "Cosmic-only events kept against neutrino events kept, for every cut";
  plot.x = {"events with a neutrino kept", 0, 1, page::AxisScale::linear, page::AxisUnit::percent};
  plot.y = {"cosmic-only events kept", 0, 1, page::AxisScale::linear, page::AxisUnit::percent};
  page::PlotSeries cuts{"every cut", page::SeriesLook::line, page::SeriesTone::first, {}};
  const std::vector<Kept> all = selection.all_cuts();
  const std::size_t stride = (all.size() + kCurvePoints - 1) / kCurvePoints;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % stride == 0 || i + 1 == all.size()) {
      cuts.points.push_back(
          with_band(selection.neutrino_share(all[i]).value, selection.cosmic_only_share(all[i])));
    }
  }
  page::PlotSeries guessing{
      "guessing", page::SeriesLook::dashed_line, page::SeriesTone::plain, {{0, 0}, {1, 1}}};
  plot.series = {cuts, guessing};
  return page::draw(plot);
}

std::string working_points(const Selection& selection) {
  std::string html =
      "<div tabindex=\"0\" class=\"scroll\"><table><caption>Working points: the tightest cut that "
      "keeps the given "
      "share of events with a neutrino</caption><thead><tr><th scope=\"col\">keep at least</th><th "
      "scope=\"col\">"
      "score above</th><th scope=\"col\">with a neutrino kept</th><th scope=\"col\">cosmic-only "
      "kept</th><th scope=\"col\">cosmic-only rejected</th></tr></thead><tbody>";
  for (const double wanted : kWorkingPoints) {
    html += fmt::format("<tr><th scope=\"row\">{}</th>", percent_text(wanted, 0));
    if (const auto kept = selection.keeping(wanted)) {
      const Share cosmic = selection.cosmic_only_share(*kept);
      html += fmt::format("<td>{:.4f}</td><td>{}</td><td>{}</td><td>{}</td></tr>", kept->threshold,
                          percent_text(selection.neutrino_share(*kept)), percent_text(cosmic),
                          percent_text(1 - cosmic.value));
    } else {
      html += "<td>\xe2\x80\x93</td><td colspan=\"3\">too many have a score of 0</td></tr>";
    }
  }
  return html + "</tbody></table></div>";
}

/// The cut that the reference's users know: more than a given number of tagged pixels on every
/// plane.
std::string pixel_cut(const Evaluation& evaluation) {
  double kept = 0;
  double all = 0;
  double kept_cosmic = 0;
  double all_cosmic = 0;
  for (const EventResult& event : evaluation.events) {
    const bool passes = event.fewest_tagged() > static_cast<std::int64_t>(kScorePixels);
    (event.has_neutrino() ? all : all_cosmic) += 1;
    (event.has_neutrino() ? kept : kept_cosmic) += passes ? 1 : 0;
  }
  std::string html = fmt::format(
      "<p>For comparison, the cut of the reference\xe2\x80\x99s own studies, more than {} pixels "
      "tagged as neutrino on every plane, keeps {} of the events with a neutrino",
      kScorePixels, percent_text(wilson(kept, all)));
  if (evaluation.cosmic_only == CosmicOnlyKind::real) {
    html += fmt::format(" and {} of the {} cosmic-only events of the file",
                        percent_text(wilson(kept_cosmic, all_cosmic)),
                        page::count_text(std::llround(all_cosmic)));
  }
  return html + ".</p>";
}

std::string sample_text(const Evaluation& evaluation) {
  const Selection& selection = *evaluation.selection;
  std::string html = fmt::format(
      "<p>An event\xe2\x80\x99s score is the neutrino probability of its {}th most neutrino-like "
      "pixel, on the plane where that is lowest. A score above <i>t</i> thus means that every "
      "plane has {} pixels with a neutrino probability above <i>t</i>.</p>",
      kScorePixels, kScorePixels);
  html += fmt::format("<p>{} events have a neutrino (at least {} true neutrino pixels). ",
                      page::count_text(selection.neutrino_events()), kLeastNeutrinoPixels);
  const std::string cosmic = page::count_text(selection.cosmic_only_events());
  switch (evaluation.cosmic_only) {
    case CosmicOnlyKind::real:
      html += fmt::format("{} events of the file have fewer and count as cosmic-only.", cosmic);
      break;
    case CosmicOnlyKind::neutrino_removed:
      html += fmt::format(
          "The file has no cosmic-only events, so {} were made: <b>the same events, tagged "
          "once more with the charge of every true neutrino pixel set to zero.</b> Where the "
          "neutrino crossed a cosmic ray that leaves a gap, and charge of the neutrino below the "
          "labelling threshold stays; a sample without neutrinos would be a better measure.",
          cosmic);
      break;
    case CosmicOnlyKind::both:
      html += fmt::format(
          "The file has few cosmic-only events, so the {} used here include <b>the other "
          "events, tagged once more with the charge of every true neutrino pixel set to zero.</b> "
          "Where the neutrino crossed a cosmic ray that leaves a gap, and charge of the neutrino "
          "below the labelling threshold stays.",
          cosmic);
      break;
  }
  return html + "</p>";
}

}  // namespace

std::string selection_section(const Evaluation& evaluation) {
  if (!evaluation.selection || evaluation.selection->cosmic_only_events() == 0) {
    return fmt::format(
        "<p>Not shown: no event has {} true neutrino pixels or more, so there is nothing to keep."
        "</p>",
        kLeastNeutrinoPixels);
  }
  const Selection& selection = *evaluation.selection;
  std::string html = sample_text(evaluation) + "<div class=\"plots\"><figure>";
  html += scan_plot(selection);
  html +=
      "<figcaption><b>Events kept by a threshold on the score.</b> Bands are 68 % intervals "
      "(Wilson).</figcaption></figure><figure>";
  html += cuts_plot(selection);
  html += fmt::format(
      "<figcaption><b>What rejecting cosmic-only events costs.</b> Each point is a threshold. An "
      "event with a neutrino has the higher score in {} of all pairs.</figcaption></figure></div>",
      percent_text(selection.separation()));
  return html + working_points(selection) + pixel_cut(evaluation);
}

}  // namespace cosmic::report::evaluation
