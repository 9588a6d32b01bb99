#include "cli/make_it_fit.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "machine/family.hpp"

namespace cosmic::cli {
namespace {

constexpr int kMostMachines = 16;  // of a pipeline: a large network has some fifty layers

using machine::Fit;
using planning::Recomputation;

class Ways {
 public:
  Ways(const machine::Description& machine, const RunChoice& asked)
      : machine_(machine), asked_(asked) {}

  std::string run() {
    try_alone();
    try_together();
    std::string text = fmt::format("{} ({}): {}\n{}", machine_.name, machine_.about,
                                   words_of(asked_), machine::comparison("way", rows_));
    return text + "\n" + conclusion();
  }

 private:
  bool trains() const { return asked_.configuration.mode.name == config::Mode::train; }

  void attempt(const std::string& label, const RunChoice& choice) {
    const machine::ComparedRun& run = rows_.emplace_back(predicted_run(label, machine_, choice));
    fits_ = run.prediction.memory.fits;
    const double speed = run.modelled_events() / run.machines;
    if (fits_ == Fit::yes && (!best_ || speed > best_speed_)) {
      best_ = choice;
      best_speed_ = speed;
    }
  }

  bool narrows() const {
    return asked_.configuration.run.precision == config::Precision::float32 &&
           narrow_precision(machine_) != config::Precision::float32;
  }

  RunChoice narrowed(RunChoice choice) const {
    choice.configuration.run.precision = narrow_precision(machine_);
    return choice;
  }

  RunChoice single(RunChoice choice) const {
    choice.configuration.run.minibatch_size = 1;
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
    attempt("as asked", asked_);
    const std::int64_t batch = asked_.configuration.run.minibatch_size;
    for (std::int64_t smaller = batch / 2; smaller >= 1; smaller /= 2) {
      RunChoice choice = asked_;
      choice.configuration.run.minibatch_size = smaller;
      attempt(fmt::format("batch {}", smaller), choice);
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
      if (fits_ == Fit::yes) {
        break;  // more machines would fit as well
      }
    }
  }

  void try_together() {
    for (const bool one_event : {false, true}) {
      const bool has_one = asked_.configuration.run.minibatch_size == 1;
      if (one_event && has_one) {
        continue;
      }
      const RunChoice start = thrifty(one_event ? single(asked_) : asked_);
      for (int machines = 1; machines <= (pipelines() ? kMostMachines : 1); machines *= 2) {
        RunChoice choice = start;
        choice.pipeline = machines;
        attempt("all: " + settings_of(choice), choice);
        if (fits_ == Fit::yes) {
          break;
        }
      }
    }
  }

  bool pipelines() const { return machine_.family->pipelines(); }

  std::string conclusion() const {
    if (!best_) {
      return fmt::format(
          "Nothing of this fits for sure. Larger steps are left: data.downsample, which quarters "
          "images,\na smaller network, or a machine with more memory (`--all` compares them).\n");
    }
    const int machines = best_->pipeline;
    return fmt::format(
        "Of those that fit, this has the most events/s for each machine ({:.3g} on {} machine{}, "
        "modelled):\n  {}\n",
        best_speed_ * machines, machines, machines == 1 ? "" : "s", settings_of(*best_));
  }

  const machine::Description& machine_;
  const RunChoice& asked_;
  std::vector<machine::ComparedRun> rows_;
  Fit fits_ = Fit::no;  ///< of the last attempt
  std::optional<RunChoice> best_;
  double best_speed_ = 0;  ///< events a second and machine
};

}  // namespace

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

std::string ways_to_fit(const machine::Description& machine, const RunChoice& asked) {
  return Ways(machine, asked).run();
}

}  // namespace cosmic::cli
