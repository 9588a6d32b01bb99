// Processes that MPI joins. One thread of each makes all calls of MPI, none of which blocks, so
// that messages get on while the program computes, and so that the thread can do a second thing all
// the time: listen whether its neighbour is alive. Each process hears from the one before it, the
// first from the last. One that has not been heard of for kSilence, because it was stopped or its
// host is gone, ends the run: without it the others would wait forever. What is heard is how many
// calls each process has made, so that one that is alive and keeps the others waiting is named.
#pragma once

#include <mpi.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "comm/call_counts.hpp"
#include "comm/communicator.hpp"
#include "comm/mpi/exact_sum.hpp"
#include "core/stopwatch.hpp"

namespace cosmic::comm::mpi {

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator();
  /// Waits for all others to come here too.
  ~MpiCommunicator() override;
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return local_rank_; }
  int local_size() const override { return local_size_; }
  const std::string& host(int rank) const override {
    return hosts_.at(static_cast<std::size_t>(rank));
  }

  Ticket begin_sum(std::span<float> numbers, NumberFormat format) override;
  void wait(Ticket ticket) override;
  void gather(std::span<const std::byte> own, std::span<std::byte> all) override;
  void broadcast(std::span<std::byte> bytes, int from) override;
  double waiting_seconds() const override { return waiting_seconds_; }
  double exchange_seconds() const override;
  void set_longest_wait(double seconds) override { longest_wait_ = seconds; }
  [[noreturn]] void abort(int status) override;

 private:
  struct Task {
    enum class Kind { sum, gather, broadcast, barrier };

    Kind kind = Kind::barrier;
    std::span<float> numbers = {};
    NumberFormat format = NumberFormat::f32;
    std::span<const std::byte> own = {};
    std::span<std::byte> bytes = {};
    int from = 0;
  };

  /// Of MPI's library, which begins and ends once in a process: with the first communicator and
  /// when the process exits.
  class Library {
   public:
    Library();
    ~Library();
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
  };

  Ticket post(const Task& task);

  // Of the thread that calls MPI.
  void carry();
  std::optional<Task> next_task();
  void begin(const Task& task);
  bool test(const Task& task);
  void rest(int looks);
  void say_goodbye();
  void keep_in_touch();
  void beat();
  void send_beat(int tag);
  void listen();
  void name_who_is_late();
  std::string names_of(const std::vector<int>& ranks) const;
  void stop_where_asked();
  void say(const std::string& text) const;
  [[noreturn]] void end_run(const std::string& reason, int status);

  MPI_Comm work_ = MPI_COMM_NULL;
  MPI_Comm beats_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  int local_rank_ = 0;
  int local_size_ = 1;
  std::vector<std::string> hosts_;

  std::optional<ExactSum> sum_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  MPI_Request beat_request_ = MPI_REQUEST_NULL;
  std::optional<CallCounts> counts_;
  std::vector<std::uint64_t> sent_counts_;  ///< MPI's until it has sent them
  std::vector<std::uint64_t> heard_counts_;
  double named_after_ = 0;  ///< seconds of the wait after which who is late is named next
  Stopwatch since_sent_;
  Stopwatch since_heard_;
  Stopwatch since_listened_;
  bool heard_goodbye_ = false;

  mutable std::mutex mutex_;
  std::condition_variable posted_;
  std::condition_variable carried_;
  std::condition_variable awaited_now_;
  std::deque<Task> tasks_;
  Ticket posted_count_ = 0;
  Ticket carried_count_ = 0;
  Ticket awaited_ticket_ = 0;
  Stopwatch since_awaited_;
  bool stopping_ = false;
  double waiting_seconds_ = 0;
  double exchange_seconds_ = 0;
  std::atomic<bool> awaited_ = false;  ///< does somebody do nothing but wait?
  std::atomic<int> abort_status_ = 0;  ///< not 0: end all
  std::atomic<double> longest_wait_ = 0;
  std::thread carrier_;  ///< last: everything that it uses is there
};

}  // namespace cosmic::comm::mpi
