#include "serve/scheduler.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <latch>
#include <thread>

namespace cosmic::serve {
namespace {

using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;

/// Tags an event by the number of its run, which a test gives it, and waits where a test wants it.
struct Record {
  std::mutex mutex;
  std::condition_variable changed;
  bool held = false;                               ///< batches wait
  std::vector<std::vector<std::int64_t>> batches;  ///< numbers of the events, by batch
  std::vector<std::int64_t> sizes;
  int running = 0;
  int most_running = 0;

  void hold() {
    const std::lock_guard lock(mutex);
    held = true;
  }
  void release() {
    {
      const std::lock_guard lock(mutex);
      held = false;
    }
    changed.notify_all();
  }
  void wait_for_batches(std::size_t count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return batches.size() >= count; });
  }
};

class NumberRunner final : public BatchRunner {
 public:
  NumberRunner(Record& record, std::vector<std::int64_t> sizes)
      : record_(record), sizes_(std::move(sizes)) {}

  const std::vector<std::int64_t>& batch_sizes() const override { return sizes_; }
  BatchTimes run(std::span<EventWork* const> events, std::span<const Wanted>,
                 std::int64_t size) override {
    std::unique_lock lock(record_.mutex);
    std::vector<std::int64_t>& batch = record_.batches.emplace_back();
    for (const EventWork* const event : events) {
      batch.push_back(static_cast<std::int64_t>(event->image[0].ids.at(0)));
    }
    record_.sizes.push_back(size);
    record_.most_running = std::max(record_.most_running, ++record_.running);
    record_.changed.notify_all();
    record_.changed.wait(lock, [&] { return !record_.held; });
    --record_.running;
    for (EventWork* const event : events) {
      const std::uint64_t number = event->image[0].ids[0];
      if (number == 666) {
        throw std::runtime_error("no memory at 0x1234");
      }
      event->tag = {static_cast<std::uint8_t>(number)};
    }
    return {.input = 0.001, .infer = 0.01, .output = 0.002};
  }

 private:
  Record& record_;
  std::vector<std::int64_t> sizes_;
};

class SchedulerOfNumbers : public testing::Test {
 protected:
  Scheduler& start(SchedulerOptions options = {}, std::vector<std::int64_t> sizes = {1, 2, 4}) {
    scheduler_ = std::make_unique<Scheduler>(std::move(options), [this, sizes](int) {
      return std::make_unique<NumberRunner>(record_, sizes);
    });
    return *scheduler_;
  }
  static std::shared_ptr<TaggingCall> call(const std::vector<std::uint64_t>& numbers,
                                           Priority priority = Priority::normal) {
    auto made = std::make_shared<TaggingCall>();
    made->priority = priority;
    for (const std::uint64_t number : numbers) {
      made->events.emplace_back().image[0].ids = {number};
    }
    return made;
  }
  /// On a thread of its own.
  std::future<Reason> ask(const std::shared_ptr<TaggingCall>& made) {
    return std::async(std::launch::async, [this, made] { return reason_of(*scheduler_, made); });
  }
  static constexpr Reason kFine = static_cast<Reason>(99);
  static Reason reason_of(
      Scheduler& scheduler, const std::shared_ptr<TaggingCall>& made,
      const std::function<bool()>& cancelled = [] { return false; }) {
    try {
      scheduler.tag(made, cancelled);
      return kFine;
    } catch (const Refusal& refusal) {
      return refusal.reason();
    }
  }
  void wait_until_waiting(std::int64_t events) const {
    while (scheduler_->waiting() != events) {
      std::this_thread::yield();
    }
  }
  /// A batch that keeps the replica busy until the record is released.
  std::future<Reason> occupy() {
    record_.hold();
    std::future<Reason> first = ask(call({100}));
    record_.wait_for_batches(1);
    return first;
  }
  Record& record() { return record_; }

 private:
  Record record_;
  std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(SchedulerOfNumbers, tags_every_event_of_a_call) {
  Scheduler& scheduler = start();
  const auto made = call({3, 1, 2});
  scheduler.tag(made);
  EXPECT_THAT(made->events[0].tag, ElementsAre(3));
  EXPECT_THAT(made->events[1].tag, ElementsAre(1));
  EXPECT_THAT(made->events[2].tag, ElementsAre(2));
  EXPECT_GT(made->times.infer, 0);
}

TEST_F(SchedulerOfNumbers, fills_the_largest_batch_that_what_waits_can_fill_and_pads_none) {
  start();
  std::future<Reason> first = occupy();
  std::future<Reason> others = ask(call({1, 2, 3, 4, 5, 6, 7}));
  wait_until_waiting(7);
  record().release();
  EXPECT_EQ(first.get(), kFine);
  EXPECT_EQ(others.get(), kFine);
  EXPECT_THAT(record().sizes, ElementsAre(1, 4, 2, 1));
  EXPECT_THAT(record().batches, ElementsAre(ElementsAre(100), ElementsAre(1, 2, 3, 4),
                                            ElementsAre(5, 6), ElementsAre(7)));
}

TEST_F(SchedulerOfNumbers, pads_the_smallest_batch_if_there_is_no_smaller) {
  Scheduler& scheduler = start({}, {4});
  scheduler.tag(call({1}));
  EXPECT_THAT(record().sizes, ElementsAre(4));
}

TEST_F(SchedulerOfNumbers, puts_events_of_different_calls_into_one_batch) {
  start();
  std::future<Reason> first = occupy();
  std::future<Reason> a = ask(call({1}));
  wait_until_waiting(1);
  std::future<Reason> b = ask(call({2}));
  wait_until_waiting(2);
  record().release();
  EXPECT_EQ(a.get(), kFine);
  EXPECT_EQ(b.get(), kFine);
  EXPECT_EQ(first.get(), kFine);
  EXPECT_THAT(record().batches, ElementsAre(ElementsAre(100), ElementsAre(1, 2)));
}

TEST_F(SchedulerOfNumbers, waits_for_a_fuller_batch_only_as_long_as_the_delay_allows) {
  Scheduler& scheduler = start({.delay = std::chrono::milliseconds(30)});
  const auto begin = Clock::now();
  scheduler.tag(call({1}));
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(30));
  // One that is full does not wait.
  const auto made = call({1, 2, 3, 4});
  scheduler.tag(made);
  EXPECT_LT(made->times.queue, 0.03);
}

TEST_F(SchedulerOfNumbers, takes_the_highest_priority_first) {
  start({}, {1});
  std::future<Reason> first = occupy();
  std::future<Reason> low = ask(call({3}, Priority::low));
  wait_until_waiting(1);
  std::future<Reason> normal = ask(call({2}, Priority::normal));
  wait_until_waiting(2);
  std::future<Reason> high = ask(call({1}, Priority::high));
  wait_until_waiting(3);
  record().release();
  for (std::future<Reason>* const one : {&first, &low, &normal, &high}) {
    EXPECT_EQ(one->get(), kFine);
  }
  EXPECT_THAT(record().batches,
              ElementsAre(ElementsAre(100), ElementsAre(1), ElementsAre(2), ElementsAre(3)));
}

TEST_F(SchedulerOfNumbers, refuses_at_once_what_the_queue_has_no_room_for) {
  Scheduler& scheduler = start({.queue_events = 2});
  std::future<Reason> first = occupy();
  std::future<Reason> second = ask(call({1, 2}));
  wait_until_waiting(2);
  EXPECT_EQ(reason_of(scheduler, call({3})), Reason::overloaded);
  EXPECT_EQ(reason_of(scheduler, call({1, 2, 3})), Reason::too_large);
  record().release();
  EXPECT_EQ(first.get(), kFine);
  EXPECT_EQ(second.get(), kFine);
  EXPECT_EQ(reason_of(scheduler, call({3})), kFine);
}

TEST_F(SchedulerOfNumbers, gives_up_at_the_deadline_and_frees_the_place_in_the_queue) {
  Scheduler& scheduler = start({.queue_events = 1});
  std::future<Reason> first = occupy();
  const auto late = call({1});
  late->deadline = Clock::now() + std::chrono::milliseconds(20);
  EXPECT_EQ(reason_of(scheduler, late), Reason::deadline);
  EXPECT_EQ(scheduler.waiting(), 0);
  record().release();
  EXPECT_EQ(first.get(), kFine);
  EXPECT_THAT(record().batches, ElementsAre(ElementsAre(100)));  // it was never computed
}

TEST_F(SchedulerOfNumbers, forgets_a_call_whose_client_has_gone) {
  Scheduler& scheduler = start();
  std::future<Reason> first = occupy();
  EXPECT_EQ(reason_of(scheduler, call({1}), [] { return true; }), Reason::cancelled);
  EXPECT_EQ(scheduler.waiting(), 0);
  record().release();
  EXPECT_EQ(first.get(), kFine);
}

TEST_F(SchedulerOfNumbers, answers_what_it_accepted_before_it_ends_and_accepts_nothing_after) {
  Scheduler& scheduler = start();
  std::future<Reason> first = occupy();
  std::future<Reason> second = ask(call({1, 2, 3}));
  wait_until_waiting(3);
  std::thread ending([&] { scheduler.drain(); });
  Reason late = kFine;
  do {  // until the other thread has begun to end it
    const auto made = call({9});
    made->deadline = Clock::now() + std::chrono::milliseconds(1);
    late = reason_of(scheduler, made);
  } while (late == Reason::deadline);
  EXPECT_EQ(late, Reason::unavailable);
  record().release();
  EXPECT_EQ(first.get(), kFine);
  EXPECT_EQ(second.get(), kFine);
  ending.join();
}

TEST_F(SchedulerOfNumbers, goes_on_after_a_batch_that_failed_and_tells_nothing_of_the_inside) {
  Scheduler& scheduler = start();
  const auto made = call({666});
  scheduler.tag(made);
  ASSERT_TRUE(made->events[0].refusal);
  EXPECT_EQ(made->events[0].refusal->reason(), Reason::internal);
  EXPECT_THAT(made->events[0].refusal->what(), testing::Not(HasSubstr("0x1234")));
  const auto next = call({5});
  scheduler.tag(next);
  EXPECT_THAT(next->events[0].tag, ElementsAre(5));
}

TEST_F(SchedulerOfNumbers, throws_what_a_replica_threw_that_could_not_be_made) {
  EXPECT_THROW(Scheduler({.replicas = 3},
                         [this](int replica) -> std::unique_ptr<BatchRunner> {
                           if (replica == 1) {
                             throw std::invalid_argument("no such device");
                           }
                           return std::make_unique<NumberRunner>(record(),
                                                                 std::vector<std::int64_t>{1});
                         }),
               std::invalid_argument);
}

TEST_F(SchedulerOfNumbers,
       of_several_networks_computes_no_more_batches_at_once_than_there_are_slots) {
  ComputeSlots slots(2);
  const SchedulerOptions options{.replicas = 3, .slots = &slots};
  const auto make = [this](int) {
    return std::make_unique<NumberRunner>(record(), std::vector<std::int64_t>{1});
  };
  Scheduler a(options, make);
  Scheduler b(options, make);
  std::vector<std::thread> clients;
  for (int client = 0; client < 8; ++client) {
    clients.emplace_back([&, client] {
      for (int i = 0; i < 20; ++i) {
        (client % 2 == 0 ? a : b).tag(call({1}));
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_LE(record().most_running, 2);
}

TEST_F(SchedulerOfNumbers, loses_and_mixes_up_nothing_among_many_clients) {
  Scheduler& scheduler = start({.replicas = 3, .queue_events = 1000});
  std::vector<std::thread> clients;
  std::atomic<int> wrong = 0;
  for (std::uint64_t client = 0; client < 8; ++client) {
    clients.emplace_back([&, client] {
      for (std::uint64_t i = 0; i < 50; ++i) {
        const std::uint64_t number = (client * 31 + i) % 200;
        const auto made = call({number, number + 1, number + 2});
        scheduler.tag(made);
        for (std::uint64_t e = 0; e < 3; ++e) {
          wrong += made->events[e].tag != std::vector{static_cast<std::uint8_t>(number + e)};
        }
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(scheduler.waiting(), 0);
}

}  // namespace
}  // namespace cosmic::serve
