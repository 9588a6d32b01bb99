// What the prediction rests on: unknowns with their ranges, figures with their sources, and who
// made the page.
#include <fmt/core.h>

#include <algorithm>

#include "core/config.hpp"
#include "machine/family.hpp"
#include "report/page/facts.hpp"
#include "report/page/markup.hpp"
#include "report/page/quantity_text.hpp"
#include "report/prediction/marked.hpp"
#include "report/prediction/page_sections.hpp"

namespace cosmic::report::prediction {
namespace {

using machine::Figure;
using machine::ModelledTime;
using machine::Prediction;
using machine::UnknownUsed;

std::string in_unit(const Figure& figure, double value) {
  return fmt::format("{:.4g}", value / figure.unit_scale);
}

/// One below the other, or a dash where they are the same.
template <class Modelled>
std::string ends_text(Modelled low, Modelled high) {
  return low == high ? "\xe2\x80\x93" : modelled(low) + "<br/>" + modelled(high);
}

/// How far the ends of an unknown move the step, as a line around its best value.
class Swing {
 public:
  explicit Swing(const Prediction& p)
      : best_(p.step.best.modelled_seconds()), least_(best_), most_(best_) {
    for (const UnknownUsed& used : p.unknowns) {
      const auto [low, high] = ends(used);
      least_ = std::min(least_, low);
      most_ = std::max(most_, high);
    }
  }

  double width(const UnknownUsed& used) const {
    const auto [low, high] = ends(used);
    return high - low;
  }

  std::string drawn(const UnknownUsed& used) const {
    const auto [low, high] = ends(used);
    return fmt::format(
        "<div class=\"swing\"><i style=\"left:{:.1f}%;width:{:.1f}%\"></i><b "
        "style=\"left:{:.1f}%\">"
        "</b></div>",
        share(low), share(high) - share(low), share(best_));
  }

 private:
  std::pair<double, double> ends(const UnknownUsed& used) const {
    return std::minmax(
        {used.step_at_low.modelled_seconds(), used.step_at_high.modelled_seconds(), best_});
  }
  double share(double seconds) const {
    return most_ > least_ ? 100 * (seconds - least_) / (most_ - least_) : 50;
  }

  double best_;
  double least_;
  double most_;
};

}  // namespace

std::string unknowns_section(const PredictionReport& report) {
  const Prediction& p = report.prediction;
  const Swing swing(p);
  std::vector<UnknownUsed> unknowns = p.unknowns;
  std::stable_sort(
      unknowns.begin(), unknowns.end(),
      [&](const UnknownUsed& a, const UnknownUsed& b) { return swing.width(a) > swing.width(b); });
  std::string html =
      "<p>Not known exactly: each has a default and a range. The line shows how long a step would "
      "take at the ends of the range, with everything else at its default; the mark is the "
      "prediction. A dash means that it makes no difference here. Together with the past error of "
      "the formulas, these ranges make up the error bars.</p>"
      "<div tabindex=\"0\" class=\"scroll figures\"><table><thead><tr><th "
      "scope=\"col\">unknown</th><th "
      "scope=\"col\">default, range</th><th scope=\"col\" class=\"words\">known</th><th "
      "scope=\"col\">step at its ends</th><th scope=\"col\"></th><th scope=\"col\">memory at its "
      "ends</th><th scope=\"col\" class=\"words\">source</th></tr></thead><tbody>";
  for (const UnknownUsed& used : unknowns) {
    const Figure& figure = used.unknown.figure;
    html += fmt::format(
        "<tr><th scope=\"row\"><code>{}</code></th><td>{}<br/>{}</td><td class=\"words\">{}</td>"
        "<td>{}</td><td class=\"swings\">{}</td><td>{}</td><td class=\"words source\">{}</td></tr>",
        page::escaped(figure.name),
        given(in_unit(figure, figure.value) + " " + page::escaped(figure.unit)),
        given("<span class=\"error\">" + in_unit(figure, used.unknown.low) + " to " +
              in_unit(figure, used.unknown.high) + "</span>"),
        to_string(figure.status), ends_text(used.step_at_low, used.step_at_high),
        swing.width(used) > 0 ? swing.drawn(used) : std::string(),
        ends_text(used.needed_at_low, used.needed_at_high), given(page::escaped(figure.source)));
  }
  return html + "</tbody></table></div>";
}

std::string figures_section(const PredictionReport& report) {
  std::string html =
      "<p>The figures of the machine's description, with their sources. They are given, not "
      "modelled.</p><details><summary>All figures of the description</summary>"
      "<div tabindex=\"0\" class=\"scroll figures\"><table><thead><tr><th "
      "scope=\"col\">figure</th><th "
      "scope=\"col\">value</th><th scope=\"col\" class=\"words\">known</th><th scope=\"col\" "
      "class=\"words\">source</th></tr></thead><tbody>";
  for (const Figure& figure : report.machine.figures) {
    html += fmt::format(
        "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td class=\"words\">{}</td><td "
        "class=\"words source\">{}</td></tr>",
        page::escaped(figure.name),
        given(in_unit(figure, figure.value) + " " + page::escaped(figure.unit)),
        to_string(figure.status), given(page::escaped(figure.source)));
  }
  return html + "</tbody></table></div></details>";
}

std::string provenance_section(const PredictionReport& report) {
  page::FactList facts;
  facts.add("Every figure",
            "modelled: computed from the program and the machine\xe2\x80\x99s "
            "description; nothing was run on the machine");
  facts.add("Program", fmt::format("CosmicTagger {}, revision <code>{}</code>",
                                   page::escaped(version), page::escaped(revision)));
  facts.add("Date", page::escaped(report.date));
  facts.add("Machine",
            fmt::format("{} ({}), formulas of the family {}", page::escaped(report.machine.name),
                        given(page::escaped(report.machine.about)),
                        page::escaped(report.machine.family->name())));
  facts.add("Run", page::escaped(report.what_runs));
  return facts.html() + (report.configuration.empty()
                             ? ""
                             : page::configuration_listing(report.configuration, "given"));
}

}  // namespace cosmic::report::prediction
