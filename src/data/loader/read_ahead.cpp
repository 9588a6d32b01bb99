#include "data/loader/read_ahead.hpp"

#include <utility>

namespace cosmic::data {

ReadAhead::ReadAhead(int threads, std::size_t slots, std::int64_t positions, Fill fill)
    : positions_(positions), fill_(std::move(fill)), slots_(slots) {
  for (int thread = 0; thread < threads; ++thread) {
    threads_.emplace_back([this, worker = static_cast<std::size_t>(thread)](
                              const std::stop_token& stop) { work_until_stopped(worker, stop); });
  }
}

void ReadAhead::prepare() {
  {
    const std::lock_guard lock(mutex_);
    Slot& slot = slots_[next_slot()];
    slot.filled = 0;
    slot.error = nullptr;
    ++prepared_;
  }
  work_arrived_.notify_all();
}

std::size_t ReadAhead::take() {
  while (threads_.empty() && has_ticket()) {
    serve(0, take_ticket());
  }
  std::unique_lock lock(mutex_);
  const std::size_t index = oldest_slot();
  Slot& slot = slots_[index];
  slot_filled_.wait(lock, [&] { return slot.filled == positions_; });
  ++taken_;
  if (slot.error != nullptr) {
    std::rethrow_exception(std::exchange(slot.error, nullptr));
  }
  return index;
}

void ReadAhead::work_until_stopped(std::size_t worker, const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    if (!work_arrived_.wait(lock, stop, [&] { return has_ticket(); }) || stop.stop_requested()) {
      return;
    }
    const Ticket ticket = take_ticket();
    lock.unlock();
    serve(worker, ticket);
  }
}

/// In the order of the slots, so that the next to be taken is always the next to be full.
ReadAhead::Ticket ReadAhead::take_ticket() {
  const std::int64_t ticket = next_ticket_++;
  return {static_cast<std::size_t>(ticket / positions_) % slots_.size(), ticket % positions_};
}

void ReadAhead::serve(std::size_t worker, const Ticket& ticket) {
  std::exception_ptr error;
  try {
    fill_(worker, ticket.slot, ticket.position);
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  Slot& slot = slots_[ticket.slot];
  if (error != nullptr && (slot.error == nullptr || ticket.position < slot.error_position)) {
    slot.error = std::move(error);  // not a copy: the caller's thread is the one that ends its life
    slot.error_position = ticket.position;
  }
  if (++slot.filled == positions_) {
    slot_filled_.notify_one();
  }
}

}  // namespace cosmic::data
