// Throughput and efficiency of many machines that train together.
#include <fmt/core.h>

#include <cmath>
#include <cstdint>

#include "report/page/markup.hpp"
#include "report/page/plot.hpp"
#include "report/prediction/marked.hpp"
#include "report/prediction/page_sections.hpp"

namespace cosmic::report::prediction {
namespace {

using machine::ModelledNumber;
using machine::ScalingRow;

/// Three digits, without an exponent.
std::string rate_text(double rate) {
  return rate >= 100 ? page::count_text(static_cast<std::int64_t>(std::lround(rate)))
                     : fmt::format("{:.3g}", rate);
}

std::string number_text(const ModelledNumber& number) {
  return modelled(rate_text(number.modelled)) + " " +
         error_bar(rate_text(number.low), rate_text(number.high));
}

std::string throughput_plot(const std::vector<ScalingRow>& rows) {
  page::PlotSeries with_ring{"predicted", page::SeriesLook::line, page::SeriesTone::first, {}};
  page::PlotSeries ideal{"no loss", page::SeriesLook::dashed_line, page::SeriesTone::plain, {}};
  const double one = rows.front().events_per_second.modelled / rows.front().machines;
  for (const ScalingRow& row : rows) {
    const double machines = row.machines;
    with_ring.points.push_back({.x = machines,
                                .y = row.events_per_second.modelled,
                                .y_low = row.events_per_second.low,
                                .y_high = row.events_per_second.high});
    ideal.points.push_back({.x = machines, .y = one * machines});
  }
  page::Plot plot;
  plot.description = "Events per second on many machines";
  plot.x = {"machines", static_cast<double>(rows.front().machines),
            static_cast<double>(rows.back().machines), page::AxisScale::logarithmic};
  plot.y = {"events per second (modelled)", rows.front().events_per_second.low,
            one * rows.back().machines * 1.5, page::AxisScale::logarithmic};
  plot.series = {std::move(ideal), std::move(with_ring)};
  return page::draw(plot);
}

std::string efficiency_plot(const std::vector<ScalingRow>& rows) {
  page::PlotSeries line{"predicted", page::SeriesLook::line, page::SeriesTone::second, {}};
  for (const ScalingRow& row : rows) {
    line.points.push_back({.x = static_cast<double>(row.machines),
                           .y = row.efficiency.modelled,
                           .y_low = row.efficiency.low,
                           .y_high = row.efficiency.high});
  }
  page::Plot plot;
  plot.description = "Efficiency of many machines";
  plot.x = {"machines", static_cast<double>(rows.front().machines),
            static_cast<double>(rows.back().machines), page::AxisScale::logarithmic};
  plot.y = {"efficiency (modelled)", 0, 1.05, page::AxisScale::linear, page::AxisUnit::percent};
  plot.series = {std::move(line)};
  return page::draw(plot);
}

std::string table(const std::vector<ScalingRow>& rows) {
  std::string html =
      "<div tabindex=\"0\" class=\"scroll figures\"><table><thead><tr><th "
      "scope=\"col\">machines</th><th "
      "scope=\"col\">step</th><th scope=\"col\">of which all-reduce</th><th scope=\"col\">events "
      "per second</th><th scope=\"col\">efficiency</th></tr></thead><tbody>";
  for (const ScalingRow& row : rows) {
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{} {}</td></tr>",
        row.machines, modelled(row.step), modelled(row.all_reduce),
        number_text(row.events_per_second), modelled_share(row.efficiency.modelled, 1),
        error_bar(page::percent_text(row.efficiency.low), page::percent_text(row.efficiency.high)));
  }
  return html + "</tbody></table></div>";
}

std::string links_table(const machine::Description& machine) {
  if (machine.links.empty()) {
    return "<p>The links of this machine are not described: one bandwidth is used for all "
           "distances, with no cost per step of the ring.</p>";
  }
  std::string html =
      "<h3>Links</h3><div tabindex=\"0\" class=\"scroll figures\"><table><thead><tr><th "
      "scope=\"col\">link</th><th "
      "scope=\"col\">machines joined</th><th scope=\"col\">each way</th><th scope=\"col\" "
      "class=\"words\">known</th><th scope=\"col\" class=\"words\">source</th></tr></thead><tbody>";
  for (const machine::Link& link : machine.links) {
    const machine::Figure& bandwidth = link.bandwidth;
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"words\">{}</td><td "
        "class=\"words source\">{}</td></tr>",
        page::escaped(link.name), link.joins ? std::to_string(*link.joins) : "any number",
        given(fmt::format("{:.4g} {}", bandwidth.value / bandwidth.unit_scale,
                          page::escaped(bandwidth.unit))),
        to_string(bandwidth.status), given(page::escaped(bandwidth.source)));
  }
  return html + "</tbody></table></div>";
}

}  // namespace

std::string scaling_section(const PredictionReport& report) {
  if (report.scaling.size() < 2) {
    return "";
  }
  return "<p>Each replica has its own batch; gradients are all-reduced once per update, "
         "after the step. Waiting for the slowest machine, for files and for hosts is not "
         "modelled; the hop times among the unknowns below stand for losses other than moving "
         "bytes.</p>"
         "<div class=\"plots\"><figure>" +
         throughput_plot(report.scaling) + "</figure><figure>" + efficiency_plot(report.scaling) +
         "</figure></div>" + table(report.scaling) + links_table(report.machine);
}

}  // namespace cosmic::report::prediction
