// What a run's log says about how its programs came to be.
#pragma once

#include <cstdint>
#include <string>

#include "output/run_log.hpp"
#include "session/compile_report.hpp"

namespace cosmic::run {

/// `what` is the subject: "the training step".
void log_compilation(output::RunLog& log, const std::string& what,
                     const session::CompileReport& report);

/// What it would take on the machine of a modelled target; nothing for a measured one. `events` are
/// those of one run of the program.
void log_prediction(output::RunLog& log, const std::string& what,
                    const session::CompileReport& report, std::int64_t events);

}  // namespace cosmic::run
