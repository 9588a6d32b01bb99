#include "run/processes.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>

#include "core/error.hpp"
#include "target/registry.hpp"

namespace cosmic::run {

std::string Processes::name(int rank) const {
  return "rank " + std::to_string(rank) +
         (communicator_ == nullptr ? "" : " on host " + communicator_->host(rank));
}

std::string Processes::description() const {
  if (communicator_ == nullptr) {
    return "";
  }
  std::map<std::string, int> hosts;
  for (int rank = 0; rank < size(); ++rank) {
    ++hosts[communicator_->host(rank)];
  }
  std::string text = std::to_string(size()) + " processes work together:";
  for (const auto& [host, count] : hosts) {
    text += (text.ends_with(':') ? " " : ", ") + std::to_string(count) + " on " + host;
  }
  return text;
}

// A launcher that binds processes has divided the cores already; one that does not leaves all of
// them to each.
ThreadBudget Processes::thread_budget(std::int64_t asked) const {
  if (asked > 0) {
    return {static_cast<int>(asked), "as asked for"};
  }
  ProcessLimits limits = process_limits();
  if (communicator_ != nullptr) {
    const int processes = communicator_->local_size();
    const int of_host = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    limits.cores = std::max(1, std::min(limits.cores, of_host / processes));
    if (limits.quota) {
      *limits.quota /= processes;
    }
  }
  return cosmic::thread_budget(limits);
}

std::string Processes::threads_text(std::int64_t asked) const {
  const ThreadBudget budget = thread_budget(asked);
  return std::to_string(budget.threads) +
         (budget.threads == 1 ? " thread computes" : " threads compute") +
         (size() > 1 ? " in each process" : "") + " (" + budget.reason + ").";
}

int Processes::device(std::int64_t asked, const std::optional<int>& devices,
                      Sharing sharing) const {
  if (asked >= 0 || communicator_ == nullptr || !devices || *devices == 0) {
    return static_cast<int>(std::max<std::int64_t>(asked, 0));
  }
  COSMIC_REQUIRE(UserError, communicator_->local_size() <= *devices || sharing == Sharing::allowed,
                 communicator_->local_size()
                     << " processes on host " << communicator_->host(rank())
                     << " are to train on its " << *devices << " device"
                     << (*devices == 1 ? "" : "s")
                     << " (each takes one, since devices add up over processes only if none is "
                        "shared); start at most "
                     << *devices
                     << " on this host, or say run.exchange=host to exchange through the hosts' "
                        "memory");
  return communicator_->local_rank() % *devices;
}

int Processes::device(std::int64_t asked, const std::string& target, Sharing sharing) const {
  return device(asked, target::device_count(target), sharing);
}

std::string Processes::of_leader(const std::string& own) const {
  if (communicator_ == nullptr) {
    return own;
  }
  std::uint64_t size = own.size();
  communicator_->broadcast(std::as_writable_bytes(std::span(&size, 1)), 0);
  std::string text = lead() ? own : std::string(size, '\0');
  communicator_->broadcast(std::as_writable_bytes(std::span(text)), 0);
  return text;
}

void Processes::gather_bytes(std::span<const std::byte> own, std::span<std::byte> all) const {
  if (communicator_ != nullptr) {
    communicator_->gather(own, all);
  } else if (!own.empty()) {
    std::memcpy(all.data(), own.data(), own.size());
  }
}

std::vector<std::string> Processes::gather_texts(const std::string& own) const {
  const std::vector<std::uint64_t> sizes = gather(static_cast<std::uint64_t>(own.size()));
  std::string padded = own;
  padded.resize(*std::max_element(sizes.begin(), sizes.end()));
  if (padded.empty()) {
    return std::vector<std::string>(sizes.size());
  }
  const std::vector<char> all = gather(std::span<const char>(padded));
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
    texts.emplace_back(all.data() + rank * padded.size(), sizes[rank]);
  }
  return texts;
}

void Processes::share(session::ModelState& state) const {
  if (communicator_ == nullptr) {
    return;
  }
  for (const std::string& name : state.names()) {
    session::Tensor tensor = state.read(name);
    communicator_->broadcast(tensor.bytes, 0);
    if (!lead()) {
      state.write(name, tensor);
    }
  }
}

config::Configuration with_own_part(config::Configuration configuration, const std::string& target,
                                    const Processes& processes) {
  configuration.run.device = processes.device(configuration.run.device, target, Sharing::allowed);
  configuration.run.threads = processes.threads(configuration.run.threads);
  configuration.data.threads = processes.threads(configuration.data.threads);
  return configuration;
}

std::int64_t events_per_replica(std::int64_t batch, std::int64_t processes, std::int64_t replicas) {
  const std::int64_t parts = processes * replicas;
  const std::int64_t below = batch / parts * parts;
  COSMIC_REQUIRE(UserError, batch % parts == 0,
                 "run.minibatch_size is "
                     << batch << " for " << processes << " process" << (processes == 1 ? "" : "es")
                     << " with " << replicas << " replica" << (replicas == 1 ? "" : "s")
                     << " each (every replica takes an equal part of a "
                        "batch); choose "
                     << (below > 0 ? std::to_string(below) + " or " : "") << below + parts);
  return batch / parts;
}

}  // namespace cosmic::run
