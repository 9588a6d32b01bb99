#include "report/profile/profile_page.hpp"

#include <fmt/core.h>

#include "core/config.hpp"
#include "report/page/document.hpp"
#include "report/page/markup.hpp"
#include "report/page/style.hpp"
#include "report/profile/page_sections.hpp"

namespace cosmic::report::profile {
namespace {

constexpr const char* kStyle = R"css(
svg .tensor { fill: var(--hue); stroke: var(--page); stroke-width: 0.5; opacity: 0.85; }
svg .tensor:hover { opacity: 1; stroke: var(--ink); }
svg .live { fill: none; stroke: var(--ink); stroke-width: 1.4; }
)css";

std::string byline(const RunProfile& profile) {
  return fmt::format(
      "{} \xc2\xb7 run {} \xc2\xb7 network {} \xc2\xb7 target {}, {} thread{} \xc2\xb7 {}",
      page::escaped(profile.facts.data), page::escaped(profile.facts.run_id),
      page::escaped(profile.facts.network), page::escaped(profile.machine.target),
      profile.machine.threads, profile.machine.threads == 1 ? "" : "s",
      page::escaped(profile.facts.date));
}

std::vector<std::string> notices(const RunProfile& profile) {
  std::vector<std::string> result;
  if (profile.steps_left_out == 0) {
    result.push_back(
        "The run had only one step. The first step runs with cold caches and memory that the "
        "system has not yet provided; profile a run of several steps for reproducible figures.");
  }
  if (profile.facts.batches_per_step > 1) {
    result.push_back(
        fmt::format("Gradients of {} batches make one update. The figures of ops are those of the "
                    "last batch; the time of a step covers all of them.",
                    profile.facts.batches_per_step));
  }
  return result;
}

}  // namespace

std::string to_page(const RunProfile& profile) {
  const std::string program = "CosmicTagger " + std::string(version);
  page::Document document;
  document.title = "run " + profile.facts.run_id + " \xc2\xb7 CosmicTagger profile";
  document.program = program;
  document.style = std::string(page::share_style()) + kStyle;
  document.overline = fmt::format("CosmicTagger \xc2\xb7 profile \xc2\xb7 every time {}",
                                  to_string(profile.machine.provenance));
  document.heading =
      fmt::format("Where {} spends its time and memory",
                  profile.facts.purpose == session::Purpose::training ? "a training step"
                                                                      : "an inference step");
  document.lead = headline(profile);
  document.byline = byline(profile);
  document.notices = notices(profile);
  document.sections = {
      {"summary", "Summary", "Summary", summary_section(profile)},
      {"time", "Time of the run", "Time of the run", time_section(profile)},
      {"ops", "Ops", "Ops of the step", ops_section(profile)},
      {"layers", "Layers", "Layers", layers_section(profile)},
      {"memory", "Memory", "Memory over the step", memory_section(profile)},
      {"compiler", "Compiler", "Compiler", compiler_section(profile)},
      {"provenance", "Provenance", "Provenance", provenance_section(profile)},
  };
  document.footer = page::written_by(program, std::string(revision), profile.facts.date);
  return page::to_html(document);
}

}  // namespace cosmic::report::profile
