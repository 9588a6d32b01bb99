#include "run/make_it_fit.hpp"

#include <fmt/format.h>

#include <future>
#include <utility>

#include "core/error.hpp"
#include "machine/family.hpp"

namespace cosmic::run {
namespace {

constexpr int kMostMachines = 16;  // of a pipeline: a large network has some fifty layers

using machine::Fit;
using session::Recomputation;

class WaySearch {
 public:
  WaySearch(const machine::Description& machine, const RunChoice& asked)
      : machine_(machine), asked_(asked) {}

  /// Each thing that saves memory by itself, after what was asked for.
  std::vector<Way> alone() {
    ways_.push_back({asked_, predicted_run("as asked", machine_, asked_)});
    try_alone();
    return std::move(ways_);
  }

  /// All of them at once.
  std::vector<Way> together() {
    try_together();
    return std::move(ways_);
  }

 private:
  bool trains() const { return asked_.configuration.mode.name == config::Mode::train; }

  void attempt(const std::string& label, const RunChoice& choice) {
    try {
      ways_.push_back({choice, predicted_run(label, machine_, choice)});
    } catch (const UserError& error) {  // such as more stages than layers
      ways_.push_back({choice, {.label = label, .prediction = {}, .refused = error.what()}});
    }
  }

  /// More machines would fit as well, or be refused as well.
  bool more_are_of_no_use() const {
    return ways_.back().was_refused() || ways_.back().fits() == Fit::yes;
  }

  bool narrows() const {
    return asked_.configuration.run.precision == config::Precision::float32 &&
           narrow_precision(machine_) != config::Precision::float32;
  }

  RunChoice narrowed(RunChoice choice) const {
    choice.configuration.run.precision = narrow_precision(machine_);
    return choice;
  }

  RunChoice with_batch(std::int64_t batch) const {
    RunChoice choice = asked_;
    choice.configuration.run.minibatch_size = batch;
    return choice;
  }

  /// Everything that saves memory on one machine, results aside.
  RunChoice thrifty(RunChoice choice) const {
    if (narrows()) {
      choice = narrowed(choice);
    }
    if (machine_.family->has_half_partials() &&
        choice.configuration.run.precision != config::Precision::float32) {
      choice.configuration.run.partials = config::Partials::float16;
    }
    if (trains()) {
      choice.recomputation = Recomputation::yes;
    }
    return choice;
  }

  void try_alone() {
    const std::int64_t batch = asked_.configuration.run.minibatch_size;
    for (std::int64_t smaller = batch / 2; smaller >= 1; smaller /= 2) {
      attempt(fmt::format("batch {}", smaller), with_batch(smaller));
    }
    if (narrows()) {
      attempt(model::to_string(narrow_precision(machine_)), narrowed(asked_));
    }
    if (trains()) {
      RunChoice choice = asked_;
      choice.recomputation = Recomputation::yes;
      attempt("recomputation", choice);
    }
    if (trains() && machine_.family->streams_optimizer_state()) {
      RunChoice choice = asked_;
      choice.optimizer_state = machine::OptimizerState::streamed;
      attempt("optimizer state beside the chip", choice);
    }
    for (int machines = 2; pipelines() && machines <= kMostMachines; machines *= 2) {
      RunChoice choice = asked_;
      choice.pipeline = machines;
      attempt(fmt::format("pipeline of {}", machines), choice);
      if (more_are_of_no_use()) {
        break;
      }
    }
  }

  /// "batch 1, float16, half partials, recomputation, pipeline of 4": what is not as asked for.
  std::string differences(const RunChoice& choice) const {
    const config::RunConfig& run = choice.configuration.run;
    const config::RunConfig& asked = asked_.configuration.run;
    std::vector<std::string> parts;
    if (run.minibatch_size != asked.minibatch_size) {
      parts.push_back(fmt::format("batch {}", run.minibatch_size));
    }
    if (run.precision != asked.precision) {
      parts.push_back(model::to_string(run.precision));
    }
    if (run.partials != asked.partials) {
      parts.push_back("half partials");
    }
    if (choice.recomputation != asked_.recomputation) {
      parts.push_back("recomputation");
    }
    if (choice.pipeline != asked_.pipeline) {
      parts.push_back(fmt::format("pipeline of {}", choice.pipeline));
    }
    return parts.empty() ? "as asked" : fmt::format("{}", fmt::join(parts, ", "));
  }

  /// On more machines only the batch that was asked for and the smallest.
  void try_together() {
    const std::int64_t asked = asked_.configuration.run.minibatch_size;
    for (std::int64_t batch = asked; batch >= 1; batch /= 2) {
      const bool spread = pipelines() && (batch == asked || batch == 1);
      RunChoice choice = thrifty(with_batch(batch));
      for (int machines = 1; machines <= (spread ? kMostMachines : 1); machines *= 2) {
        choice.pipeline = machines;
        attempt(differences(choice), choice);
        if (more_are_of_no_use()) {
          break;
        }
      }
      if (choice.pipeline == 1 && ways_.back().fits() == Fit::yes) {
        return;  // smaller batches would fit as well
      }
    }
  }

  /// Only training is spread over machines: an inference takes no run.stages.
  bool pipelines() const { return trains() && machine_.family->pipelines(); }

  const machine::Description& machine_;
  const RunChoice& asked_;
  std::vector<Way> ways_;
};

std::string conclusion(const std::vector<Way>& ways) {
  const Way* const best = best_way(ways);
  if (best == nullptr) {
    return "None of these certainly fits. What remains: data.downsample, which quarters images,\na "
           "smaller network, or a machine with more memory (`--all` compares them).\n";
  }
  return fmt::format(
      "Of those that fit, this one gives the most events/s per machine ({:.3g} on {} machine{}, "
      "modelled):\n  {}\n",
      best->run.modelled_events(), best->run.machines, best->run.machines == 1 ? "" : "s",
      settings_of(best->choice));
}

}  // namespace

Fit Way::fits() const {
  return was_refused() ? Fit::no : run.prediction.memory.fits;
}

machine::ModelledTime Way::machine_time() const {
  return machine::ModelledTime(run.machines / run.modelled_events());
}

config::Precision narrow_precision(const machine::Description& machine) {
  for (const NumberFormat format : machine.family->formats()) {
    if (format == NumberFormat::bf16) {
      return config::Precision::bfloat16;
    }
    if (format == NumberFormat::f16) {
      return config::Precision::float16;
    }
  }
  return config::Precision::float32;
}

const Way* best_way(const std::vector<Way>& ways) {
  const Way* best = nullptr;
  for (const Way& way : ways) {
    if (way.fits() == Fit::yes && (best == nullptr || way.machine_time() < best->machine_time())) {
      best = &way;
    }
  }
  return best;
}

std::vector<Way> ways_tried(const machine::Description& machine, const RunChoice& asked) {
  // A large network on a machine with many tiles takes some ten predictions of a quarter of a
  // second each for either.
  std::future<std::vector<Way>> others =
      std::async(std::launch::async, [&] { return WaySearch(machine, asked).together(); });
  std::vector<Way> ways = WaySearch(machine, asked).alone();
  for (Way& way : others.get()) {
    ways.push_back(std::move(way));
  }
  return ways;
}

std::string ways_to_fit(const machine::Description& machine, const RunChoice& asked) {
  const std::vector<Way> ways = ways_tried(machine, asked);
  std::vector<machine::ComparedRun> rows;
  for (const Way& way : ways) {
    rows.push_back(way.run);
  }
  return fmt::format("{} ({}): {}\n{}\n{}", machine.name, machine.about, words_of(asked),
                     machine::comparison("way", rows), conclusion(ways));
}

}  // namespace cosmic::run
