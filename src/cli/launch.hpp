// What `cosmictagger launch` makes of its options: words for mpirun, and a table of who runs where.
// Poprun's options, MPI's launcher.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cosmic::cli {

struct LaunchChoice {
  std::int64_t instances = 1;           ///< processes, on all hosts together
  std::int64_t replicas = 1;            ///< of each instance
  std::vector<std::string> hosts = {};  ///< by name; empty for this one
  int cores = 1;                        ///< of a host
  std::string compute_mode = {};        ///< of the command; empty where its words do not say
  std::optional<int> devices = {};      ///< of that kind in a host, where they are told apart
  std::int64_t device = -1;             ///< that the command asks for; -1 for the next free one

  std::int64_t hosts_count() const {
    return hosts.empty() ? 1 : static_cast<std::int64_t>(hosts.size());
  }
  std::int64_t instances_per_host() const { return instances / hosts_count(); }
  /// Of each instance; 0 where there are more instances than cores.
  std::int64_t cores_per_instance() const { return cores / instances_per_host(); }
};

/// "a,b" as names. Throws UserError if one is empty or is there twice.
std::vector<std::string> hosts_of(const std::string& text);

/// Throws UserError unless every host gets as many instances.
void require_even(const LaunchChoice& choice);

/// Throws UserError unless the command that these words begin with shares its work among processes,
/// and can have as many replicas as were chosen.
void require_shared_work(const LaunchChoice& choice, const std::vector<std::string>& words);

/// Launchers take different words for the same.
enum class MpirunKind { open_mpi, hydra };

/// The command line that starts `program` with `words` in every instance, on cores of its own.
std::vector<std::string> mpirun_words(const LaunchChoice& choice, MpirunKind kind,
                                      const std::string& program,
                                      const std::vector<std::string>& words);

/// Where an instance computes: the device that the process itself will take.
std::string device_of(const LaunchChoice& choice, std::int64_t instance);

/// Instances with their hosts, replicas, cores and devices.
std::string launch_table(const LaunchChoice& choice);

}  // namespace cosmic::cli
