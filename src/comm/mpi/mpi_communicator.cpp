#include "comm/mpi/mpi_communicator.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/error.hpp"

namespace cosmic::comm::mpi {
namespace {

using namespace std::chrono_literals;

constexpr double kSecondsBetweenBeats = 0.5;
constexpr double kSecondsBetweenListening = 0.1;
/// Of a neighbour. A process that computes, reads or writes beats all the same.
constexpr double kSilence = 20;
/// After which one that is alive but late is named, and again after twice, four times and so on.
constexpr double kLongWait = 20;
/// For each process of a ring, until all have heard of it.
constexpr double kNewsTakes = kSecondsBetweenBeats + kSecondsBetweenListening;
/// At most, from the decision on.
constexpr auto kAbortTakes = 5s;
/// MPICH's launcher drops what a process has said in the moment before it ends the run.
constexpr auto kLastWordsTake = 200ms;
constexpr int kBeat = 1;
constexpr int kGoodbye = 2;
constexpr int kLostStatus = 75;  // of sysexits.h: try again later

// How often the thread looks whether messages have arrived. Where nobody waits for them, looking
// takes time from computing; where somebody does, sleeping costs that one's time.
constexpr auto kNothingToDo = 50ms;
constexpr auto kWhileComputing = 300us;
constexpr auto kBetweenLooks = 50us;
constexpr auto kLongAwaited = 1ms;
constexpr int kLooksWithoutSleep = 200;
constexpr int kSoonOver = 300;  // looks: about 10 ms

/// MPI's own way to end all processes goes through the launcher's daemons; where those cannot reach
/// each other any more, it may take forever. This process ends all the same.
[[noreturn]] void abort_all(int status) {
  std::thread([status] {
    std::this_thread::sleep_for(kAbortTakes);
    std::_Exit(status);
  }).detach();
  std::this_thread::sleep_for(kLastWordsTake);
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace

MpiCommunicator::Library::Library() {
  // Longer messages are announced and wait for an answer: two more trips, and the answer queues
  // behind what already goes the other way, so that the two ways take turns. Here everyone waits
  // for what is sent. Open MPI reads this; what a user has set stays.
  setenv("OMPI_MCA_btl_tcp_eager_limit", "1048576", 0);
  int provided = MPI_THREAD_SINGLE;
  require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
  COSMIC_REQUIRE(TargetError, provided >= MPI_THREAD_SERIALIZED,
                 "this MPI gives no more than thread level "
                     << provided << " (messages are carried by a thread of their own, which takes "
                     << MPI_THREAD_SERIALIZED
                     << ", MPI_THREAD_SERIALIZED); use an MPI that was built with threads");
}

MpiCommunicator::Library::~Library() {
  MPI_Finalize();
}

MpiCommunicator::MpiCommunicator() {
  static const Library library;
  require(MPI_Comm_dup(MPI_COMM_WORLD, &work_), "MPI_Comm_dup");
  require(MPI_Comm_dup(MPI_COMM_WORLD, &beats_), "MPI_Comm_dup");
  for (const MPI_Comm communicator : {work_, beats_}) {
    require(MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  require(MPI_Comm_rank(work_, &rank_), "MPI_Comm_rank");
  require(MPI_Comm_size(work_, &size_), "MPI_Comm_size");
  MPI_Comm local = MPI_COMM_NULL;
  require(MPI_Comm_split_type(work_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &local),
          "MPI_Comm_split_type");
  require(MPI_Comm_rank(local, &local_rank_), "MPI_Comm_rank");
  require(MPI_Comm_size(local, &local_size_), "MPI_Comm_size");
  require(MPI_Comm_free(&local), "MPI_Comm_free");
  using Name = std::array<char, MPI_MAX_PROCESSOR_NAME>;
  Name own{};
  int length = 0;
  require(MPI_Get_processor_name(own.data(), &length), "MPI_Get_processor_name");
  std::vector<Name> names(static_cast<std::size_t>(size_));
  require(MPI_Allgather(own.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, names.data(),
                        MPI_MAX_PROCESSOR_NAME, MPI_CHAR, work_),
          "MPI_Allgather");
  for (const Name& name : names) {
    hosts_.emplace_back(name.data());
  }
  sum_.emplace(work_);
  counts_.emplace(rank_, size_);
  sent_counts_.resize(static_cast<std::size_t>(size_));
  heard_counts_.resize(static_cast<std::size_t>(size_));
  carrier_ = std::thread([this] { carry(); });
}

MpiCommunicator::~MpiCommunicator() {
  wait(post({.kind = Task::Kind::barrier}));
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  posted_.notify_one();
  carrier_.join();
  MPI_Comm_free(&beats_);
  MPI_Comm_free(&work_);
}

Communicator::Ticket MpiCommunicator::post(const Task& task) {
  Ticket ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(task);
    ticket = ++posted_count_;
  }
  posted_.notify_one();
  return ticket;
}

Communicator::Ticket MpiCommunicator::begin_sum(std::span<float> numbers, NumberFormat format) {
  return post({.kind = Task::Kind::sum, .numbers = numbers, .format = format});
}

void MpiCommunicator::wait(Ticket ticket) {
  std::unique_lock lock(mutex_);
  if (carried_count_ >= ticket) {
    return;
  }
  const Stopwatch watch;
  awaited_ticket_ = ticket;
  since_awaited_.restart();
  awaited_ = true;
  awaited_now_.notify_one();
  carried_.wait(lock, [&] { return carried_count_ >= ticket; });
  awaited_ = false;
  waiting_seconds_ += watch.seconds();
}

double MpiCommunicator::exchange_seconds() const {
  const std::lock_guard lock(mutex_);
  return exchange_seconds_;
}

void MpiCommunicator::gather(std::span<const std::byte> own, std::span<std::byte> all) {
  COSMIC_ASSERT(own.size() <= INT_MAX &&
                all.size() == own.size() * static_cast<std::size_t>(size_));
  wait(post({.kind = Task::Kind::gather, .own = own, .bytes = all}));
}

void MpiCommunicator::broadcast(std::span<std::byte> bytes, int from) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // MPI counts in int
  for (std::size_t at = 0; at < bytes.size(); at += kMost) {
    wait(post({.kind = Task::Kind::broadcast,
               .bytes = bytes.subspan(at, std::min(kMost, bytes.size() - at)),
               .from = from}));
  }
}

void MpiCommunicator::abort(int status) {
  abort_status_ = status == 0 ? 1 : status;
  posted_.notify_one();
  carrier_.join();  // which ends the process
  std::abort();
}

// --- the thread that calls MPI ---

void MpiCommunicator::carry() {
  try {
    while (const std::optional<Task> task = next_task()) {
      const Stopwatch watch;
      begin(*task);
      for (int looks = 0; !test(*task); looks = awaited_ ? looks + 1 : 0) {
        keep_in_touch();
        rest(looks);
      }
      {
        const std::lock_guard lock(mutex_);
        ++carried_count_;
        exchange_seconds_ += task->kind == Task::Kind::sum ? watch.seconds() : 0;
      }
      carried_.notify_all();
    }
    say_goodbye();
  } catch (const Error& error) {
    end_run(error.what(), kLostStatus);
  }
}

/// Between two looks whether a message has arrived; `looks` of them since it is awaited.
void MpiCommunicator::rest(int looks) {
  if (!awaited_) {
    std::unique_lock lock(mutex_);
    awaited_now_.wait_for(lock, kWhileComputing, [&] { return awaited_.load(); });
  } else if (looks < kLooksWithoutSleep) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(looks < kSoonOver ? kBetweenLooks : kLongAwaited);
  }
}

/// None at the end.
std::optional<MpiCommunicator::Task> MpiCommunicator::next_task() {
  while (true) {
    keep_in_touch();
    std::unique_lock lock(mutex_);
    posted_.wait_for(lock, kNothingToDo,
                     [&] { return !tasks_.empty() || stopping_ || abort_status_ != 0; });
    if (!tasks_.empty()) {
      const Task task = tasks_.front();
      tasks_.pop_front();
      return task;
    }
    if (stopping_) {
      return std::nullopt;
    }
  }
}

void MpiCommunicator::begin(const Task& task) {
  switch (task.kind) {
    case Task::Kind::sum:
      return sum_->begin(task.numbers, task.format);
    case Task::Kind::gather:
      return require(MPI_Iallgather(task.own.data(), static_cast<int>(task.own.size()), MPI_BYTE,
                                    task.bytes.data(), static_cast<int>(task.own.size()), MPI_BYTE,
                                    work_, &request_),
                     "MPI_Iallgather");
    case Task::Kind::broadcast:
      return require(MPI_Ibcast(task.bytes.data(), static_cast<int>(task.bytes.size()), MPI_BYTE,
                                task.from, work_, &request_),
                     "MPI_Ibcast");
    case Task::Kind::barrier:
      return require(MPI_Ibarrier(work_, &request_), "MPI_Ibarrier");
  }
}

bool MpiCommunicator::test(const Task& task) {
  if (task.kind == Task::Kind::sum) {
    return sum_->test();
  }
  int done = 0;
  require(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

/// So that no message is left that nobody received when the library ends.
void MpiCommunicator::say_goodbye() {
  if (size_ == 1) {
    return;
  }
  require(MPI_Wait(&beat_request_, MPI_STATUS_IGNORE), "MPI_Wait");
  send_beat(kGoodbye);
  while (!heard_goodbye_) {
    listen();
    std::this_thread::sleep_for(kBetweenLooks);
  }
  require(MPI_Wait(&beat_request_, MPI_STATUS_IGNORE), "MPI_Wait");
}

void MpiCommunicator::keep_in_touch() {
  stop_where_asked();
  if (size_ == 1 || since_listened_.seconds() < kSecondsBetweenListening) {
    return;
  }
  since_listened_.restart();
  beat();
  listen();
  name_who_is_late();
}

void MpiCommunicator::beat() {
  if (since_sent_.seconds() < kSecondsBetweenBeats) {
    return;
  }
  // One that is stopped receives nothing; there is no point in sending it more.
  int done = 0;
  require(MPI_Test(&beat_request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (done == 0) {
    return;
  }
  since_sent_.restart();
  {
    const std::lock_guard lock(mutex_);
    counts_->set_own(posted_count_);
  }
  send_beat(kBeat);
}

void MpiCommunicator::send_beat(int tag) {
  std::copy(counts_->of_all().begin(), counts_->of_all().end(), sent_counts_.begin());
  require(MPI_Isend(sent_counts_.data(), size_, MPI_UINT64_T, (rank_ + 1) % size_, tag, beats_,
                    &beat_request_),
          "MPI_Isend");
}

void MpiCommunicator::listen() {
  const int before = (rank_ + size_ - 1) % size_;
  while (!heard_goodbye_) {
    int there = 0;
    MPI_Status status;
    require(MPI_Iprobe(before, MPI_ANY_TAG, beats_, &there, &status), "MPI_Iprobe");
    if (there == 0) {
      break;
    }
    require(MPI_Recv(heard_counts_.data(), size_, MPI_UINT64_T, before, status.MPI_TAG, beats_,
                     MPI_STATUS_IGNORE),
            "MPI_Recv");
    counts_->merge(heard_counts_);
    since_heard_.restart();
    heard_goodbye_ = status.MPI_TAG == kGoodbye;
  }
  if (!heard_goodbye_ && since_heard_.seconds() > kSilence) {
    end_run("rank " + std::to_string(before) + " on host " + host(before) +
                " has not been heard of for " + std::to_string(static_cast<int>(kSilence)) +
                " s (it was stopped, or its host or the network is gone); the run ends here. Run "
                "the same command again to go on from the newest checkpoint.",
            kLostStatus);
  }
}

std::string MpiCommunicator::names_of(const std::vector<int>& ranks) const {
  constexpr std::size_t kMost = 4;
  std::string names;
  for (std::size_t i = 0; i < std::min(ranks.size(), kMost); ++i) {
    names +=
        (i == 0 ? "rank " : ", rank ") + std::to_string(ranks[i]) + " on host " + host(ranks[i]);
  }
  return ranks.size() <= kMost ? names
                               : names + " and " + std::to_string(ranks.size() - kMost) + " more";
}

/// A process whose computing thread hangs, in a file system that does not answer, say, beats all
/// the same. One of those who wait for it speaks: the first that is not late itself.
void MpiCommunicator::name_who_is_late() {
  Ticket awaited = 0;
  double waited = 0;
  {
    const std::lock_guard lock(mutex_);
    if (awaited_) {
      awaited = awaited_ticket_;
      waited = since_awaited_.seconds();
    }
  }
  const double first = kLongWait + kNewsTakes * size_;
  if (waited < first) {
    named_after_ = first;
  }
  const double longest = longest_wait_;
  const bool too_long = longest > 0 && waited > longest + kNewsTakes * size_;
  if (waited < named_after_ && !too_long) {
    return;
  }
  const std::vector<int> late = counts_->short_of(awaited);
  int speaker = 0;
  while (std::find(late.begin(), late.end(), speaker) != late.end()) {
    ++speaker;
  }
  if (late.empty() || speaker != rank_) {
    return;
  }
  const std::string who = "the others have waited " + std::to_string(static_cast<int>(waited)) +
                          " s for " + names_of(late);
  if (too_long) {
    end_run(who +
                " (run.max_wait); the run ends here. Run the same command again to go on from "
                "the newest checkpoint.",
            kLostStatus);
  }
  say(who +
      ", which is alive and computes, reads or writes. If it hangs, end it: the same command "
      "goes on from the newest checkpoint.");
  named_after_ = 2 * std::max(waited, named_after_);
}

void MpiCommunicator::stop_where_asked() {
  if (const int status = abort_status_; status != 0) {
    abort_all(status);
  }
}

void MpiCommunicator::say(const std::string& text) const {
  std::fprintf(stderr, "rank %d on host %s: %s\n", rank_, host(rank_).c_str(), text.c_str());
  std::fflush(stderr);
}

void MpiCommunicator::end_run(const std::string& reason, int status) {
  say(reason);
  abort_all(status);
}

}  // namespace cosmic::comm::mpi
