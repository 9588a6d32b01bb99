// Efficiency and purity against what neutrinos differ in.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "report/evaluation/binned_shares.hpp"
#include "report/evaluation/page_sections.hpp"
#include "report/evaluation/share_text.hpp"
#include "report/page/markup.hpp"
#include "report/page/plot.hpp"

namespace cosmic::report::evaluation {
namespace {

page::PlotSeries series_of(const std::vector<ShareBin>& bins, page::AxisScale scale,
                           PixelShare ShareBin::*which, std::string name, page::SeriesLook look,
                           page::SeriesTone tone) {
  page::PlotSeries series{std::move(name), look, tone, {}};
  for (const ShareBin& bin : bins) {
    if ((bin.*which).whole() == 0) {
      continue;
    }
    const Share share = (bin.*which).share();
    const double middle = scale == page::AxisScale::logarithmic ? std::sqrt(bin.low * bin.high)
                                                                : (bin.low + bin.high) / 2;
    series.points.push_back({middle, share.value, share.low, share.high, bin.low, bin.high});
  }
  return series;
}

std::string share_plot(const std::vector<ShareBin>& bins, const std::string& title,
                       page::AxisScale scale) {
  page::Plot plot;
  plot.description = "Efficiency and purity of neutrino pixels against " + title;
  plot.x = {title, bins.front().low, bins.back().high, scale, page::AxisUnit::number};
  plot.y = {"share of pixels", 0, 1, page::AxisScale::linear, page::AxisUnit::percent};
  plot.series = {series_of(bins, scale, &ShareBin::efficiency, "efficiency",
                           page::SeriesLook::circles, page::SeriesTone::first),
                 series_of(bins, scale, &ShareBin::purity, "purity", page::SeriesLook::diamonds,
                           page::SeriesTone::second)};
  for (const ShareBin& bin : bins) {
    plot.columns.push_back({bin.low, bin.high, static_cast<double>(bin.events)});
  }
  plot.columns_name = "events";
  return page::draw(plot);
}

std::string interaction_table(const Evaluation& evaluation) {
  std::string rows;
  for (const Interaction interaction : kInteractions) {
    ShareBin bin;
    for (const EventResult& event : evaluation.events) {
      if (event.neutrino && event.neutrino->interaction == interaction) {
        bin.add(event);
      }
    }
    if (bin.events > 0) {
      rows += fmt::format(
          "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
          interaction_name(interaction), page::count_text(bin.events),
          page::count_text(bin.efficiency.whole()), percent_text(bin.efficiency.share()),
          percent_text(bin.purity.share()));
    }
  }
  return rows.empty()
             ? ""
             : "<div tabindex=\"0\" class=\"scroll\"><table><caption>By "
               "interaction</caption><thead><tr>"
               "<th scope=\"col\">neutrino</th><th scope=\"col\">events</th><th scope=\"col\">"
               "neutrino pixels</th><th scope=\"col\">efficiency</th><th scope=\"col\">purity</th>"
               "</tr></thead><tbody>" +
                   rows + "</tbody></table></div>";
}

}  // namespace

std::string efficiency_section(const Evaluation& evaluation) {
  const std::vector<ShareBin> by_pixels = shares_by_pixels(evaluation.events);
  if (by_pixels.empty()) {
    return "<p>No event has a neutrino pixel, so there is no efficiency to show.</p>";
  }
  std::string html =
      "<p>How the tags of neutrino pixels depend on the event. Horizontal lines show the bins, "
      "vertical bars 68 % intervals, grey columns the number of events behind each point.</p>"
      "<div class=\"plots\"><figure>";
  html += share_plot(by_pixels, "neutrino pixels in the event", page::AxisScale::logarithmic);
  html +=
      "<figcaption><b>Against the size of the neutrino.</b> True neutrino pixels of all three "
      "planes, in the images the network sees.</figcaption></figure>";
  const std::vector<ShareBin> by_energy = shares_by_energy(evaluation.events);
  if (by_energy.empty()) {
    html +=
        "<figure><figcaption><b>Against energy:</b> not shown, because the file does not contain "
        "neutrino energies (it has no particle product sbndneutrino).</figcaption>"
        "</figure>";
  } else {
    html += "<figure>" + share_plot(by_energy, "neutrino energy (GeV)", page::AxisScale::linear);
    html +=
        "<figcaption><b>Against the energy of the neutrino</b> at its interaction."
        "</figcaption></figure>";
  }
  return html + "</div>" + interaction_table(evaluation);
}

}  // namespace cosmic::report::evaluation
