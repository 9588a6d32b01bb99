#include "machine/scaling.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "core/error.hpp"
#include "machine/error_bar.hpp"
#include "machine/exchange_time.hpp"
#include "machine/family.hpp"

namespace cosmic::machine {
namespace {

/// The nearest bandwidth that a family knows, for machines without described links.
double nearest_bandwidth(const Description& machine) {
  for (const FigureRule& rule : machine.family->figures()) {
    if (rule.name == "link_bandwidth") {
      return machine[rule.name];
    }
  }
  return machine["host_bandwidth"];
}

/// `together` is the prediction for the replicas of the options.
ScalingRow row_of(const Description& machine, const Prediction& one, const Prediction& together,
                  double events) {
  const ExecutionOptions& options = together.options;
  Exchanged exchanged{.gradients = one.gradients.modelled_bytes()};
  for (const ModelledBytes bytes : one.gradient_buckets) {
    exchanged.buckets.push_back(bytes.modelled_bytes());
  }
  for (const ModelledBytes bytes : one.statistics) {
    exchanged.statistics.push_back(bytes.modelled_bytes());
  }
  const auto all_reduce = [&](const Description& m) {
    return exchange_seconds(m, exchanged, options, nearest_bandwidth(m));
  };
  const double alone = one.step.best.modelled_seconds();
  const double step = together.step.best.modelled_seconds();
  const double ring = all_reduce(machine);
  // What replicas cost beside the exchange: a host that feeds all of them, a wait for each other.
  const double rest = options.replicas == 1 ? 0 : step - alone - ring;
  ErrorBar efficiency(alone / step);
  const auto add = [&](double alone_low, double alone_high, double ring_low, double ring_high) {
    efficiency.add(alone_low / (alone_low + ring_low + rest),
                   alone_high / (alone_high + ring_high + rest));
  };
  add(one.step.low.modelled_seconds(), one.step.high.modelled_seconds(), ring, ring);
  for (const Link& link : machine.links) {
    for (const Unknown& unknown : machine.unknowns) {
      if (unknown.figure.name == link.hop_time) {
        add(alone, alone, all_reduce(with_unknown(machine, link.hop_time, unknown.low)),
            all_reduce(with_unknown(machine, link.hop_time, unknown.high)));
      }
    }
  }
  ScalingRow row;
  row.replicas = options.replicas;
  row.machines = options.replicas * options.pipeline;
  row.step = together.step;
  row.all_reduce = ModelledTime(ring);
  const double all_events = events * options.replicas;
  row.events_per_second = {all_events / step, all_events / together.step.high.modelled_seconds(),
                           all_events / together.step.low.modelled_seconds()};
  // Replicas are never faster than as many that need not agree.
  row.efficiency = {alone / step, efficiency.low(),
                    std::max(alone / step, std::min(1.0, efficiency.high()))};
  return row;
}

/// Four digits, without an exponent.
std::string rate_text(double rate) {
  return rate >= 1000 ? fmt::format("{:.0f}", rate) : fmt::format("{:.4g}", rate);
}

std::string links_text(const Description& machine) {
  if (machine.links.empty()) {
    return "Its links are not described: one bandwidth is used for all, with no cost per step.\n";
  }
  std::string text = "Links, and the cost of each message over them in addition to its bytes:\n";
  for (const Link& link : machine.links) {
    text += fmt::format("  {:<8} {}, {} machines, {:.4g} {} each way ({}); {}\n", link.name,
                        to_string(link.exchange),
                        link.joins ? "up to " + std::to_string(*link.joins) : "any number of",
                        link.bandwidth.value / link.bandwidth.unit_scale, link.bandwidth.unit,
                        to_string(link.bandwidth.status), link.bandwidth.source);
    for (const Unknown& unknown : machine.unknowns) {
      if (unknown.figure.name == link.hop_time) {
        const Figure& figure = unknown.figure;
        text += fmt::format("           {} {:.4g} ({:.4g} to {:.4g}) {} ({}); {}\n", figure.name,
                            figure.value / figure.unit_scale, unknown.low / figure.unit_scale,
                            unknown.high / figure.unit_scale, figure.unit, to_string(figure.status),
                            figure.source);
      }
    }
  }
  return text;
}

}  // namespace

std::vector<ScalingRow> scaling(const Description& machine, const PredictReplicas& predict,
                                double events) {
  const Prediction one = predict(1);
  COSMIC_REQUIRE(
      InternalError, one.options.replicas == 1,
      "scaling starts from one replica, and this prediction is for " << one.options.replicas);
  std::vector<ScalingRow> rows;
  ExecutionOptions options = one.options;
  while (options.replicas * options.pipeline <= kMostMachines && links_reach(machine, options)) {
    rows.push_back(row_of(machine, one, predict(options.replicas), events));
    options.replicas *= 2;
  }
  return rows;
}

std::string scaling_text(const Description& machine, const std::vector<ScalingRow>& rows,
                         const std::string& what_runs) {
  std::string text = fmt::format(
      "{} ({}): {} on each\n"
      "Every figure of this table is modelled, none is measured. Each replica has its own\n"
      "batch; gradients are all-reduced once per update, after the step. One host feeds\n"
      "all IPUs. Waiting for the slowest machine and for files is not modelled.\n\n"
      "{:>8} {:>12} {:>12} {:>24} {:>10} {:>22} {:>11} {:>14}\n",
      machine.name, machine.about, what_runs, "machines", "step", "all-reduce", "error bar",
      "events/s", "error bar", "efficiency", "error bar");
  for (const ScalingRow& row : rows) {
    const auto ms = [](ModelledTime time) {
      return fmt::format("{:.4g} ms", time.modelled_seconds() * 1e3);
    };
    const auto percent = [](double share) { return fmt::format("{:.1f}", 100 * share); };
    text += fmt::format(
        "{:>8} {:>12} {:>12} {:>24} {:>10} {:>22} {:>11} {:>14}\n", row.machines, ms(row.step.best),
        ms(row.all_reduce),
        fmt::format("{:.4g} to {}", row.step.low.modelled_seconds() * 1e3, ms(row.step.high)),
        rate_text(row.events_per_second.modelled),
        rate_text(row.events_per_second.low) + " to " + rate_text(row.events_per_second.high),
        percent(row.efficiency.modelled) + " %",
        percent(row.efficiency.low) + " to " + percent(row.efficiency.high));
  }
  return text + "\n" + links_text(machine);
}

}  // namespace cosmic::machine
