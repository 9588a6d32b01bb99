// The top of the page, and the parts that are about time as a whole: of the run and of compiling.
#include <fmt/core.h>

#include <algorithm>

#include "core/config.hpp"
#include "report/page/document.hpp"
#include "report/page/facts.hpp"
#include "report/page/markup.hpp"
#include "report/page/quantity_text.hpp"
#include "report/profile/hues.hpp"
#include "report/profile/page_sections.hpp"

namespace cosmic::report::profile {
namespace {

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

std::string of_peak(double value, double peak) {
  return page::percent_text(share(value, peak), 0);
}

/// Slices of a bar as wide as their share, and a table below.
std::string parts_bar(const std::vector<TimeShare>& parts, double whole) {
  std::string html = "<div class=\"parts\" role=\"img\" aria-label=\"Parts of the time\">";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    html += fmt::format("<span class=\"{}\" style=\"width:{:.3f}%\" title=\"{}: {}\"></span>",
                        Hues::name(i), 100 * share(parts[i].seconds, whole),
                        page::escaped(parts[i].what), page::seconds_text(parts[i].seconds));
  }
  return html + "</div>";
}

std::string parts_table(const std::vector<TimeShare>& parts, double whole) {
  std::string html =
      "<div tabindex=\"0\" class=\"scroll\"><table><thead><tr><th scope=\"col\">part</th><th "
      "scope=\"col\">time</th><th scope=\"col\">share</th></tr></thead><tbody>";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    html += fmt::format(
        "<tr><th scope=\"row\"><span class=\"dot {}\"></span>{}</th><td>{}</td><td>{}</td></tr>",
        Hues::name(i), page::escaped(parts[i].what), page::seconds_text(parts[i].seconds),
        page::percent_text(share(parts[i].seconds, whole)));
  }
  return html + fmt::format(
                    "<tr class=\"total\"><th scope=\"row\">whole</th><td>{}</td><td>{}</td></tr>"
                    "</tbody></table></div>",
                    page::seconds_text(whole), page::percent_text(1));
}

}  // namespace

std::string headline(const RunProfile& profile) {
  const std::vector<OpProfile> kinds = by_op(profile.ops);
  const OpProfile all = total(profile.ops);
  std::string text =
      fmt::format("One step takes <b>{}</b>", page::seconds_text(profile.call_seconds));
  if (!kinds.empty()) {
    text +=
        fmt::format(", {} of it in <code>{}</code>; it does {} at {}",
                    page::percent_text(share(kinds.front().seconds, profile.call_seconds), 0),
                    page::escaped(kinds.front().op), page::quantity_text(all.cost.flops, "FLOP"),
                    page::quantity_text(share(all.cost.flops, profile.call_seconds), "FLOP/s"));
  }
  return text +
         fmt::format(" and has at most {} alive.",
                     page::quantity_text(static_cast<double>(profile.memory.peak_live_bytes), "B"));
}

std::string summary_section(const RunProfile& profile) {
  const OpProfile all = total(profile.ops);
  const auto events =
      static_cast<double>(profile.facts.events_per_batch * profile.facts.batches_per_step);
  const double outside = profile.whole_seconds;
  double in_program = 0;
  for (const TimeShare& part : profile.time) {
    if (part.what == kInsideProgram) {
      in_program = part.seconds;
    }
  }
  std::string html = "<div class=\"cards\">";
  html += page::card(
      "Time of a step", page::seconds_text(profile.call_seconds),
      fmt::format("mean of {} steps{}; {} of it in ops.", page::count_text(profile.steps),
                  profile.steps_left_out > 0 ? ", without the first" : "",
                  page::percent_text(share(all.seconds, profile.call_seconds))));
  html += page::card("Events", page::quantity_text(share(events, profile.call_seconds), "/s"),
                     fmt::format("that the program alone would reach, at {} per step.",
                                 page::count_text(static_cast<std::int64_t>(events))));
  html += page::card("Time outside the program",
                     page::percent_text(share(outside - in_program, outside)),
                     "of the run: compiling, waiting for data, copies, logs, files.");
  const double flops = all.flops_per_second();
  const double bytes = all.bytes_per_second();
  const std::optional<target::Peak>& peak = profile.machine.peak;
  html += page::card(
      "Arithmetic", page::quantity_text(flops, "FLOP/s"),
      "while steps run, by the ops\xe2\x80\x99 own count" +
          (peak ? fmt::format("; {} of the {} that the machine reaches in registers ({}).",
                              of_peak(flops, peak->flops_per_second),
                              page::quantity_text(peak->flops_per_second, "FLOP/s"),
                              page::escaped(origin_of_peak(profile.machine)))
                : std::string(".")));
  html += page::card("Tensors read and written", page::quantity_text(bytes, "B/s"),
                     "each operand and result counted once" +
                         (peak ? fmt::format("; memory moves {} ({}).",
                                             page::quantity_text(peak->bytes_per_second, "B/s"),
                                             page::escaped(origin_of_peak(profile.machine)))
                               : std::string(".")));
  html += page::card(
      "Memory", page::quantity_text(static_cast<double>(profile.compiled.memory_bytes), "B"),
      fmt::format("needed to run: an arena of {} for at most {} alive at once, scratch, and "
                  "weights in the kernels\xe2\x80\x99 order.",
                  page::quantity_text(static_cast<double>(profile.memory.arena_bytes), "B"),
                  page::quantity_text(static_cast<double>(profile.memory.peak_live_bytes), "B")));
  return html + "</div>";
}

std::string time_section(const RunProfile& profile) {
  return fmt::format(
             "<p>From the start of the run to the writing of this page, {} of wall-clock time. "
             "Everything but the first row happens outside the program\xe2\x80\x99s ops.</p>",
             page::seconds_text(profile.whole_seconds)) +
         parts_bar(profile.time, profile.whole_seconds) +
         parts_table(profile.time, profile.whole_seconds);
}

std::string compiler_section(const RunProfile& profile) {
  const session::CompileReport& compiled = profile.compiled;
  double rest = compiled.seconds - compiled.planning_seconds - compiled.kernels_seconds;
  double longest = std::max(compiled.planning_seconds, compiled.kernels_seconds);
  for (const compile::PassReport& pass : compiled.passes) {
    rest -= pass.seconds;
    longest = std::max(longest, pass.seconds);
  }
  longest = std::max(longest, rest);
  std::string html = fmt::format(
      "<p>Compiling the network into {} nodes in execution order, with their memory and kernels, "
      "took {}.</p>"
      "<div tabindex=\"0\" class=\"scroll figures\"><table><thead><tr><th "
      "scope=\"col\">pass</th><th "
      "scope=\"col\">time</th><th scope=\"col\">nodes after it</th></tr></thead><tbody>",
      page::count_text(static_cast<std::int64_t>(compiled.nodes)),
      page::seconds_text(compiled.seconds));
  const auto row = [&](const std::string& name, double seconds, const std::string& nodes) {
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"bar\">{}<i style=\"width:{:.1f}%\"></i></td><td>"
        "{}</td></tr>",
        name, page::seconds_text(seconds), 100 * share(seconds, longest), nodes);
  };
  for (const compile::PassReport& pass : compiled.passes) {
    row("<code>" + page::escaped(pass.name) + "</code>", pass.seconds,
        page::count_text(static_cast<std::int64_t>(pass.nodes)));
  }
  row("placing values in the arena", compiled.planning_seconds, "");
  row("choosing and preparing kernels", compiled.kernels_seconds, "");
  row("building the program, checking it after each pass, initial values of the state", rest, "");
  return html + "</tbody></table></div>";
}

std::string provenance_section(const RunProfile& profile) {
  page::FactList facts;
  const std::string provenance = to_string(profile.machine.provenance);
  facts.add("Program", fmt::format("CosmicTagger {}, revision <code>{}</code>",
                                   page::escaped(version), page::escaped(revision)));
  facts.add("Date", page::escaped(profile.facts.date));
  facts.add("Target",
            fmt::format("{}, {} threads; all times are {}", page::escaped(profile.machine.target),
                        profile.machine.threads, provenance));
  facts.add("Network", page::escaped(profile.facts.network));
  facts.add("Data", page::escaped(profile.facts.data));
  facts.add("Batch", "<code>" + page::escaped(profile.facts.batch) + "</code>");
  if (profile.machine.peak) {
    facts.add("Peak of the machine",
              fmt::format("{} and {}, {}; asked for right after the run, with the same threads",
                          page::quantity_text(profile.machine.peak->flops_per_second, "FLOP/s"),
                          page::quantity_text(profile.machine.peak->bytes_per_second, "B/s"),
                          page::escaped(origin_of_peak(profile.machine))));
  }
  facts.add("Memory", "computed by the compiler when it placed every tensor; the run keeps to it");
  return facts.html() + page::configuration_listing(profile.facts.configuration);
}

}  // namespace cosmic::report::profile
