// The processes of a run as training and inference see them: one that works alone, or several of
// which the first leads. The leader speaks and writes files; the others compute.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "comm/communicator.hpp"
#include "config/configuration.hpp"
#include "core/thread_budget.hpp"
#include "data/loader/partition.hpp"
#include "session/model_state.hpp"

namespace cosmic::run {

/// May several processes compute on one device?
enum class Sharing { refused, allowed };

class Processes {
 public:
  /// Null for a process that works alone. The communicator outlives this.
  explicit Processes(comm::Communicator* communicator = nullptr)
      : communicator_(communicator),
        waited_before_(communicator == nullptr ? 0 : communicator->waiting_seconds()),
        exchanged_before_(communicator == nullptr ? 0 : communicator->exchange_seconds()) {}

  comm::Communicator* communicator() const { return communicator_; }
  int size() const { return communicator_ == nullptr ? 1 : communicator_->size(); }
  int rank() const { return communicator_ == nullptr ? 0 : communicator_->rank(); }
  bool lead() const { return rank() == 0; }
  data::Partition partition() const { return {rank(), size()}; }
  /// "rank 2 on host node17"
  std::string name(int rank) const;
  std::string name() const { return name(rank()); }
  /// A line that says who they are; empty for one alone.
  std::string description() const;

  /// Which of the devices of its host this process computes on: the one that was asked for, or one
  /// for each process of the host. Nothing to choose from is no choice. Throws UserError if there
  /// are fewer than processes and none of them can be shared.
  int device(std::int64_t asked, const std::optional<int>& devices, Sharing sharing) const;
  /// The same with what the target of that name has here.
  int device(std::int64_t asked, const std::string& target, Sharing sharing) const;
  /// Threads of this process: those that were asked for, or what whoever started it meant it to
  /// have, at most its part of its host.
  ThreadBudget thread_budget(std::int64_t asked) const;
  int threads(std::int64_t asked) const { return thread_budget(asked).threads; }
  /// A line for the log: "2 threads compute (OMP_NUM_THREADS=2)."
  std::string threads_text(std::int64_t asked) const;
  /// Since this was made: a run counts what it has waited itself, not what came before it.
  double waiting_seconds() const {
    return communicator_ == nullptr ? 0 : communicator_->waiting_seconds() - waited_before_;
  }
  double exchange_seconds() const {
    return communicator_ == nullptr ? 0 : communicator_->exchange_seconds() - exchanged_before_;
  }

  /// The text that the leader has.
  std::string of_leader(const std::string& own) const;
  /// What each process has, in the order of ranks; all have equally many.
  template <class T>
  requires std::is_trivially_copyable_v<T> std::vector<T> gather(std::span<const T> own)
  const {
    std::vector<T> all(own.size() * static_cast<std::size_t>(size()));
    gather_bytes(std::as_bytes(own), std::as_writable_bytes(std::span(all)));
    return all;
  }
  template <class T>
  requires std::is_trivially_copyable_v<T> std::vector<T> gather(const T& own)
  const { return gather(std::span(&own, 1)); }
  /// The same for texts, which may be of any length.
  std::vector<std::string> gather_texts(const std::string& own) const;
  /// Gives every process the state that the leader has, all of it: weights, running statistics and
  /// what the optimizer remembers.
  void share(session::ModelState& state) const;

 private:
  void gather_bytes(std::span<const std::byte> own, std::span<std::byte> all) const;

  comm::Communicator* communicator_;
  double waited_before_;
  double exchanged_before_;
};

/// The settings with what this process has of its host: its threads, those that compute and those
/// that read, and its device, which several may share.
config::Configuration with_own_part(config::Configuration configuration, const std::string& target,
                                    const Processes& processes);

/// Events of one micro-batch, if a batch is divided among all replicas of all processes. Throws
/// UserError naming batches that can be, if it cannot.
std::int64_t events_per_replica(std::int64_t batch, std::int64_t processes, std::int64_t replicas);

}  // namespace cosmic::run
