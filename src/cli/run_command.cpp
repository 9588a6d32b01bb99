#include "cli/run_command.hpp"

#include <fmt/core.h>

#include <cstdlib>

#include "core/error.hpp"
#include "model/enum_text.hpp"
#include "target/registry.hpp"

namespace cosmic::cli {
namespace {

// Launchers tell each process how many there are.
constexpr const char* kWorldSizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
                                       "SLURM_NTASKS"};

/// The reference accepts float16 and computes in float32 all the same; so do its command lines
/// here, but not in silence. Other formats would be another computation.
void require_known_precision(config::Precision precision) {
  if (precision == config::Precision::float16) {
    fmt::print(stderr, "note: run.precision=float16 computes in float32, as in the reference\n");
    return;
  }
  COSMIC_REQUIRE(UserError, precision == config::Precision::float32,
                 "run.precision=" << model::to_string(precision)
                                  << " is not available (this build computes in float32 only); use "
                                     "run.precision=float32");
}

}  // namespace

config::Configuration configuration_from(const std::vector<std::string>& words, config::Mode mode) {
  config::Resolved resolved = config::parse(words, {.mode = mode});
  for (const std::string& note : resolved.notes) {
    fmt::print(stderr, "note: {}\n", note);
  }
  require_known_precision(resolved.configuration.run.precision);
  return std::move(resolved.configuration);
}

std::string target_for(config::ComputeMode mode) {
  return target::target_of_compute_mode(model::to_string(mode));
}

void require_single_process(const config::Configuration& configuration) {
  for (const char* const variable : kWorldSizes) {
    const char* const size = std::getenv(variable);
    COSMIC_REQUIRE(UserError,
                   size == nullptr || std::atoi(size) <= 1 || !configuration.run.distributed,
                   variable << " is " << size
                            << ", so this is one of several processes (this build trains in one "
                               "process; the others would do the same work over again); start one "
                               "process, or say run.distributed=false to run independent copies");
  }
}

RunConsole::RunConsole(const std::filesystem::path& log_file)
    : log_(log_file, [this](const std::string& line) {
        bar_.finish();
        fmt::print("{}\n", line);
        std::fflush(stdout);
      }) {}

}  // namespace cosmic::cli
