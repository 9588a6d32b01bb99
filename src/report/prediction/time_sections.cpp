// The verdict, what the step's time is spent on, and what passes between host and machine.
#include <fmt/core.h>

#include <algorithm>

#include "machine/family.hpp"
#include "report/page/document.hpp"
#include "report/page/facts.hpp"
#include "report/page/markup.hpp"
#include "report/page/quantity_text.hpp"
#include "report/prediction/marked.hpp"
#include "report/prediction/page_sections.hpp"

namespace cosmic::report::prediction {
namespace {

using machine::Bound;
using machine::Fit;
using machine::MemoryVerdict;
using machine::ModelledTime;
using machine::Prediction;

double step_seconds(const Prediction& prediction) {
  return prediction.step.best.modelled_seconds();
}

double share_of(const Prediction& prediction, Bound bound) {
  return prediction.by_bound[static_cast<std::size_t>(bound)].modelled_seconds() /
         step_seconds(prediction);
}

std::string rate_text(double events, ModelledTime step) {
  return fmt::format("{:.3g}", events / step.modelled_seconds());
}

std::string meaning_of(Bound bound) {
  switch (bound) {
    case Bound::compute:
      return "arithmetic of the matrix and vector units";
    case Bound::memory:
      return "tensors read from and written to the memory beside the units";
    case Bound::exchange:
      return "tensors moving between tiles";
    case Bound::launch:
      return "starting work, and synchronization";
    case Bound::host:
      return "calls from the host, and data that the machine waits for";
    case Bound::link:
      return "gradients between replicas, and what the stages of a pipeline hand on";
  }
  return "";
}

std::string verdict_mark(Fit fit) {
  return fmt::format("<span class=\"bar-mark {}\">{} (modelled)</span>",
                     likely(fit) ? "reached" : "missed", machine::to_string(fit));
}

}  // namespace

std::string headline(const PredictionReport& report) {
  const Prediction& p = report.prediction;
  const MemoryVerdict& memory = p.memory;
  return fmt::format(
      "It <b>{}</b>: {} needs {} of {}. A step would take <b>{}</b>, most of it {} ({}).",
      machine::to_string(memory.fits), page::escaped(memory.place), modelled(memory.needed),
      given(page::quantity_text(memory.available.modelled_bytes(), "B")), modelled(p.step.best),
      machine::to_string(p.bound), modelled_share(share_of(p, p.bound)));
}

std::string summary_section(const PredictionReport& report) {
  const Prediction& p = report.prediction;
  const MemoryVerdict& memory = p.memory;
  const auto bytes = [](machine::ModelledBytes b) {
    return page::quantity_text(b.modelled_bytes(), "B");
  };
  double flops = 0;
  for (const machine::OpTime& op : p.ops) {
    flops += op.flops;
  }
  std::string html = "<div class=\"cards\">";
  html += page::card("Memory",
                     modelled(memory.needed) + " " +
                         error_bar(bytes(memory.needed_low), bytes(memory.needed_high)),
                     fmt::format("in {}, which has {}.", page::escaped(memory.place),
                                 given(bytes(memory.available))),
                     verdict_mark(memory.fits));
  html +=
      page::card("Time of a step", modelled(p.step),
                 fmt::format("for {} event{} on {} machine{}.", report.events,
                             report.events == 1 ? "" : "s", p.options.replicas * p.options.pipeline,
                             p.options.replicas * p.options.pipeline == 1 ? "" : "s"));
  html += page::card(
      "Events per second",
      modelled(rate_text(report.events, p.step.best)) + " " +
          error_bar(rate_text(report.events, p.step.high), rate_text(report.events, p.step.low)),
      "if the next batch is always ready.");
  html += page::card("What bounds it", machine::to_string(p.bound),
                     fmt::format("{} of the step: {}.", modelled_share(share_of(p, p.bound)),
                                 meaning_of(p.bound)));
  html += page::card(
      "Arithmetic",
      modelled(page::quantity_text(flops * p.options.replicas / step_seconds(p), "FLOP/s")),
      fmt::format("over the whole step, by the ops\xe2\x80\x99 own count of {}.",
                  given(page::quantity_text(flops, "FLOP"))));
  html += page::card(
      "Peak of live memory",
      modelled(p.program_memory.over_program.empty()
                   ? machine::ModelledBytes()
                   : p.program_memory.over_program[p.program_memory.peak_at]),
      fmt::format(
          "of activations and gradients at once, in addition to {} of weights and other states.",
          modelled(p.program_memory.always_live)));
  return html + "</div>";
}

std::string bounds_section(const PredictionReport& report) {
  const Prediction& p = report.prediction;
  std::string bar = "<div class=\"parts\" role=\"img\" aria-label=\"Parts of a step\">";
  std::string rows;
  for (std::size_t i = 0; i < machine::kBounds; ++i) {
    const auto bound = static_cast<Bound>(i);
    const double share = share_of(p, bound);
    if (share <= 0) {
      continue;
    }
    bar += fmt::format("<span class=\"hue{}\" style=\"width:{:.3f}%\"></span>", i, 100 * share);
    rows += fmt::format(
        "<tr><th scope=\"row\"><span class=\"dot hue{}\"></span>{}</th><td>{}</td><td>{}</td><td "
        "class=\"words\">{}</td></tr>",
        i, machine::to_string(bound), modelled(p.by_bound[i]), modelled_share(share, 1),
        meaning_of(bound));
  }
  return bar + "</div>" +
         fmt::format(
             "<div tabindex=\"0\" class=\"scroll figures\"><table><thead><tr><th "
             "scope=\"col\">spent on</th><th "
             "scope=\"col\">time</th><th scope=\"col\">share</th><th scope=\"col\" "
             "class=\"words\">meaning</th></tr></thead><tbody>{}<tr class=\"total\"><th "
             "scope=\"row\">step</th><td>{}</td><td>{}</td><td class=\"words\">error bar {}</td>"
             "</tr></tbody></table></div>",
             rows, modelled(p.step.best), modelled_share(1, 1),
             error_bar(page::seconds_text(p.step.low.modelled_seconds()),
                       page::seconds_text(p.step.high.modelled_seconds())));
}

std::string host_section(const PredictionReport& report) {
  const Prediction& p = report.prediction;
  const machine::ExecutionOptions& options = p.options;
  page::FactList facts;
  const bool on_machine = options.host_data == machine::HostData::synthetic;
  facts.add("Data of a run", on_machine ? "made on the machine; nothing comes from the host"
                                        : modelled(p.input) + " from the host to each replica");
  facts.add(
      "Runs of the program",
      fmt::format("{} for each update, {} for each call from the host",
                  given(page::count_text(options.accumulation)),
                  given(page::count_text(static_cast<std::int64_t>(options.iterations_per_call) *
                                         options.accumulation))));
  facts.add("Launches",
            fmt::format("{} in a run: supersteps, recipes, sections or kernels, by the "
                        "machine\xe2\x80\x99s kind",
                        modelled(page::count_text(static_cast<std::int64_t>(p.launches)))));
  const auto part = [&](Bound bound) {
    return fmt::format("{} of each step, {}", modelled(p.by_bound[static_cast<std::size_t>(bound)]),
                       modelled_share(share_of(p, bound), 1));
  };
  facts.add("Time on the host and its link", part(Bound::host));
  facts.add("Time of launches", part(Bound::launch));
  if (p.gradients.modelled_bytes() > 0) {
    facts.add("Gradients to agree on",
              modelled(p.gradients) + " an update" +
                  (options.replicas > 1 && options.pipeline == 1 ? "; " + part(Bound::link)
                   : options.replicas > 1                        ? ""
                                          : "; one replica needs not agree"));
  }
  if (!p.statistics.empty() && options.replicas > 1) {
    double bytes = 0;
    for (const machine::ModelledBytes one : p.statistics) {
      bytes += one.modelled_bytes();
    }
    facts.add("Batch statistics to agree on",
              fmt::format("{} of {} layers, forwards and backwards, in every run",
                          modelled(machine::ModelledBytes(bytes)),
                          given(page::count_text(static_cast<std::int64_t>(p.statistics.size())))));
  }
  if (options.pipeline > 1) {
    facts.add("Links", part(Bound::link) + ": what stages hand on" +
                           (options.replicas > 1 ? ", and gradients between replicas" : ""));
  }
  return facts.html();
}

}  // namespace cosmic::report::prediction
