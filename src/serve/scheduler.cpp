#include "serve/scheduler.hpp"

#include <algorithm>
#include <exception>

#include "core/error.hpp"

namespace cosmic::serve {
namespace {

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

/// A slot for as long as a batch is computed.
class HeldSlot {
 public:
  explicit HeldSlot(ComputeSlots* slots) : slots_(slots) {
    if (slots_ != nullptr) {
      slots_->take();
    }
  }
  ~HeldSlot() {
    if (slots_ != nullptr) {
      slots_->give_back();
    }
  }
  HeldSlot(const HeldSlot&) = delete;
  HeldSlot& operator=(const HeldSlot&) = delete;

 private:
  ComputeSlots* slots_;
};

}  // namespace

void ComputeSlots::take() {
  std::unique_lock lock(mutex_);
  given_.wait(lock, [&] { return free_ > 0; });
  --free_;
}

void ComputeSlots::give_back() {
  {
    const std::lock_guard lock(mutex_);
    ++free_;
  }
  given_.notify_one();
}

Scheduler::Scheduler(SchedulerOptions options, const MakeRunner& make)
    : options_(std::move(options)) {
  std::size_t ready = 0;
  std::exception_ptr trouble;
  threads_.reserve(static_cast<std::size_t>(options_.replicas));
  try {
    for (int replica = 0; replica < options_.replicas; ++replica) {
      threads_.emplace_back(
          [this, replica, &make, &ready, &trouble] { work(replica, make, ready, trouble); });
    }
  } catch (const std::system_error&) {  // no more threads: those that there are must end
    const std::lock_guard lock(mutex_);
    trouble = std::current_exception();
  }
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ready == threads_.size(); });
  }
  if (trouble) {
    drain();
    std::rethrow_exception(trouble);
  }
}

Scheduler::~Scheduler() {
  drain();
}

void Scheduler::work(int replica, const MakeRunner& make, std::size_t& ready,
                     std::exception_ptr& trouble) {
  std::unique_ptr<BatchRunner> runner;
  std::exception_ptr own;
  try {
    runner = make(replica);
  } catch (...) {
    own = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    ++ready;  // the constructor does not return before, so the references hold until here
    if (own && !trouble) {
      trouble = own;
    }
    if (runner) {
      largest_batch_ = runner->batch_sizes().back();
    }
    changed_.notify_all();
  }
  if (runner) {
    serve(*runner);
  }
}

std::int64_t Scheduler::batch_now(const BatchRunner& runner) const {
  const std::vector<std::int64_t>& sizes = runner.batch_sizes();
  const auto above = std::upper_bound(sizes.begin(), sizes.end(), waiting_);
  // An unfilled place costs as much as an event, so only the smallest batch is ever padded.
  return above == sizes.begin() ? sizes.front() : *std::prev(above);
}

void Scheduler::serve(BatchRunner& runner) {
  const std::int64_t largest = runner.batch_sizes().back();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return waiting_ > 0 || draining_; });
    if (waiting_ == 0) {
      return;
    }
    if (options_.delay.count() > 0) {
      Clock::time_point oldest = Clock::time_point::max();
      for (const std::deque<Waiting>& queue : queues_) {
        if (!queue.empty()) {
          oldest = std::min(oldest, queue.front().call->arrival);
        }
      }
      const bool enough = changed_.wait_until(lock, oldest + options_.delay, [&] {
        return waiting_ >= largest || waiting_ == 0 || draining_;
      });
      if (enough && waiting_ == 0) {
        continue;
      }
    }
    lock.unlock();
    {
      const HeldSlot slot(options_.slots);
      lock.lock();  // what waits now, not what waited before there was a slot
      const std::int64_t size = batch_now(runner);
      const std::vector<Waiting> batch = take(size);
      lock.unlock();
      if (!batch.empty()) {
        run(runner, batch, size);
      }
    }
    lock.lock();
  }
}

std::vector<Scheduler::Waiting> Scheduler::take(std::int64_t events) {
  std::vector<Waiting> batch;
  const Clock::time_point now = Clock::now();
  for (std::deque<Waiting>& queue : queues_) {
    while (!queue.empty() && static_cast<std::int64_t>(batch.size()) < events) {
      batch.push_back(std::move(queue.front()));
      queue.pop_front();
      --waiting_;
      TaggingCall& call = *batch.back().call;
      const std::lock_guard lock(call.mutex);
      if (!call.begun) {
        call.begun = true;
        call.times.queue = seconds_between(call.arrival, now);
      }
    }
  }
  return batch;
}

void Scheduler::run(BatchRunner& runner, std::span<const Waiting> batch, std::int64_t size) {
  std::vector<EventWork*> events;
  std::vector<Wanted> wanted;
  for (const Waiting& one : batch) {
    events.push_back(&one.call->events[one.event]);
    wanted.push_back(one.call->wanted);
  }
  BatchTimes times;
  try {
    times = runner.run(events, wanted, size);
    if (options_.ran) {
      options_.ran(size, static_cast<std::int64_t>(batch.size()), times);
    }
  } catch (const std::exception&) {
    // The text may speak of memory or devices, which is nobody's business outside.
    for (EventWork* const event : events) {
      event->refusal.emplace(Reason::internal, "the network could not be run");
    }
  }
  for (const Waiting& one : batch) {
    TaggingCall& call = *one.call;
    {
      const std::lock_guard lock(call.mutex);
      // A batch is waited for once, however many events of the call it has.
      const bool first_of_call =
          &one == &*std::find_if(batch.begin(), batch.end(),
                                 [&](auto& other) { return other.call == one.call; });
      if (first_of_call) {
        call.times.input += times.input;
        call.times.infer += times.infer;
        call.times.output += times.output;
      }
      --call.left;
    }
    call.done.notify_all();
  }
}

void Scheduler::accept(const std::shared_ptr<TaggingCall>& call) {
  const auto events = static_cast<std::int64_t>(call->events.size());
  require(events <= options_.queue_events, Reason::too_large, [&] {
    return "a request of " + std::to_string(events) + " events (the queue has room for " +
           std::to_string(options_.queue_events) + "); send fewer at once";
  });
  {
    const std::lock_guard lock(mutex_);
    require(!draining_, Reason::unavailable, "the model is being shut down; ask another server");
    require(waiting_ + events <= options_.queue_events, Reason::overloaded, [&] {
      return "the queue is full (" + std::to_string(waiting_) +
             " events wait, and it has room for " + std::to_string(options_.queue_events) +
             "); try again later";
    });
    call->left = call->events.size();
    call->arrival = Clock::now();
    std::deque<Waiting>& queue = queues_[static_cast<std::size_t>(call->priority)];
    for (std::size_t event = 0; event < call->events.size(); ++event) {
      queue.push_back({call, event});
    }
    waiting_ += events;
  }
  changed_.notify_all();
}

void Scheduler::forget(const TaggingCall& call) {
  const std::lock_guard lock(mutex_);
  for (std::deque<Waiting>& queue : queues_) {
    waiting_ -= static_cast<std::int64_t>(
        std::erase_if(queue, [&](const Waiting& one) { return one.call.get() == &call; }));
  }
  changed_.notify_all();
}

void Scheduler::tag(const std::shared_ptr<TaggingCall>& call,
                    const std::function<bool()>& cancelled) {
  // How soon a client that has gone is noticed; asking is a system call.
  constexpr auto kLook = std::chrono::milliseconds(50);
  const auto require_in_time = [&] {
    require(!call->deadline || Clock::now() < *call->deadline, Reason::deadline,
            "the time that the request allows is over");
  };
  require_in_time();
  if (call->events.empty()) {
    return;
  }
  accept(call);
  try {
    std::unique_lock lock(call->mutex);
    while (call->left > 0) {
      Clock::time_point until = Clock::now() + kLook;
      if (call->deadline) {
        until = std::min(until, *call->deadline);
      }
      if (call->done.wait_until(lock, until, [&] { return call->left == 0; })) {
        return;
      }
      lock.unlock();
      require_in_time();
      require(!cancelled(), Reason::cancelled, "the client has gone");
      lock.lock();
    }
  } catch (const Refusal&) {
    forget(*call);
    throw;
  }
}

void Scheduler::drain() {
  {
    const std::lock_guard lock(mutex_);
    draining_ = true;
  }
  changed_.notify_all();
  const std::lock_guard lock(drain_mutex_);
  for (std::thread& thread : threads_) {
    if (thread.joinable()) {
      thread.join();
    }
  }
}

std::int64_t Scheduler::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

}  // namespace cosmic::serve
