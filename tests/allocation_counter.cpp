#include "allocation_counter.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace {
std::atomic<long> calls{0};
}

namespace cosmic {

long allocations() {
  return calls;
}

}  // namespace cosmic

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

bool cosmic::counts_allocations() {
  return false;
}

#else

bool cosmic::counts_allocations() {
  return true;
}

// The names are glibc's. operator new ends up here as well.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++calls;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++calls;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  ++calls;
  return __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  ++calls;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++calls;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  ++calls;
  *result = __libc_memalign(alignment, size);
  return *result == nullptr ? ENOMEM : 0;
}
}

#endif
