#include "report/machines/machines_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "machine/family.hpp"
#include "report/page/document.hpp"
#include "report/page/markup.hpp"
#include "report/page/quantity_text.hpp"

namespace cosmic::report::machines {
namespace {

using machine::Fit;
using machine::Prediction;

constexpr const char* kStyle = R"css(
tbody th .error { white-space: normal; display: inline-block; max-width: 26ch; }
td.words, th.words { text-align: left; white-space: normal; min-width: 22ch; }
.fits { color: var(--good); } .fits-not { color: var(--bad); }
svg .name { font-size: 13.5px; }
)css";

double rate(const MachineRow& row, machine::ModelledTime step) {
  return row.run.events / step.modelled_seconds();
}

bool predicted(const MachineRow& row) {
  return row.run.refused.empty();
}

std::string fit_cell(Fit fit) {
  return fmt::format("<td class=\"{}\">{}</td>", likely(fit) ? "fits" : "fits-not", to_string(fit));
}

std::string events_text(double events) {
  return fmt::format("{:.3g}", events);
}

std::string row_html(const MachineRow& row) {
  const std::string head =
      fmt::format("<tr><th>{}<br/><span class=\"error\">{}</span></th>",
                  page::escaped(row.machine.name), page::escaped(row.machine.about));
  if (!predicted(row)) {
    return head + fmt::format("<td class=\"words\" colspan=\"6\">{}</td></tr>",
                              page::escaped(row.run.refused));
  }
  const Prediction& p = row.run.prediction;
  const machine::MemoryVerdict& memory = p.memory;
  const std::string range =
      memory.needed_low == memory.needed_high
          ? ""
          : fmt::format(" <span class=\"error\">{} to {}</span>", short_text(memory.needed_low),
                        short_text(memory.needed_high));
  return head + fit_cell(memory.fits) +
         fmt::format("<td>{}{}<br/><span class=\"error\">of {}, {}</span></td>",
                     short_text(memory.needed), range, short_text(memory.available),
                     page::escaped(memory.place)) +
         fmt::format("<td>{}</td><td>{} <span class=\"error\">{} to {}</span></td><td>{}</td></tr>",
                     page::seconds_text(p.step.best.modelled_seconds()),
                     events_text(rate(row, p.step.best)), events_text(rate(row, p.step.high)),
                     events_text(rate(row, p.step.low)), to_string(p.bound));
}

std::string table(const std::vector<MachineRow>& rows) {
  std::string html =
      "<div tabindex=\"0\" "
      "class=\"scroll\"><table><thead><tr><th>machine</th><th>memory</th><th>needs</th>"
      "<th>step</th><th>events/s</th><th>bound by</th></tr></thead><tbody>";
  for (const MachineRow& row : rows) {
    html += row_html(row);
  }
  return html + "</tbody></table></div>";
}

/// Rates with their error bars, one line for each machine, on a scale of powers of ten.
std::string rates_svg(const std::vector<MachineRow>& rows) {
  constexpr double kNames = 130;
  constexpr double kWidth = 1064;
  constexpr double kLine = 34;
  constexpr double kRight = 90;  // for the figure
  double least = 0;
  double most = 0;
  double lines = 0;
  for (const MachineRow& row : rows) {
    if (predicted(row)) {
      const double low = rate(row, row.run.prediction.step.high);
      const double high = rate(row, row.run.prediction.step.low);
      least = lines == 0 ? low : std::min(least, low);
      most = lines == 0 ? high : std::max(most, high);
      ++lines;
    }
  }
  if (lines == 0) {
    return "";
  }
  const double first = std::floor(std::log10(least));
  const double last = std::ceil(std::log10(most));
  const auto x = [&](double events) {
    return kNames +
           (std::log10(events) - first) / std::max(1.0, last - first) * (kWidth - kNames - kRight);
  };
  std::string svg = fmt::format(
      "<figure><div tabindex=\"0\" class=\"scroll\"><svg class=\"wide\" viewBox=\"0 0 {} {}\" "
      "role=\"img\" aria-label=\"Events per second on each "
      "machine, modelled\">",
      kWidth, lines * kLine + 30);
  for (double power = first; power <= last; ++power) {
    const double at = x(std::pow(10, power));
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"0\" y2=\"{1}\"/><text "
        "class=\"tick "
        "middle\" x=\"{0:.1f}\" y=\"{2}\">{3:g}</text>",
        at, lines * kLine, lines * kLine + 20, std::pow(10, power));
  }
  double y = kLine / 2;
  for (const MachineRow& row : rows) {
    if (!predicted(row)) {
      continue;
    }
    const Prediction& p = row.run.prediction;
    const double best = rate(row, p.step.best);
    svg += fmt::format(
        "<g class=\"{0}\"><text class=\"name\" x=\"0\" y=\"{1:.1f}\">{2}</text><line class=\"bar\" "
        "x1=\"{3:.1f}\" x2=\"{4:.1f}\" y1=\"{5:.1f}\" y2=\"{5:.1f}\"/><circle class=\"marker\" "
        "cx=\"{6:.1f}\" cy=\"{5:.1f}\" r=\"6\"/><text class=\"end\" x=\"{7}\" y=\"{1:.1f}\">{8} "
        "events/s</text></g>",
        likely(p.memory.fits) ? "first" : "second", y + 4.5, page::escaped(row.machine.name),
        x(rate(row, p.step.high)), x(rate(row, p.step.low)), y, x(best), kWidth, events_text(best));
    y += kLine;
  }
  return svg +
         "</svg></div><figcaption>Modelled, not measured. Blue: it fits, at least by the best "
         "estimate. "
         "Orange: it does not fit; the rate is what it would be if it did. The lines are error "
         "bars.</figcaption></figure>";
}

std::string abilities_table(const std::vector<MachineRow>& rows) {
  std::string html =
      "<div tabindex=\"0\" class=\"scroll\"><table><thead><tr><th>machine</th><th "
      "class=\"words\">formats</th><th "
      "class=\"words\">execution</th><th class=\"words\">this run</th></tr></thead><tbody>";
  for (const MachineRow& row : rows) {
    std::string formats;
    for (const NumberFormat format : row.machine.family->formats()) {
      formats += (formats.empty() ? "" : ", ") + machine::precision_word(format);
    }
    std::string notes;
    for (const std::string& note : row.run.prediction.notes) {
      notes += (notes.empty() ? "" : "; ") + note;
    }
    html += fmt::format(
        "<tr><th>{}</th><td class=\"words\">{}</td><td class=\"words\">{}</td><td "
        "class=\"words\">{}</td></tr>",
        page::escaped(row.machine.name), formats, page::escaped(row.machine.family->execution()),
        page::escaped(notes));
  }
  return html + "</tbody></table></div>";
}

std::string unknowns_table(const MachineRow& row) {
  std::string html = fmt::format(
      "<h3>{}</h3><div tabindex=\"0\" class=\"scroll\"><table><thead><tr><th>unknown</th><th>taken "
      "as</th><th>range"
      "</th><th>step, from one end to the other</th><th class=\"words\">status and source</th></tr>"
      "</thead><tbody>",
      page::escaped(row.machine.name));
  for (const machine::UnknownUsed& used : row.run.prediction.unknowns) {
    const machine::Figure& figure = used.unknown.figure;
    html += fmt::format(
        "<tr><th>{}</th><td>{:.4g} {}</td><td>{:.4g} to {:.4g}</td><td>{} to {}</td><td "
        "class=\"words\">{}: {}</td></tr>",
        page::escaped(figure.name), figure.value / figure.unit_scale, page::escaped(figure.unit),
        used.unknown.low / figure.unit_scale, used.unknown.high / figure.unit_scale,
        page::seconds_text(used.step_at_low.modelled_seconds()),
        page::seconds_text(used.step_at_high.modelled_seconds()), to_string(figure.status),
        page::escaped(figure.source));
  }
  return html + "</tbody></table></div>";
}

}  // namespace

std::string machines_page(const std::string& what, const std::vector<MachineRow>& rows) {
  std::string unknowns;
  for (const MachineRow& row : rows) {
    unknowns += predicted(row) ? unknowns_table(row) : "";
  }
  page::Document document;
  document.title = "Machines compared: " + what;
  document.program = "cosmictagger";
  document.style = kStyle;
  document.overline = "Modelled, not measured";
  document.heading = "Where it fits, and how fast it would be";
  document.lead = page::escaped(what);
  document.notices = {
      "Every figure on this page is modelled: it comes from formulas and machine descriptions, and "
      "none was measured. docs/models.md shows how accurate such predictions have been."};
  document.sections = {
      {"speed", "Speed", "Events per second", rates_svg(rows)},
      {"table", "Memory and time", "Memory and time", table(rows)},
      {"abilities", "What they can do", "What the machines can do", abilities_table(rows)},
      {"unknowns", "What it rests on", "What it rests on",
       "<p>Figures that nobody published are parameters with a range; the ranges make up the error "
       "bars.</p>" +
           unknowns}};
  document.footer = "Written by cosmictagger explain --all. A single file; it needs no network.";
  return page::to_html(document);
}

}  // namespace cosmic::report::machines
