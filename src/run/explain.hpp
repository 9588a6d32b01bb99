// What a run would need and how fast it would be on machines that are not here: the comparisons of
// `cosmictagger explain`. Everything is modelled.
#pragma once

#include <vector>

#include "machine/scaling.hpp"
#include "report/machines/machines_page.hpp"
#include "run/explained_run.hpp"

namespace cosmic::run {

/// The machine that the settings of a run name, or the first of its compute mode.
machine::Description machine_of(const config::RunConfig& run);

/// The run as it was chosen, and with one thing changed each: what a person would think of first.
machine::ExplainedRun explain(const machine::Description& machine, const RunChoice& choice);

/// On every machine that is described here. One that cannot do it says why.
std::vector<report::machines::MachineRow> explain_everywhere(const RunChoice& choice);

/// The choice with one replica, from which scaling starts.
RunChoice alone(RunChoice choice);
std::vector<machine::ScalingRow> scaling_of(const machine::Description& machine,
                                            const RunChoice& choice);

}  // namespace cosmic::run
