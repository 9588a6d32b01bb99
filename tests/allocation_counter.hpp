// Counts the calls of the C library's allocator, to show that something that runs again and again
// allocates nothing. Linking allocation_counter.cpp replaces the allocator of the whole program.
#pragma once

namespace cosmic {

/// False under a sanitizer, which brings an allocator of its own.
bool counts_allocations();
/// Calls so far, of all threads.
long allocations();

template <class Work>
long allocations_of(const Work& work) {
  const long before = allocations();
  work();
  return allocations() - before;
}

}  // namespace cosmic
