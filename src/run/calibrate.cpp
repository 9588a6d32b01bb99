#include "run/calibrate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "config/parse.hpp"
#include "core/error.hpp"
#include "machine/family.hpp"
#include "target/registry.hpp"

namespace cosmic::run {
namespace {

using Kind = Observation::Kind;

/// An observation, and what is needed to predict it.
struct Sample {
  const Record* record;
  Observation observation;
  const PreparedRun* run;
};

bool is_product(const machine::Work& work) {
  return work.kind == machine::Work::Kind::contraction;
}

double predicted(const Sample& sample, const machine::Description& machine) {
  const PreparedRun& run = *sample.run;
  const machine::Forecast forecast = machine.family->forecast(
      machine, {run.program.workload, run.program.liveness}, run.execution);
  switch (sample.observation.kind) {
    case Kind::step:
      return forecast.step.total();
    case Kind::memory:
      return forecast.memory.needed();
    case Kind::loading: {
      const double loading = forecast.step[machine::Bound::launch];
      return loading /
             (forecast.step[machine::Bound::compute] + forecast.step[machine::Bound::memory]);
    }
    case Kind::products:
    case Kind::other:
      break;
  }
  double seconds = 0;
  for (const machine::OpForecast& op : forecast.ops) {
    const bool product = is_product(run.program.workload.works[op.node]);
    seconds += product == (sample.observation.kind == Kind::products) ? op.parts.total() : 0;
  }
  return seconds;
}

double log_ratio(const Sample& sample, const machine::Description& machine) {
  return std::log(predicted(sample, machine) / sample.observation.value);
}

/// How much the samples change over the range of an unknown.
double leverage(const std::vector<Sample>& samples, const machine::Description& machine,
                const machine::Unknown& unknown) {
  double sum = 0;
  for (const Sample& sample : samples) {
    sum += std::abs(log_ratio(sample, with_unknown(machine, unknown.figure.name, unknown.low)) -
                    log_ratio(sample, with_unknown(machine, unknown.figure.name, unknown.high)));
  }
  return sum;
}

std::vector<Sample> of_kind(const std::vector<Sample>& samples, Kind kind) {
  std::vector<Sample> result;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(result),
               [&](const Sample& sample) { return sample.observation.kind == kind; });
  return result;
}

/// A figure and what it is fitted to.
struct Fitted {
  std::string figure;
  Kind kind;
};

constexpr std::size_t kForTwoFigures = 3;  // records of a step

std::vector<Fitted> choose(const std::vector<Sample>& samples,
                           const machine::Description& machine) {
  std::vector<Fitted> chosen;
  std::set<std::string> taken;
  const auto add = [&](Kind kind) {
    const std::vector<Sample> own = of_kind(samples, kind);
    std::string best;
    double most = 1e-3;  // less makes no difference
    for (const machine::Unknown& unknown : machine.unknowns) {
      // What is 0 has no logarithm that could be fitted.
      const bool can_be = unknown.figure.value > 0 && !taken.contains(unknown.figure.name);
      const double leveraged = can_be ? leverage(own, machine, unknown) : 0;
      if (leveraged > most) {
        most = leveraged;
        best = unknown.figure.name;
      }
    }
    if (!own.empty() && !best.empty()) {
      chosen.push_back({best, kind});
      taken.insert(best);
    }
  };
  const bool by_kernel = !of_kind(samples, Kind::products).empty();
  for (const Kind kind : {Kind::products, Kind::other, Kind::loading, Kind::memory}) {
    add(kind);
  }
  if (!by_kernel) {
    add(Kind::step);
    if (of_kind(samples, Kind::step).size() >= kForTwoFigures) {
      add(Kind::step);
    }
  }
  return chosen;
}

/// What a figure may be fitted to: ten times its range, either way.
struct Limits {
  double least;
  double most;

  /// Is a fit that gives this value one that wanted to go on?
  bool stopped(double value) const {
    constexpr double kNear = 1.001;
    return value <= least * kNear || value >= most / kNear;
  }
};

Limits limits_of(const machine::Unknown& unknown) {
  constexpr double kBeyond = 10;
  return {std::max(unknown.low / kBeyond, 1e-12), unknown.high * kBeyond};
}

/// Gauss-Newton in the logarithm of one figure, within its limits.
double fitted_value(const std::vector<Sample>& samples, const machine::Description& machine,
                    const std::string& figure) {
  constexpr int kIterations = 12;
  constexpr double kStep = 0.02;
  constexpr double kFarthest = 0.5;
  const auto unknown =
      std::find_if(machine.unknowns.begin(), machine.unknowns.end(),
                   [&](const machine::Unknown& u) { return u.figure.name == figure; });
  const auto [least, most] = limits_of(*unknown);
  double value = std::clamp(unknown->figure.value, least, most);
  for (int i = 0; i < kIterations; ++i) {
    const machine::Description here = with_unknown(machine, figure, value);
    const machine::Description there = with_unknown(machine, figure, value * std::exp(kStep));
    double slopes = 0;
    double product = 0;
    for (const Sample& sample : samples) {
      const double residual = log_ratio(sample, here);
      const double slope = (log_ratio(sample, there) - residual) / kStep;
      slopes += slope * slope;
      product += slope * residual;
    }
    if (slopes < 1e-9) {
      break;
    }
    value = std::clamp(value * std::exp(std::clamp(-product / slopes, -kFarthest, kFarthest)),
                       least, most);
  }
  return value;
}

machine::Description fit(machine::Description machine, const std::vector<Sample>& samples,
                         const std::vector<Fitted>& figures) {
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    for (const Fitted& figure : figures) {
      const std::vector<Sample> own = of_kind(samples, figure.kind);
      if (!own.empty()) {
        machine = with_unknown(machine, figure.figure, fitted_value(own, machine, figure.figure));
      }
    }
  }
  return machine;
}

PreparedRun prepared(const machine::Description& machine, const Record& record,
                     const ExplainOptions& options) {
  COSMIC_REQUIRE(UserError, !record.settings.empty(),
                 record.name << " does not say what ran (network, batch, precision); give the "
                                "settings after the files, as for explain");
  std::vector<std::string> settings;
  for (const std::string& setting : record.settings) {
    const bool names_machine = setting.starts_with("run.machine=");  // it is --machine's to say
    if (!names_machine) {
      settings.push_back(setting);
    }
  }
  const config::Resolved resolved = config::parse(
      settings, {.command = config::Command::explain, .missing = config::MissingKeys::leave});
  const bool names_mode = std::any_of(
      settings.begin(), settings.end(),
      [](const std::string& setting) { return setting.starts_with("run.compute_mode="); });
  if (names_mode) {
    const std::string mode = model::to_string(resolved.configuration.run.compute_mode);
    const machine::Family* const family = target::machine_of_compute_mode(mode, "").family;
    COSMIC_REQUIRE(UserError, family == machine.family,
                   record.name << " ran with run.compute_mode=" << mode
                               << " (machines of the family " << family->name() << "), and "
                               << machine.name << " is of the family " << machine.family->name()
                               << "; name another --machine, or correct the settings");
  }
  return prepared_run(machine, choice_of(resolved.configuration, options));
}

std::vector<std::string> names_of(const std::vector<Sample>& samples) {
  std::vector<std::string> names;
  for (const Sample& sample : samples) {
    if (std::find(names.begin(), names.end(), sample.record->name) == names.end()) {
      names.push_back(sample.record->name);
    }
  }
  return names;
}

/// Says in the description what was fitted to what; the range is as wide as the fit is uncertain.
void declare(machine::Description& machine, const Fitted& fitted,
             const std::vector<std::string>& records, double uncertainty) {
  for (machine::Unknown& unknown : machine.unknowns) {
    if (unknown.figure.name == fitted.figure) {
      machine::Figure& figure = unknown.figure;
      figure.status = machine::Status::calibrated;
      figure.fitted_to = records;
      figure.source = "cosmictagger calibrate; before: " + figure.source;
      unknown.low = figure.value / (1 + uncertainty);
      unknown.high = figure.value * (1 + uncertainty);
    }
  }
}

}  // namespace

Calibration calibrate(const machine::Description& machine, const std::vector<Record>& records,
                      const ExplainOptions& options) {
  const machine::Description before = machine::with_stack(machine, options.stack);
  std::vector<PreparedRun> runs;
  for (const Record& record : records) {
    runs.push_back(prepared(before, record, options));
  }
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < records.size(); ++i) {
    for (const Observation& observation : records[i].observations) {
      samples.push_back({&records[i], observation, &runs[i]});
    }
  }
  const std::vector<Fitted> figures = choose(samples, before);
  COSMIC_REQUIRE(UserError, !figures.empty(),
                 "there is nothing to fit " << machine.name
                                            << " to (no record depends on a figure with a range); "
                                               "give a record with a step time or peak memory");
  Calibration result{.machine = fit(before, samples, figures), .changes = {}, .judgements = {}};
  double squares = 0;
  std::size_t left_out = 0;
  for (const Sample& sample : samples) {
    Judgement judgement{.record = sample.record->name,
                        .kind = sample.observation.kind,
                        .before = std::exp(log_ratio(sample, before)),
                        .after = std::exp(log_ratio(sample, result.machine))};
    std::vector<Sample> others;
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(others),
                 [&](const Sample& other) { return other.record != sample.record; });
    if (!of_kind(others, sample.observation.kind).empty()) {
      const double log = log_ratio(sample, fit(before, others, choose(others, before)));
      judgement.left_out = std::exp(log);
      squares += log * log;
      ++left_out;
    }
    result.judgements.push_back(judgement);
  }
  constexpr double kLeast = 0.05;
  constexpr double kOneRecord = 0.3;  // what one record says about the next is not known
  const double uncertainty =
      left_out == 0
          ? kOneRecord
          : std::max(kLeast, std::exp(std::sqrt(squares / static_cast<double>(left_out))) - 1);
  for (const Fitted& figure : figures) {
    const std::vector<std::string> names = names_of(of_kind(samples, figure.kind));
    for (const machine::Unknown& unknown : before.unknowns) {
      if (unknown.figure.name == figure.figure) {
        const double scale = unknown.figure.unit_scale;
        const double fitted = result.machine[figure.figure];
        result.changes.push_back({figure.figure, unknown.figure.value / scale, fitted / scale,
                                  unknown.figure.unit, names, limits_of(unknown).stopped(fitted)});
      }
    }
    declare(result.machine, figure, names, uncertainty);
  }
  result.machine.name += " (calibrated)";
  result.machine.stacks.resize(1);
  result.machine.stacks.front().figures.clear();
  result.machine.without_stack = result.machine.unknowns;
  return result;
}

std::string text_of(const Calibration& calibration) {
  std::string text = fmt::format("{}, stack {}\n\nWhat changed\n", calibration.machine.name,
                                 calibration.machine.stack().name);
  for (const Change& change : calibration.changes) {
    std::string records;
    for (const std::string& record : change.records) {
      records += (records.empty() ? "" : ", ") + record;
    }
    text += fmt::format("  {:<24} {:.4g} -> {:.4g} {}, fitted to {}\n", change.figure,
                        change.before, change.after, change.unit, records);
    if (change.stopped) {
      text +=
          "    The fit stopped there, at ten times the range of the figure: the record is of "
          "another run or machine\n    than its settings say, or its units are wrong (seconds, "
          "bytes). Do not use this description.\n";
    }
  }
  text += fmt::format("\nError of the prediction\n  {:<32} {:<20} {:>8} {:>8} {:>9}\n", "record",
                      "of", "before", "fitted", "left out");
  const auto percent = [](double ratio) {
    constexpr double kFactor = 10;  // beyond it percents are hard to read
    return ratio >= kFactor ? fmt::format("x {:.3g}", ratio)
                            : fmt::format("{:+.1f} %", 100 * (ratio - 1));
  };
  for (const Judgement& judgement : calibration.judgements) {
    text +=
        fmt::format("  {:<32} {:<20} {:>8} {:>8} {:>9}\n", judgement.record,
                    to_string(judgement.kind), percent(judgement.before), percent(judgement.after),
                    judgement.left_out ? percent(*judgement.left_out) : "–");
  }
  text +=
      "\n\"left out\": predicted by a fit to the other records. Only this says how good the "
      "description is for the next run.\n";
  return text;
}

}  // namespace cosmic::run
