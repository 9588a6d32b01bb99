#include "data/detector/ordered_events.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/error.hpp"

namespace cosmic::data::detector {
namespace {

/// Slots for events, used in turn. A maker waits for the slot of its event to be free, the taker
/// for the next event to be made.
class EventRing {
 public:
  EventRing(std::int64_t events, std::size_t slots) : events_(events), slots_(slots) {}

  /// Makes events until there are no more; the work of one thread.
  void make(const Detector& detector, std::uint64_t seed) {
    try {
      Simulator simulator(detector, seed);
      for (Slot* slot = next_slot(); slot != nullptr; slot = next_slot()) {
        simulator.simulate(slot->index, slot->event);
        const std::lock_guard lock(mutex_);
        slot->made = true;
        changed_.notify_all();
      }
    } catch (...) {
      stop(std::current_exception());
    }
  }

  void take_all(const std::function<void(const SimulatedEvent&)>& take) {
    std::unique_lock lock(mutex_);
    while (taken_ < events_) {
      Slot& slot = slot_of(taken_);
      changed_.wait(lock, [&] { return stopped_ || slot.made; });
      if (stopped_) {
        return;
      }
      lock.unlock();
      take(slot.event);
      lock.lock();
      slot.made = false;
      ++taken_;
      changed_.notify_all();
    }
  }

  void stop(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (error_ == nullptr) {
      error_ = std::move(error);
    }
    changed_.notify_all();
  }

  void rethrow() const {
    if (error_ != nullptr) {
      std::rethrow_exception(error_);
    }
  }

 private:
  struct Slot {
    SimulatedEvent event;
    std::int64_t index = 0;
    bool made = false;
  };

  /// Where the next event belongs, once that place is free; nothing when there are no more.
  Slot* next_slot() {
    std::unique_lock lock(mutex_);
    if (stopped_ || begun_ == events_) {
      return nullptr;
    }
    const std::int64_t index = begun_++;
    changed_.wait(lock, [&] { return stopped_ || index < taken_ + capacity(); });
    Slot& slot = slot_of(index);
    slot.index = index;
    return stopped_ ? nullptr : &slot;
  }

  std::int64_t capacity() const { return static_cast<std::int64_t>(slots_.size()); }
  Slot& slot_of(std::int64_t index) { return slots_[static_cast<std::size_t>(index % capacity())]; }

  std::int64_t events_;
  std::vector<Slot> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t begun_ = 0;
  std::int64_t taken_ = 0;
  bool stopped_ = false;
  std::exception_ptr error_;
};

}  // namespace

void make_in_order(const Detector& detector, std::uint64_t seed, std::int64_t events, int threads,
                   const std::function<void(const SimulatedEvent&)>& take) {
  COSMIC_REQUIRE(UserError, events >= 0,
                 "the number of events is " << events << " (it must not be negative)");
  COSMIC_REQUIRE(
      UserError, threads >= 1,
      "threads is " << threads << " (at least one thread must generate events); use 1 or more");
  // One in the making and one waiting for each thread: nobody idles while events take alike.
  constexpr std::size_t kSlotsPerThread = 2;
  EventRing ring(events, kSlotsPerThread * static_cast<std::size_t>(threads));
  std::vector<std::jthread> makers;
  try {
    for (int i = 0; i < threads; ++i) {
      makers.emplace_back([&] { ring.make(detector, seed); });
    }
    ring.take_all(take);
  } catch (...) {
    ring.stop(std::current_exception());
  }
  makers.clear();  // waits for them
  ring.rethrow();
}

}  // namespace cosmic::data::detector
