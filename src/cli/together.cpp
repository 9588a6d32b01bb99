#include "cli/together.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/standard_streams.hpp"
#include "comm/launcher.hpp"
#include "comm/mpi/connect.hpp"
#include "comm/popdist.hpp"
#include "core/error.hpp"
#include "run/processes.hpp"
#include "run/same_everywhere.hpp"

namespace cosmic::cli {
namespace {

/// What is wrong with the settings is wrong everywhere; the first process says it, and whoever
/// waits so long has been ended by then.
constexpr std::chrono::seconds kFirstSpeaks{2};

void let_first_speak(int rank) {
  if (rank > 0) {
    std::this_thread::sleep_for(kFirstSpeaks);
  }
}

const char* environment(const char* name) {
  return std::getenv(name);
}

void tell_of_launcher(const comm::Launch& launched) {
  if (!launched.evidence.empty()) {
    tell("note: {}, but this process works alone{}\n", launched.evidence,
         launched.several ? "; the others do the same work over again, so give each its own "
                            "output_dir"
                          : ": it shares no work with others that may have been started");
  }
}

config::Configuration with_popdist(config::Configuration configuration) {
  namespace popdist = comm::popdist;
  if (!popdist::is_environment_set(environment)) {
    return configuration;
  }
  if (configuration.run.replicas == 1) {
    configuration.run.replicas = popdist::local_replicas(environment);
  }
  if (configuration.run.seed == 0) {
    configuration.run.seed = popdist::kCommonSeed;
  }
  return configuration;
}

void tell_of_lost_hosts(const comm::Communicator& all) {
  if (all.rank() > 0 || all.local_size() == all.size()) {
    return;
  }
  if (const std::string advice = comm::advice_on_lost_hosts(environment); !advice.empty()) {
    tell("note: {}\n", advice);
  }
}

/// As main has it for a process that is alone.
int status_of(const std::exception& error) {
  if (const auto* const ours = dynamic_cast<const Error*>(&error)) {
    return exit_status(*ours);
  }
  if (dynamic_cast<const std::filesystem::filesystem_error*>(&error) != nullptr) {
    return exit_status(DataError(""));
  }
  const bool too_large = dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
                         dynamic_cast<const std::length_error*>(&error) != nullptr;
  return too_large ? exit_status(TargetError("")) : kInternalError;
}

/// The processes of this run, if there are several.
std::unique_ptr<comm::Communicator> connect(const comm::Launch& launched) {
  COSMIC_REQUIRE(
      UserError, comm::mpi::is_built() || !launched.several,
      launched.evidence
          << ", so this is one of several processes (this program was built without "
             "MPI, so they cannot reach each other, and each would do the same work); "
             "build it where libopenmpi-dev or libmpich-dev is installed (COSMIC_MPI), "
             "start one process, or say run.distributed=false to run independent copies");
  if (!comm::mpi::is_built()) {
    return nullptr;
  }
  std::unique_ptr<comm::Communicator> all = comm::mpi::connect();
  COSMIC_REQUIRE(UserError, all->size() > 1 || !launched.several,
                 launched.evidence
                     << ", but MPI sees one process (the launcher belongs to another MPI than this "
                        "program, or the batch system's variables are there without its launcher; "
                        "every process would do the same work); start it with the mpirun of the "
                        "MPI that it was built with, or with srun --mpi=pmix, or say "
                        "run.distributed=false to run independent copies");
  return all;
}

}  // namespace

void let_first_speak() {
  if (comm::launch_of_environment(environment).several) {
    let_first_speak(comm::rank_of_environment(environment));
  }
}

void tell_of_settings(const std::vector<std::string>& notes,
                      const config::Configuration& configuration) {
  if (configuration.run.distributed && comm::rank_of_environment(environment) > 0) {
    return;
  }
  for (const std::string& note : notes) {
    tell("note: {}\n", note);
  }
}

std::unique_ptr<comm::Communicator> launched_processes() {
  const comm::Launch launched = comm::launch_of_environment(environment);
  if (launched.evidence.empty()) {
    return nullptr;
  }
  std::unique_ptr<comm::Communicator> all = connect(launched);
  return all == nullptr || all->size() == 1 ? nullptr : std::move(all);
}

void work_together(
    const config::Configuration& configuration,
    const std::function<void(const config::Configuration&, comm::Communicator*)>& command) {
  const comm::Launch launched = comm::launch_of_environment(environment);
  const config::Configuration settled =
      configuration.run.distributed ? with_popdist(configuration) : configuration;
  if (!configuration.run.distributed) {
    tell_of_launcher(launched);
    command(settled, nullptr);
    return;
  }
  const std::unique_ptr<comm::Communicator> all = launched_processes();
  if (all == nullptr) {
    command(settled, nullptr);
    return;
  }
  tell_of_lost_hosts(*all);
  all->set_longest_wait(settled.run.max_wait.seconds);
  try {
    run::require_same_settings(run::Processes(all.get()), settled);
    command(settled, all.get());
  } catch (const ExitStatus&) {
    throw;  // all processes end like this
  } catch (const std::exception& error) {
    let_first_speak(all->rank());
    tell("cosmictagger: error: {}: {}\n", run::Processes(all.get()).name(), error.what());
    all->abort(status_of(error));
  }
}

}  // namespace cosmic::cli
