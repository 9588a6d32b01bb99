#include "run/explain.hpp"

#include <fmt/core.h>

#include "core/error.hpp"
#include "machine/family.hpp"
#include "run/make_it_fit.hpp"
#include "run/this_host.hpp"
#include "target/registry.hpp"

namespace cosmic::run {
namespace {

/// The same with one thing changed: what a person would think of first.
std::vector<machine::ComparedRun> changes_of(const machine::Description& machine,
                                             const RunChoice& choice) {
  std::vector<machine::ComparedRun> changes;
  const auto add = [&](const std::string& label, const RunChoice& changed) {
    changes.push_back(predicted_run(label, machine, changed));
  };
  RunChoice larger = choice;
  larger.configuration.run.minibatch_size *= 2;
  add(fmt::format("run.minibatch_size={}", larger.configuration.run.minibatch_size), larger);
  if (choice.configuration.run.precision == config::Precision::float32) {
    RunChoice narrow = choice;
    narrow.configuration.run.precision = narrow_precision(machine);
    add("run.precision=" + model::to_string(narrow.configuration.run.precision), narrow);
  }
  if (choice.configuration.mode.name == config::Mode::train &&
      choice.recomputation == session::Recomputation::no) {
    RunChoice again = choice;
    again.recomputation = session::Recomputation::yes;
    add("--recompute", again);
  }
  RunChoice wider = choice;
  wider.replicas *= 2;
  add(fmt::format("--replicas {}", wider.replicas), wider);
  return changes;
}

}  // namespace

machine::Description machine_of(const config::RunConfig& run) {
  const std::string mode = model::to_string(run.compute_mode);
  machine::Description machine = target::machine_of_compute_mode(mode, run.machine);
  return target::is_host_mode(mode) && run.machine.empty()
             ? this_host(std::move(machine), target::target_of_compute_mode(mode))
             : machine;
}

machine::ExplainedRun explain(const machine::Description& machine, const RunChoice& choice) {
  return {words_of(choice), predicted_run("", machine, choice), changes_of(machine, choice)};
}

std::vector<report::machines::MachineRow> explain_everywhere(const RunChoice& choice) {
  std::vector<report::machines::MachineRow> rows;
  for (const std::string& name : machine::built_in_machines()) {
    const machine::Description machine = target::find_machine(name);
    try {
      rows.push_back({machine, predicted_run(name, machine, choice)});
    } catch (const UserError& error) {
      rows.push_back({machine, {.label = name, .prediction = {}, .refused = error.what()}});
    }
  }
  return rows;
}

RunChoice alone(RunChoice choice) {
  choice.replicas = 1;
  return choice;
}

std::vector<machine::ScalingRow> scaling_of(const machine::Description& machine,
                                            const RunChoice& choice) {
  PreparedRun run = prepared_run(machine, alone(choice));
  return machine::scaling(
      run.machine,
      [&](int replicas) {
        run.execution.replicas = replicas;
        return machine::predict(run.machine, run.program, run.execution);
      },
      run.events);
}

}  // namespace cosmic::run
