// The threads behind Team. Each thread that calls Team::run has workers of its own, which live as
// long as it does.
//
// Why not OpenMP: between two regions libgomp's threads spin for milliseconds, and only a variable
// that is set before the program starts can change that. Alone that is the fastest way to wait; two
// programs on the same cores starve each other, because a thread that spins keeps the core from the
// thread it waits for. These threads spin for a moment, and then sleep.
#pragma once

#include <cstdint>

namespace cosmic {

class TeamWorkers {
 public:
  using Call = void (*)(const void* context, int part);

  /// The calling thread's.
  static TeamWorkers& of_this_thread();

  TeamWorkers() = default;
  /// Sends the workers home. They are not joined: a process that ends, or a child that was forked
  /// without them, must not wait for them.
  ~TeamWorkers();
  TeamWorkers(const TeamWorkers&) = delete;
  TeamWorkers& operator=(const TeamWorkers&) = delete;

  /// Calls call(context, 0) ... call(context, parts - 1) at the same time, the first on this
  /// thread; returns when all have returned. Within a region, or where the system gives no more
  /// threads, a thread makes several parts one after the other.
  void run(int parts, Call call, const void* context);

 private:
  struct Meeting;
  static void work(Meeting* meeting, int index, std::uint32_t regions_before);
  void engage(int workers);

  Meeting* meeting_ = nullptr;  ///< shared with the workers; whoever leaves last deletes it
  int workers_ = 0;
  bool may_grow_ = true;
};

}  // namespace cosmic
