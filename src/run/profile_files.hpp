// What run.profile=true leaves behind: a page and a JSON file, of what was measured, or of what was
// predicted where the machine is a model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "core/pending_file.hpp"
#include "output/run_log.hpp"
#include "output/step_profile.hpp"
#include "report/profile/rank_profile.hpp"
#include "report/profile/run_profile.hpp"
#include "session/model.hpp"

namespace cosmic::run {

/// The program whose runs were timed, and with what it was run.
struct ProfiledProgram {
  const config::Configuration& configuration;
  const session::Options& options;
  session::Purpose purpose = session::Purpose::training;
  const session::CompileReport& compiled;
  session::MemoryUse memory;
  std::string data;                   ///< in words
  graph::TensorType image;            ///< a batch
  std::int64_t batches_per_step = 1;  ///< whose gradients make one update
};

/// The times of a whole run.
struct ProfiledTimes {
  const output::StepProfile& phases;
  const report::profile::OpTimes& ops;
  std::vector<report::profile::TimeShare> shares;
  double seconds = 0;
};

/// Where a process of a run leaves its profile: the first in `profiles` itself.
std::filesystem::path profile_folder_of(const std::filesystem::path& profiles, int rank);

/// What write_profile writes for a program. The files of an inference have other names than those
/// of a training, which may have the same folder.
std::vector<std::filesystem::path> profile_paths(const std::filesystem::path& folder,
                                                 session::Purpose purpose,
                                                 const session::CompileReport& compiled);

/// What several processes wrote profiles of, side by side: a page and its JSON, which replace those
/// of an earlier start. The facts of the profile are filled in here.
void write_rank_profile(const std::filesystem::path& folder, const ProfiledProgram& program,
                        report::profile::RankProfile profile, output::RunLog& log);

/// Throws UserError if one of them exists and may not be replaced.
void write_profile(const std::filesystem::path& folder, const ProfiledProgram& program,
                   const ProfiledTimes& times, Existing existing, output::RunLog& log);

}  // namespace cosmic::run
