#include "serve/heap_limits.hpp"

#include <malloc.h>

namespace cosmic::serve {

void limit_heaps() {
  // Threads rarely ask at the same time: the network's own memory is taken once.
  constexpr int kHeaps = 4;
  // Fixed: left alone, the library takes every size that was given back for one that comes again,
  // up to 32 MB.
  constexpr int kLargeBytes = 1 << 20;
  // Neither can fail, and a C library that has no such limits needs none.
  mallopt(M_ARENA_MAX, kHeaps);
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
}

}  // namespace cosmic::serve
