#include "comm/launcher.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace cosmic::comm {
namespace {

/// How many there are: of all nodes, or of this one.
constexpr std::array kSizes{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",       "MV2_COMM_WORLD_SIZE",
                            "SLURM_NTASKS",         "FLUX_JOB_SIZE",  "PALS_LOCAL_SIZE",
                            "PMI_LOCAL_SIZE",       "MPI_LOCALNRANKS"};

/// Which one this is. Whoever is not the first is not alone.
constexpr std::array kRanks{"PALS_RANKID",
                            "PALS_LOCAL_RANKID",
                            "PMI_RANK",
                            "PMI_LOCAL_RANK",
                            "PMIX_RANK",
                            "FLUX_TASK_RANK",
                            "MPI_LOCALRANKID",
                            "POPDIST_LOCAL_INSTANCE_INDEX",
                            "POPDIST_REPLICA_INDEX_OFFSET"};

/// The number of all processes, without which being the first says nothing.
constexpr std::array kWorldSizes{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                 "MV2_COMM_WORLD_SIZE",  "SLURM_NTASKS",
                                 "FLUX_JOB_SIZE",        "POPDIST_NUM_TOTAL_REPLICAS"};

/// Which one this is of all, by each launcher.
constexpr std::array kWorldRanks{"OMPI_COMM_WORLD_RANK", "PMIX_RANK",   "PMI_RANK",
                                 "MV2_COMM_WORLD_RANK",  "PALS_RANKID", "FLUX_TASK_RANK",
                                 "SLURM_PROCID"};

class Environment {
 public:
  explicit Environment(const std::function<const char*(const char*)>& variable)
      : variable_(variable) {}

  /// Nothing for a variable that is not set, or not to a number.
  std::optional<long> number(const char* name) const {
    const char* const value = variable_(name);
    if (value == nullptr) {
      return std::nullopt;
    }
    const std::string_view text(value);
    long result = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(result)
                                                                    : std::nullopt;
  }

  std::string says(const char* name) const { return std::string(name) + " is " + variable_(name); }

 private:
  const std::function<const char*(const char*)>& variable_;
};

}  // namespace

Launch launch_of_environment(const std::function<const char*(const char*)>& variable) {
  const Environment environment(variable);
  for (const char* const size : kSizes) {
    if (environment.number(size).value_or(1) > 1) {
      return {true, environment.says(size)};
    }
  }
  // Replicas of one process are no processes.
  if (environment.number("POPDIST_NUM_TOTAL_REPLICAS").value_or(1) >
      environment.number("POPDIST_NUM_LOCAL_REPLICAS").value_or(1)) {
    return {true, environment.says("POPDIST_NUM_TOTAL_REPLICAS")};
  }
  for (const char* const rank : kRanks) {
    if (environment.number(rank).value_or(0) > 0) {
      return {true, environment.says(rank)};
    }
  }
  for (const char* const size : kWorldSizes) {
    if (environment.number(size)) {
      return {};
    }
  }
  for (const char* const rank : kRanks) {
    if (environment.number(rank)) {
      return {false, environment.says(rank) + ", and nothing says how many processes there are"};
    }
  }
  return {};
}

int rank_of_environment(const std::function<const char*(const char*)>& variable) {
  const Environment environment(variable);
  for (const char* const rank : kWorldRanks) {
    if (const std::optional<long> number = environment.number(rank)) {
      return static_cast<int>(*number);
    }
  }
  return 0;
}

std::string advice_on_lost_hosts(const std::function<const char*(const char*)>& variable) {
  const std::string told = std::string("OMPI_MCA_") + kNoticeLostHost.front().name;
  if (variable("OMPI_COMM_WORLD_SIZE") == nullptr || variable(told.c_str()) != nullptr) {
    return "";
  }
  std::string words;
  for (const LauncherSetting& setting : kNoticeLostHost) {
    words += std::string(" --mca ") + setting.name + " " + setting.value;
  }
  return "mpirun itself would not notice for minutes that a host is gone (the processes do, and "
         "end); give it" +
         words + ", as `cosmictagger launch` does";
}

}  // namespace cosmic::comm
