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

}  // namespace

config::Configuration configuration_from(const std::vector<std::string>& words, config::Mode mode) {
  config::Resolved resolved = config::parse(words, {.mode = mode});
  for (const std::string& note : resolved.notes) {
    fmt::print(stderr, "note: {}\n", note);
  }
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
