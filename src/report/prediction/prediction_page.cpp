#include "report/prediction/prediction_page.hpp"

#include <fmt/core.h>

#include "core/config.hpp"
#include "report/page/document.hpp"
#include "report/page/markup.hpp"
#include "report/page/style.hpp"
#include "report/prediction/marked.hpp"
#include "report/prediction/page_sections.hpp"

namespace cosmic::report::prediction {
namespace {

constexpr const char* kStyle = R"css(
.modelled { text-decoration: underline dotted; text-decoration-thickness: 1px;
  text-underline-offset: 0.18em; text-decoration-color: var(--soft); white-space: nowrap; }
.card .figure .modelled { text-decoration: none; }
.error.modelled { text-decoration: none; }
.card .figure { font-size: 34px; }
.parts.outlined { outline: 1px solid var(--line); background: var(--raised); }
td.bar.sorted i { background: var(--second); height: 4px; }
td.bar { min-width: 92px; padding-bottom: 11px; }
svg .stack { fill: var(--hue); opacity: 0.85; }
svg .limit { stroke: var(--ink); stroke-width: 1.4; }
svg .modelled, svg .given { text-decoration: none; }
svg .slot { fill: var(--hue); }
svg .idle { fill: var(--raised); stroke: var(--line); stroke-width: 0.6; }
svg .slot-number { fill: #ffffff; font-size: 11px; }
.swatch.idle { background: var(--raised); }
.orders { margin: 12px 0 0; }
.orders input { position: absolute; opacity: 0; }
.orders label { display: inline-block; padding: 5px 14px; margin: 0 8px 8px 0; cursor: pointer;
  border: 1px solid var(--line); border-radius: 20px; font-size: 14px; color: var(--first); }
.orders input:checked + label { background: var(--first); border-color: var(--first);
  color: var(--page); }
.orders input:focus-visible + label { outline: 2px solid var(--second); }
.orders .order { display: none; }
#by-time:checked ~ .by-time, #by-memory:checked ~ .by-memory, #by-traffic:checked ~ .by-traffic,
#by-flops:checked ~ .by-flops { display: block; }
figcaption + p, figure + p { margin-top: 18px; }
.swings { min-width: 150px; }
.swing { position: relative; height: 14px; }
.swing i { position: absolute; top: 5px; height: 4px; min-width: 2px; border-radius: 2px;
  background: var(--first); }
.swing b { position: absolute; top: 1px; width: 2px; height: 12px; background: var(--second); }
th.wrapped { white-space: normal; overflow-wrap: anywhere; }
td.source { white-space: normal; min-width: 260px; }
)css";

}  // namespace

std::string to_page(const PredictionReport& report) {
  const std::string program = "CosmicTagger " + std::string(version);
  page::Document document;
  document.title = report.machine.name + " \xc2\xb7 CosmicTagger prediction";
  document.program = program;
  document.style = std::string(page::share_style()) + kStyle;
  document.overline = "CosmicTagger \xc2\xb7 profile of a modelled run";
  document.heading = fmt::format("Would it fit on {}, and how fast would it be?",
                                 page::escaped(report.machine.name));
  document.lead = headline(report);
  document.byline =
      fmt::format("{} \xc2\xb7 {} \xc2\xb7 {}", page::escaped(report.what_runs),
                  given(page::escaped(report.machine.about)), page::escaped(report.date));
  document.notices = {
      fmt::format("Every figure on this page is modelled, none is measured. Results of formulas "
                  "are preceded by {}and have a dotted underline; error bars are next to them.",
                  kModelledSign)};
  document.sections = {
      {"summary", "Summary", "Summary", summary_section(report)},
      {"bounds", "What bounds it", "What bounds it", bounds_section(report)},
      {"memory", "Memory", "Memory", memory_section(report)},
      {"liveness", "Liveness", "Liveness over the program", liveness_section(report)},
      {"ops", "Operations", "Operations", ops_section(report)},
      {"pipeline", "Pipeline", "Pipeline", pipeline_section(report)},
      {"host", "Host", "Host calls and data", host_section(report)},
      {"scaling", "Scaling", "More machines", scaling_section(report)},
      {"unknowns", "What it rests on", "What it rests on", unknowns_section(report)},
      {"figures", "The machine", "The machine", figures_section(report)},
      {"provenance", "Provenance", "Provenance", provenance_section(report)},
  };
  document.footer = page::written_by(program, std::string(revision), report.date);
  return page::to_html(document);
}

}  // namespace cosmic::report::prediction
