// What a run's log says about how its programs came to be.
#pragma once

#include <string>

#include "output/run_log.hpp"
#include "session/compile_report.hpp"

namespace cosmic::train {

/// `what` is the subject: "the training step".
void log_compilation(output::RunLog& log, const std::string& what,
                     const session::CompileReport& report);

}  // namespace cosmic::train
