#include "machine/explanation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "machine/family.hpp"

namespace cosmic::machine {
namespace {

constexpr std::size_t kOpsShown = 6;
constexpr std::size_t kTensorsShown = 5;
constexpr double kWorthSaying = 0.005;  // of a step

std::string milliseconds(ModelledTime time) {
  return fmt::format("{:.3g} ms", time.modelled_seconds() * 1e3);
}

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

/// What the speed of a run depends on, its verdict said before.
std::string_view condition(Fit fit) {
  constexpr std::array<std::string_view, 4> texts{"", " if it does", " if it did", " if it did"};
  return texts.at(static_cast<std::size_t>(fit));
}

std::string verdict_text(const ExplainedRun& explained) {
  const Prediction& p = explained.run.prediction;
  return fmt::format(
      "In short: it {}; {:.3g} events/s{} (error bar {:.3g} to {:.3g}); most of a step is {}.\n",
      to_string(p.memory.fits), explained.run.modelled_events(), condition(p.memory.fits),
      explained.run.events / p.step.high.modelled_seconds(),
      explained.run.events / p.step.low.modelled_seconds(), to_string(p.bound));
}

std::string support_text(const Description& machine, const Prediction& prediction) {
  std::map<std::string, int> ops;
  for (const OpTime& op : prediction.ops) {
    ++ops[op.op];
  }
  std::string text = "What it can do\n" + abilities(machine);
  text += fmt::format(
      "  ops        {} ops of {} kinds, each with a formula; whether the vendor's compiler "
      "accepts\n             them as written was not tested\n",
      prediction.ops.size(), ops.size());
  text += "  software   " + prediction.stack + "\n";
  if (machine.stacks.size() > 1) {
    text += "             others of its description (--stack):";
    for (std::size_t i = 1; i < machine.stacks.size(); ++i) {
      text += (i == 1 ? " " : ", ") + machine.stacks[i].name;
    }
    text += "\n";
  }
  for (const std::string& note : prediction.notes) {
    text += "  this run   " + note + "\n";
  }
  if (prediction.compilations > 0) {
    text += fmt::format(
        "  compiling  {} compilations before the first step, {:.3g} s (assumed, modelled)\n",
        prediction.compilations, prediction.compiling.modelled_seconds());
  }
  return text;
}

std::string memory_text(const MemoryVerdict& memory) {
  std::string text = fmt::format("Memory: it {}: {} needs {} (modelled, {} to {}) of {}.\n",
                                 to_string(memory.fits), memory.place, short_text(memory.needed),
                                 short_text(memory.needed_low), short_text(memory.needed_high),
                                 short_text(memory.available));
  text += fmt::format(
      "  states (always live) {}; activations and gradients at their peak {}; temporaries of an op "
      "{};\n  code and other overhead {}\n",
      short_text(memory.always_live), short_text(memory.transient), short_text(memory.temporary),
      short_text(memory.overhead));
  text += "  largest tensors of the program there:\n";
  for (std::size_t i = 0; i < std::min(kTensorsShown, memory.largest.size()); ++i) {
    const LargeTensor& tensor = memory.largest[i];
    text += fmt::format("    {:>9}  {} ({})\n", short_text(tensor.bytes), tensor.layer, tensor.op);
  }
  return text;
}

std::string longest_text(const Prediction& prediction) {
  std::map<std::string, double> by_layer;
  for (const OpTime& op : prediction.ops) {
    by_layer[op.layer + " (" + op.op + ")"] += op.time.modelled_seconds();
  }
  std::vector<std::pair<std::string, double>> longest(by_layer.begin(), by_layer.end());
  std::stable_sort(longest.begin(), longest.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  longest.resize(std::min(longest.size(), kOpsShown));
  std::string text = "  slowest layers:\n";
  for (const auto& [name, seconds] : longest) {
    text += fmt::format("    {:>9}  {}\n", milliseconds(ModelledTime(seconds)), name);
  }
  return text;
}

std::string step_text(const ExplainedRun& explained) {
  const Prediction& prediction = explained.run.prediction;
  const double step = prediction.step.best.modelled_seconds();
  std::string text = fmt::format(
      "Time: a step takes {}, {:.4g} events/s (modelled). Most of it is {}.\n ",
      to_string(prediction.step), explained.run.modelled_events(), to_string(prediction.bound));
  for (std::size_t i = 0; i < kBounds; ++i) {
    const double share = prediction.by_bound[i].modelled_seconds() / step;
    if (share >= kWorthSaying) {
      text += fmt::format(" {} {}", to_string(static_cast<Bound>(i)), percent(share));
    }
  }
  return text + fmt::format("; {} launches\n", prediction.launches) + longest_text(prediction);
}

std::string changes_text(const ExplainedRun& explained) {
  if (explained.changes.empty()) {
    return "";
  }
  std::string text =
      "What would change it (one at a time)\n  " + remedy(explained.run.prediction.bound) + "\n";
  const double now = explained.run.modelled_events();
  for (const ComparedRun& change : explained.changes) {
    const MemoryVerdict& memory = change.prediction.memory;
    const double gain = change.modelled_events() / now - 1;
    text += fmt::format("    {:<44} {:>6} events/s ({:+.0f} %), {} needs {}, {}\n", change.label,
                        fmt::format("{:.3g}", change.modelled_events()), 100 * gain, memory.place,
                        short_text(memory.needed), to_string(memory.fits));
  }
  return text;
}

/// Where it changes what is needed.
std::string memory_ends(const UnknownUsed& used) {
  return used.needed_at_low == used.needed_at_high
             ? ""
             : fmt::format(", memory {} to {}", short_text(used.needed_at_low),
                           short_text(used.needed_at_high));
}

std::string unknowns_text(const Prediction& prediction) {
  std::string text =
      "What it rests on (not known exactly; past errors and these ranges make up the error bar):\n";
  text += fmt::format(
      "  past errors   {}\n                {}\n",
      to_string(prediction.past_error, prediction.trains ? Judged::training : Judged::inference),
      to_string(prediction.past_memory_error, Judged::memory));
  for (const UnknownUsed& used : prediction.unknowns) {
    const Figure& figure = used.unknown.figure;
    const auto written = [&](double value) {
      return fmt::format("{:.4g}", value / figure.unit_scale);
    };
    text +=
        fmt::format("  {:<23} {:<26} {:<10}  step {} to {}{}; {}\n", figure.name,
                    fmt::format("{} ({} to {}) {}", written(figure.value),
                                written(used.unknown.low), written(used.unknown.high), figure.unit),
                    to_string(figure.status), milliseconds(used.step_at_low),
                    milliseconds(used.step_at_high), memory_ends(used), figure.source);
  }
  return text;
}

}  // namespace

double ComparedRun::modelled_events() const {
  return events / prediction.step.best.modelled_seconds();
}

std::string short_text(ModelledBytes bytes) {
  const double value = bytes.modelled_bytes();
  return value >= 1e12  ? fmt::format("{:.2f} TB", value / 1e12)
         : value >= 1e9 ? fmt::format("{:.2f} GB", value / 1e9)
         : value >= 1e6 ? fmt::format("{:.1f} MB", value / 1e6)
                        : fmt::format("{:.0f} kB", value / 1e3);
}

std::string abilities(const Description& machine) {
  std::string formats;
  for (const NumberFormat format : machine.family->formats()) {
    formats += (formats.empty() ? "" : ", ") + precision_word(format);
  }
  return fmt::format("  formats    {} (run.precision)\n  execution  {}\n", formats,
                     machine.family->execution());
}

std::string remedy(Bound bound) {
  constexpr std::array<std::string_view, kBounds> texts{
      "Limited by arithmetic: fewer bits or more machines help, a larger batch only where units "
      "are idle.",
      "Limited by memory traffic: fewer bits and fusion help, faster arithmetic does not.",
      "Limited by exchange between tiles: more work per tile helps, so use a larger batch.",
      "Limited by launches: more work per launch helps, so use a larger batch or fusion.",
      "Limited by the host: more iterations per call help, or data closer to the machine.",
      "Limited by links between machines: fewer updates (gradient accumulation) help against the "
      "exchange of gradients, fewer stages against what a pipeline hands on.",
  };
  return std::string(texts.at(static_cast<std::size_t>(bound)));
}

std::string explanation(const Description& machine, const ExplainedRun& explained) {
  const Prediction& prediction = explained.run.prediction;
  std::string text =
      fmt::format("{} ({}): {}\nEvery figure below is modelled, none is measured.\n\n",
                  machine.name, machine.about, explained.what) +
      verdict_text(explained) + "\n" + support_text(machine, prediction) + "\n" +
      memory_text(prediction.memory) + "\n" + step_text(explained) + "\n";
  const std::string changes = changes_text(explained);
  return text + changes + (changes.empty() ? "" : "\n") + unknowns_text(prediction);
}

std::string comparison(const std::string& first_column, const std::vector<ComparedRun>& runs) {
  std::size_t width = first_column.size();
  for (const ComparedRun& run : runs) {
    width = std::max(width, run.label.size());
  }
  const auto row = [&](const std::string& label, const std::string& fit, const std::string& needs,
                       const std::string& step, const std::string& error, const std::string& speed,
                       const std::string& bound) {
    return fmt::format("{:<{}}  {:<21} {:>21} {:>12} {:>24} {:>10}  {}\n", label, width, fit, needs,
                       step, error, speed, bound);
  };
  std::string text =
      "Every figure of this table is modelled, none is measured.\n\n" +
      row(first_column, "memory", "needs, of", "step", "error bar", "events/s", "bound by");
  for (const ComparedRun& run : runs) {
    if (!run.refused.empty()) {
      text += fmt::format("{:<{}}  {}\n", run.label, width, run.refused);
      continue;
    }
    const Prediction& p = run.prediction;
    text += row(
        run.label, to_string(p.memory.fits),
        short_text(p.memory.needed) + ", " + short_text(p.memory.available),
        milliseconds(p.step.best),
        fmt::format("{:.3g} to {}", p.step.low.modelled_seconds() * 1e3, milliseconds(p.step.high)),
        fmt::format("{:.4g}", run.modelled_events()), to_string(p.bound));
  }
  return text;
}

}  // namespace cosmic::machine
