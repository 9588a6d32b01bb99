#include "core/fork_join_order.hpp"

namespace cosmic {

void ForkJoinOrder::fork() {}
void ForkJoinOrder::begin_part() {}
void ForkJoinOrder::end_part() {}
void ForkJoinOrder::join() {}

}  // namespace cosmic
