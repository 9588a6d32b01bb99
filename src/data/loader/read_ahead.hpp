// A ring of slots that threads fill ahead of whoever takes them. Slots are taken in the order in
// which they were prepared, whatever thread was first; what is in a slot is the business of the
// function that fills it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace cosmic::data {

/// One thread uses it. Destroying it while its threads work is fine; they finish what they are at.
class ReadAhead {
 public:
  /// Fills one position of a slot. `worker` is below the number of threads, and no two threads have
  /// the same. May throw.
  using Fill = std::function<void(std::size_t worker, std::size_t slot, std::int64_t position)>;

  /// Each slot has so many positions. Without threads, take() fills in its caller's thread.
  ReadAhead(int threads, std::size_t slots, std::int64_t positions, Fill fill);

  std::size_t slots() const { return slots_.size(); }
  /// The slot that is prepared next. It is free: it was taken, and the caller is done with it.
  std::size_t next_slot() const { return static_cast<std::size_t>(prepared_) % slots_.size(); }
  /// Lets the threads begin with next_slot(). Allocates nothing.
  void prepare();
  /// Slots that were prepared and not taken.
  std::int64_t pending() const { return prepared_ - taken_; }
  std::size_t oldest_slot() const { return static_cast<std::size_t>(taken_) % slots_.size(); }
  /// Waits for the oldest pending slot. Throws what filling it threw; of several positions, the
  /// first. That slot counts as taken.
  std::size_t take();

 private:
  struct Slot {
    std::int64_t filled = 0;  ///< positions
    std::exception_ptr error;
    std::int64_t error_position = 0;
  };

  /// One position of one slot.
  struct Ticket {
    std::size_t slot;
    std::int64_t position;
  };

  void work_until_stopped(std::size_t worker, const std::stop_token& stop);
  bool has_ticket() const { return next_ticket_ < prepared_ * positions_; }
  Ticket take_ticket();
  void serve(std::size_t worker, const Ticket& ticket);

  const std::int64_t positions_;
  const Fill fill_;
  std::int64_t taken_ = 0;  ///< slots; the caller's alone

  // Between the caller and the threads.
  std::mutex mutex_;
  std::condition_variable_any work_arrived_;
  std::condition_variable_any slot_filled_;
  std::vector<Slot> slots_;
  std::int64_t prepared_ = 0;     ///< slots; changed by the caller alone
  std::int64_t next_ticket_ = 0;  ///< positions that were given to a thread

  std::vector<std::jthread> threads_;  ///< last: stopped and joined before anything they use goes
};

}  // namespace cosmic::data
