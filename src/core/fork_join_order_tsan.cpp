#include <sanitizer/tsan_interface.h>

#include "core/fork_join_order.hpp"

namespace cosmic {

void ForkJoinOrder::fork() {
  __tsan_release(&forked_);
}

void ForkJoinOrder::begin_part() {
  __tsan_acquire(&forked_);
}

void ForkJoinOrder::end_part() {
  __tsan_release(&joined_);
}

void ForkJoinOrder::join() {
  __tsan_acquire(&joined_);
}

}  // namespace cosmic
