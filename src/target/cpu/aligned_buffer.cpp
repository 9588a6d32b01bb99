#include "target/cpu/aligned_buffer.hpp"

#include <sys/mman.h>

#include "core/error.hpp"

namespace cosmic::target::cpu {

AlignedBuffer::AlignedBuffer(std::int64_t floats) {
  const std::int64_t bytes = floats * static_cast<std::int64_t>(sizeof(float));
  if (bytes == 0) {
    return;
  }
  void* const memory = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  COSMIC_REQUIRE(TargetError, memory != MAP_FAILED,
                 "cannot allocate " << bytes / (1024 * 1024)
                                    << " MiB (the machine has no memory left); use a smaller "
                                       "batch, a smaller image or a smaller network");
  constexpr std::int64_t kHugePage = 2 * 1024 * 1024;
  if (bytes >= kHugePage) {
    // Only advice: where huge pages are switched off the program is slower, not wrong.
    madvise(memory, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
  }
  memory_ = std::unique_ptr<std::byte, Unmap>(static_cast<std::byte*>(memory), Unmap{bytes});
}

void AlignedBuffer::Unmap::operator()(std::byte* memory) const {
  munmap(memory, static_cast<std::size_t>(bytes));
}

}  // namespace cosmic::target::cpu
