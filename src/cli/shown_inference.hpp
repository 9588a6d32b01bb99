// How commands that tag events show how far they are.
#pragma once

#include "cli/published_job.hpp"
#include "cli/run_command.hpp"
#include "infer/inference.hpp"

namespace cosmic::cli {

/// A bar on the terminal and the record of `monitor`. Both outlive the hooks.
infer::InferenceHooks shown_by(RunConsole& console, PublishedJob& job);

}  // namespace cosmic::cli
