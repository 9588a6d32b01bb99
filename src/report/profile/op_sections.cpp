// Ops by kind and by layer, and how close each comes to peak of the machine.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "report/page/layer_text.hpp"
#include "report/page/markup.hpp"
#include "report/page/plot.hpp"
#include "report/page/quantity_text.hpp"
#include "report/profile/hues.hpp"
#include "report/profile/page_sections.hpp"

namespace cosmic::report::profile {
namespace {

// A network has a few hundred ops; the rest is one click away.
constexpr std::size_t kShownRows = 20;

enum class FirstColumns { op, layer, both };

std::string head(FirstColumns first) {
  std::string html = "<thead><tr>";
  html += first == FirstColumns::op      ? "<th scope=\"col\">op</th><th scope=\"col\">ops</th>"
          : first == FirstColumns::layer ? "<th scope=\"col\">layer</th><th scope=\"col\">ops</th>"
                                         : "<th scope=\"col\">layer</th><th scope=\"col\" "
                                           "class=\"words\">op</th><th scope=\"col\" "
                                           "class=\"words\">result</th>";
  // Single ops have wide names and types; what they count is in the JSON file.
  const bool amounts = first != FirstColumns::both;
  for (const char* const title : {"time per step", "share", amounts ? "FLOP" : "", "FLOP/s",
                                  amounts ? "B" : "", "B/s", "FLOP/B", "of the roof"}) {
    html += *title == '\0' ? "" : fmt::format("<th scope=\"col\">{}</th>", title);
  }
  return html + "</tr></thead>";
}

std::string figures(const OpProfile& op, FirstColumns first, const RunProfile& profile,
                    double longest) {
  const auto cell = [](const std::string& text) { return "<td>" + text + "</td>"; };
  const bool amounts = first != FirstColumns::both;
  const std::optional<double> roof = roofline_share(op, profile.machine);
  std::string html =
      fmt::format("<td class=\"bar\">{}<i style=\"width:{:.1f}%\"></i></td>",
                  page::seconds_text(op.seconds), longest > 0 ? 100 * op.seconds / longest : 0);
  html +=
      cell(page::percent_text(profile.call_seconds > 0 ? op.seconds / profile.call_seconds : 0));
  html += amounts ? cell(page::quantity_text(op.cost.flops, "")) : "";
  html += cell(page::quantity_text(op.flops_per_second(), ""));
  html += amounts ? cell(page::quantity_text(op.cost.bytes, "")) : "";
  html += cell(page::quantity_text(op.bytes_per_second(), ""));
  html += cell(fmt::format("{:.3g}", op.flops_per_byte()));
  return html + cell(page::percent_text(roof ? *roof : std::nan(""), 0));
}

/// " + statistics": what is computed along with the op.
std::string riders(const OpProfile& op) {
  std::string text;
  for (const std::string& rider : op.riders) {
    text += " + " + page::escaped(rider);
  }
  return text;
}

/// What it evaluates while it reads, for who points at it.
std::string evaluated(const OpProfile& op) {
  std::string text;
  for (const std::string& expression : op.evaluates) {
    text += (text.empty() ? "reads " : ", ") + expression;
  }
  return text;
}

std::string first_cells(const OpProfile& op, FirstColumns first, const Hues& hues) {
  const std::string name = page::escaped(op.op);
  const std::string layer = page::layer_text(op.layer);
  switch (first) {
    case FirstColumns::op:
      return fmt::format("<th scope=\"row\"><span class=\"dot {}\"></span>{}</th><td>{}</td>",
                         hues.of(op.op), name, page::count_text(op.ops));
    case FirstColumns::layer:
      return fmt::format("<th scope=\"row\">{}</th><td>{}</td>", layer, page::count_text(op.ops));
    case FirstColumns::both:
      break;
  }
  return fmt::format(
      "<th scope=\"row\"><span class=\"dot {}\"></span>{}</th><td class=\"words\" "
      "title=\"{}\">{}</td>"
      "<td class=\"words\">{}</td>",
      hues.of(op.op), layer, page::escaped(evaluated(op)), name + riders(op),
      page::escaped(op.type));
}

std::string table(const std::vector<OpProfile>& rows, FirstColumns first, const RunProfile& profile,
                  const Hues& hues) {
  const double longest = rows.empty() ? 0 : rows.front().seconds;
  std::string html =
      "<div tabindex=\"0\" class=\"scroll figures\"><table>" + head(first) + "<tbody>";
  for (const OpProfile& row : rows) {
    html +=
        "<tr>" + first_cells(row, first, hues) + figures(row, first, profile, longest) + "</tr>";
  }
  return html + "</tbody></table></div>";
}

/// The slowest rows, and all of them behind a line to click on.
std::string short_table(const std::vector<OpProfile>& rows, FirstColumns first,
                        const std::string& what, const RunProfile& profile, const Hues& hues) {
  if (rows.size() <= kShownRows) {
    return table(rows, first, profile, hues);
  }
  const std::vector<OpProfile> shown(rows.begin(), rows.begin() + kShownRows);
  return table(shown, first, profile, hues) +
         fmt::format("<details><summary>All {} {}</summary>{}</details>", rows.size(), what,
                     table(rows, first, profile, hues));
}

page::PlotAxis logarithmic_axis(const std::string& title, double low, double high) {
  return {title, std::pow(10, std::floor(std::log10(low))),
          std::pow(10, std::ceil(std::log10(high))), page::AxisScale::logarithmic};
}

/// Rate against intensity, with the roof that the machine's peaks make.
std::string roofline(const RunProfile& profile) {
  constexpr double kGiga = 1e9;
  const target::Peak& peak = *profile.machine.peak;
  const double ridge = peak.flops_per_second / peak.bytes_per_second;
  page::PlotSeries dots{"an op", page::SeriesLook::dots, page::SeriesTone::first, {}};
  double least_intensity = ridge / 10;
  double most_intensity = ridge * 10;
  double least_rate = peak.flops_per_second / 100;
  double most_rate = peak.flops_per_second;
  for (const OpProfile& op : profile.ops) {
    // What takes no time to speak of says nothing about the step.
    constexpr double kWorthShowing = 1e-4;
    if (op.cost.flops <= 0 || op.cost.bytes <= 0 ||
        op.seconds <= kWorthShowing * profile.call_seconds) {
      continue;
    }
    least_intensity = std::min(least_intensity, op.flops_per_byte());
    most_intensity = std::max(most_intensity, op.flops_per_byte());
    least_rate = std::min(least_rate, op.flops_per_second());
    most_rate = std::max(most_rate, op.flops_per_second());
    page::PlotPoint point{.x = op.flops_per_byte(), .y = op.flops_per_second() / kGiga};
    point.title = fmt::format("{} {}: {}", op.layer, op.op, page::seconds_text(op.seconds));
    dots.points.push_back(point);
  }
  page::Plot plot;
  plot.description = "Arithmetic rate of each op against its arithmetic intensity";
  plot.width = page::kWidePlot;
  plot.x = logarithmic_axis("arithmetic intensity (FLOP per byte of operands and result)",
                            least_intensity, most_intensity);
  plot.y = logarithmic_axis("GFLOP/s", least_rate / kGiga, most_rate / kGiga);
  const auto roof = [&](double intensity) {
    return std::min(peak.flops_per_second, intensity * peak.bytes_per_second) / kGiga;
  };
  plot.series = {{"peak of the machine",
                  page::SeriesLook::line,
                  page::SeriesTone::plain,
                  {{.x = plot.x.low, .y = roof(plot.x.low)},
                   {.x = ridge, .y = roof(ridge)},
                   {.x = plot.x.high, .y = roof(plot.x.high)}}},
                 std::move(dots)};
  return "<figure>" + page::draw(plot) +
         "<figcaption><b>Roofline.</b> Left of the bend, memory traffic limits an op; right of it, "
         "arithmetic does. Ops above the line read tensors that were still in a cache, or need "
         "less arithmetic than counted (Winograd\xe2\x80\x99s convolutions). Ops that take less "
         "than a ten-thousandth of the step are left out.</figcaption></figure>";
}

}  // namespace

std::string ops_section(const RunProfile& profile) {
  if (profile.ops.empty()) {
    return fmt::format("<p>The target {} does not time ops.</p>",
                       page::escaped(profile.machine.target));
  }
  const std::vector<OpProfile> kinds = by_op(profile.ops);
  const Hues hues(kinds);
  std::string html =
      "<p>FLOP and B are those of a step: the arithmetic of its op and of the ops that ride along "
      "(sums for a normalisation, for example), by their own count, and the bytes of all that it "
      "reads and writes, each tensor once and in the format it is stored in. Work that a step "
      "repeats, or evaluates while it reads, takes time here but is not counted. "
      "\xe2\x80\x9cOf the roof\xe2\x80\x9d is the shortest time that the machine\xe2\x80\x99s "
      "peaks allow for that count, divided by the time taken.</p>";
  html += table(kinds, FirstColumns::op, profile, hues);
  if (profile.machine.peak) {
    html += roofline(profile);
  }
  html += "<h3>The slowest ops</h3>";
  return html + short_table(by_time(profile.ops), FirstColumns::both, "ops", profile, hues);
}

std::string layers_section(const RunProfile& profile) {
  if (profile.ops.empty()) {
    return "";
  }
  const std::vector<OpProfile> layers = by_layer(profile.ops);
  return "<p>Forward, backward and update of a layer together, by its name in the model.</p>" +
         short_table(layers, FirstColumns::layer, "layers", profile, Hues({}));
}

}  // namespace cosmic::report::profile
