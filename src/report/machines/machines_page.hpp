// All machines on one page: what a run would need on each, and how fast it would be.
#pragma once

#include <string>
#include <vector>

#include "machine/explanation.hpp"

namespace cosmic::report::machines {

struct MachineRow {
  machine::Description machine;
  machine::ComparedRun run;
};

/// One self-contained HTML page; `what` says what runs.
std::string machines_page(const std::string& what, const std::vector<MachineRow>& rows);

}  // namespace cosmic::report::machines
