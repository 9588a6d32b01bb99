// How a command finds the processes that a launcher has started together with its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "config/configuration.hpp"

namespace cosmic::cli {

/// Runs a command with the processes that work together on it, or with null where this one is alone
/// or is told to be (run.distributed=false). The configuration is that of the command with what
/// poprun has set: replicas, and the seed that all instances share.
///
/// MPI is only begun where a launcher has left a trace. Throws UserError if that says that there
/// are several processes and MPI sees one: they would all do the same work. An error that one of
/// several processes throws is told with its name, and ends all of them.
void work_together(
    const config::Configuration& configuration,
    const std::function<void(const config::Configuration&, comm::Communicator*)>& command);

/// For a command that gives each process work of its own: all processes that a launcher has started
/// together, or null where this one is alone. Throws UserError as work_together does.
std::unique_ptr<comm::Communicator> launched_processes();

/// For an error that may be that of all processes, as those of the command line are: whoever is not
/// the first of several waits before it says the same, and has mostly been ended by then.
void let_first_speak();

/// Tells what was noticed about the settings. All processes that work together have the same, so
/// only the first one says it.
void tell_of_settings(const std::vector<std::string>& notes,
                      const config::Configuration& configuration);

}  // namespace cosmic::cli
