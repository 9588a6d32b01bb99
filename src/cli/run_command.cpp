#include "cli/run_command.hpp"

#include <fmt/core.h>

#include <cstdlib>

#include "core/error.hpp"
#include "data/detector/geometry.hpp"
#include "model/enum_text.hpp"
#include "run/run_data.hpp"
#include "target/registry.hpp"

namespace cosmic::cli {
namespace {

// Launchers tell each process how many there are.
constexpr const char* kWorldSizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
                                       "SLURM_NTASKS"};

}  // namespace

config::Configuration configuration_from(const std::vector<std::string>& words, config::Mode mode) {
  return configuration_from(words, config::ParseOptions{.mode = mode});
}

config::Configuration configuration_from(const std::vector<std::string>& words,
                                         const config::ParseOptions& options) {
  config::Resolved resolved = config::parse(words, options);
  for (const std::string& note : resolved.notes) {
    fmt::print(stderr, "note: {}\n", note);
  }
  return std::move(resolved.configuration);
}

data::DenseShape image_shape(const config::Configuration& configuration,
                             const data::DenseShape& asked) {
  COSMIC_REQUIRE(UserError, (asked.rows > 0) == (asked.columns > 0),
                 "an image of " << asked.rows << " rows and " << asked.columns
                                << " columns (0 means the size of the events); give both --rows "
                                   "and --columns or neither");
  if (asked.rows > 0) {
    return asked;
  }
  const bool has_events =
      !configuration.data.synthetic && std::filesystem::exists(configuration.data.file_path());
  return data::dense_shape(
      has_events ? run::open_events(configuration)->meta() : data::detector::meta_of(0),
      run::dense_options(configuration).downsample);
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
