#include "profile/profile_page.hpp"

#include <fmt/core.h>

#include "core/config.hpp"
#include "page/document.hpp"
#include "page/markup.hpp"
#include "profile/page_sections.hpp"

namespace cosmic::profile {
namespace {

// Colours of op kinds and parts of the time: twelve that are told apart in the light and in the
// dark. A cell's bar shows its share.
constexpr const char* kStyle = R"css(
.hue0 { --hue: #1f5fa8; } .hue1 { --hue: #c25705; } .hue2 { --hue: #2c8a57; }
.hue3 { --hue: #8e4ea8; } .hue4 { --hue: #b8860b; } .hue5 { --hue: #c0406a; }
.hue6 { --hue: #2a8c98; } .hue7 { --hue: #7a6a4f; } .hue8 { --hue: #5b6ee1; }
.hue9 { --hue: #6b9a1f; } .hue10 { --hue: #a3554a; } .hue11 { --hue: #8a93a3; }
.parts { display: flex; height: 34px; border-radius: 6px; overflow: hidden; margin: 14px 0 10px; }
.parts span { background: var(--hue); min-width: 1px; }
.dot { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 9px;
  background: var(--hue); }
td.bar { position: relative; min-width: 108px; }
td.bar i { position: absolute; left: 8px; right: auto; bottom: 4px; height: 3px; border-radius: 2px;
  background: var(--first); max-width: calc(100% - 16px); }
.figures table { font-size: 13.5px; width: 100%; }
.figures th, .figures td { padding: 6px 7px; }
.figures tbody th { font-size: 13.5px; }
.figures td.words, .figures th.words { text-align: left; }
.figures td.words { color: var(--soft); }
svg .tensor { fill: var(--hue); stroke: var(--page); stroke-width: 0.5; opacity: 0.85; }
svg .tensor:hover { opacity: 1; stroke: var(--ink); }
svg .peak { stroke: var(--second); stroke-width: 1.2; stroke-dasharray: 4 3; }
svg .halo { paint-order: stroke; stroke: var(--page); stroke-width: 4px; font-weight: 600; }
svg .live { fill: none; stroke: var(--ink); stroke-width: 1.4; }
details { margin: 6px 0 22px; }
summary { cursor: pointer; color: var(--first); font-size: 14.5px; margin-bottom: 8px; }
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
        "The run had one step only. The first step meets cold caches and memory that the system "
        "has yet to give; profile a run of several steps for figures that repeat.");
  }
  if (profile.facts.batches_per_step > 1) {
    result.push_back(fmt::format(
        "Gradients of {} batches make one update. Figures of ops are those of the last of them; "
        "the time of a step is that of all.",
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
  document.style = kStyle;
  document.overline = fmt::format("CosmicTagger \xc2\xb7 profile \xc2\xb7 every time {}",
                                  to_string(profile.machine.provenance));
  document.heading = "Where a training step spends its time and memory";
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

}  // namespace cosmic::profile
