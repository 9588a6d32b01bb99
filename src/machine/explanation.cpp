#include "machine/explanation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace cosmic::machine {
namespace {

constexpr std::size_t kOpsShown = 6;
constexpr std::size_t kTensorsShown = 4;
constexpr double kWorthSaying = 0.005;  // of a step

/// Numbers of this page stand under a heading that says that all of them are modelled.
std::string bytes_text(ModelledBytes bytes) {
  const double value = bytes.modelled_bytes();
  return value >= 1e9   ? fmt::format("{:.2f} GB", value / 1e9)
         : value >= 1e6 ? fmt::format("{:.1f} MB", value / 1e6)
                        : fmt::format("{:.0f} kB", value / 1e3);
}

std::string milliseconds(ModelledTime time) {
  return fmt::format("{:.3g} ms", time.modelled_seconds() * 1e3);
}

std::string memory_text(const MemoryVerdict& memory) {
  std::string text = fmt::format("Memory: it {}: {} needs {} (modelled, {} to {}) of {}.\n",
                                 to_string(memory.fits), memory.place, bytes_text(memory.needed),
                                 bytes_text(memory.needed_low), bytes_text(memory.needed_high),
                                 bytes_text(memory.available));
  text += fmt::format(
      "  states, always live {}; activations and gradients at their peak {}; temporaries of an op "
      "{};\n  code and the like {}\n",
      bytes_text(memory.always_live), bytes_text(memory.transient), bytes_text(memory.temporary),
      bytes_text(memory.overhead));
  text += "  largest tensors of the whole program there:\n";
  for (std::size_t i = 0; i < std::min(kTensorsShown, memory.largest.size()); ++i) {
    const LargeTensor& tensor = memory.largest[i];
    text += fmt::format("    {:>9}  {} ({})\n", bytes_text(tensor.bytes), tensor.layer, tensor.op);
  }
  return text;
}

std::string step_text(const Prediction& prediction, const ExplainedRun& run) {
  const double step = prediction.step.best.modelled_seconds();
  std::string text =
      fmt::format("Time: a step takes {}, {:.4g} events/s (modelled). Most of it is {}.\n ",
                  to_string(prediction.step), run.events / step, to_string(prediction.bound));
  for (std::size_t i = 0; i < kBounds; ++i) {
    const double share = prediction.by_bound[i].modelled_seconds() / step;
    if (share >= kWorthSaying) {
      text += fmt::format(" {} {:.0f} %", to_string(static_cast<Bound>(i)), 100 * share);
    }
  }
  text += fmt::format("; {} launches\n", prediction.launches);

  std::map<std::string, double> by_layer;
  for (const OpTime& op : prediction.ops) {
    by_layer[op.layer + " (" + op.op + ")"] += op.time.modelled_seconds();
  }
  std::vector<std::pair<std::string, double>> longest(by_layer.begin(), by_layer.end());
  std::stable_sort(longest.begin(), longest.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  longest.resize(std::min(longest.size(), kOpsShown));
  text += "  longest layers:\n";
  for (const auto& [name, seconds] : longest) {
    text += fmt::format("    {:>9}  {}\n", milliseconds(ModelledTime(seconds)), name);
  }
  return text;
}

std::string unknowns_text(const Prediction& prediction) {
  std::string text = "What it rests on (not known for sure; the ranges make the error bar):\n";
  for (const UnknownUsed& used : prediction.unknowns) {
    const Figure& figure = used.unknown.figure;
    const auto written = [&](double value) {
      return fmt::format("{:.4g}", value / figure.unit_scale);
    };
    text +=
        fmt::format("  {:<22} {:<26} {:<10}  step {} to {}; {}\n", figure.name,
                    fmt::format("{} ({} to {}) {}", written(figure.value),
                                written(used.unknown.low), written(used.unknown.high), figure.unit),
                    to_string(figure.status), milliseconds(used.step_at_low),
                    milliseconds(used.step_at_high), figure.source);
  }
  return text;
}

}  // namespace

std::string explanation(const Description& machine, const Prediction& prediction,
                        const ExplainedRun& run) {
  return fmt::format("{} ({}): {}\nEvery figure below is modelled, none is measured.\n\n",
                     machine.name, machine.about, run.what) +
         memory_text(prediction.memory) + "\n" + step_text(prediction, run) + "\n" +
         unknowns_text(prediction);
}

std::string comparison(const std::string& first_column, const std::vector<ComparedRun>& runs) {
  std::size_t width = first_column.size();
  for (const ComparedRun& run : runs) {
    width = std::max(width, run.label.size());
  }
  const auto row = [&](const std::string& label, const std::string& fit, const std::string& needs,
                       const std::string& step, const std::string& error, const std::string& speed,
                       const std::string& bound) {
    return fmt::format("{:<{}}  {:<19} {:>21} {:>12} {:>24} {:>10}  {}\n", label, width, fit, needs,
                       step, error, speed, bound);
  };
  std::string text =
      "Every figure of this table is modelled, none is measured.\n\n" +
      row(first_column, "memory", "needs, of", "step", "error bar", "events/s", "bound by");
  for (const ComparedRun& run : runs) {
    const Prediction& p = run.prediction;
    text += row(
        run.label, to_string(p.memory.fits),
        bytes_text(p.memory.needed) + ", " + bytes_text(p.memory.available),
        milliseconds(p.step.best),
        fmt::format("{:.3g} to {}", p.step.low.modelled_seconds() * 1e3, milliseconds(p.step.high)),
        fmt::format("{:.4g}", run.events / p.step.best.modelled_seconds()), to_string(p.bound));
  }
  return text;
}

}  // namespace cosmic::machine
