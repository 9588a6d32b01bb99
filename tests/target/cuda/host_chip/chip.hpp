// A chip that is the host: runs the kernels of src/target/cuda as they are, thread by thread, each
// with a stack of its own. Threads of a warp meet where an instruction is one of the whole warp,
// those of a block at its barriers. What a device leaves to chance is chosen as unkindly as can be:
//   - memory of the chip begins as NaN, and ends where the launch said,
//   - warps run in another order between any two barriers,
//   - a copy to the chip is made at once or when it is waited for, in turns.
// A kernel that does something else than CUDA allows (a warp that diverges where all its threads
// must take part, a barrier that some threads never reach) stops the program with what it was.
//
// One block runs at a time, and one launch: not for several threads of the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace cosmic::target::cuda::host_chip {

/// As CUDA's, which kernels read by these names.
struct Index {
  unsigned x = 0;
  unsigned y = 0;
  unsigned z = 0;
};
inline Index thread_index;
inline Index block_index;
inline Index block_extent;

/// Runs `thread` for every thread of every block.
void run(Index blocks, int threads, std::size_t bytes, const std::function<void()>& thread);

/// The memory of the chip that the running launch has asked for.
std::byte* memory();
/// `count` bytes of it at an address; they must be there.
std::byte* at(std::uint32_t address, std::size_t count);

/// Waits for all threads of the block that have not ended.
void meet_block();

/// An instruction of a whole warp. Each thread gives its own `operands`; when all 32 have come,
/// `instruct` is called once with all of them.
using Instruct = void (*)(void* const (&operands)[32]);
void meet_warp(Instruct instruct, void* operands);

/// A copy of 16 bytes that the running thread begins (zeros if `from` is null), and the end of all
/// that it has begun.
void begin_copy(std::uint32_t to, const void* from);
void finish_copies();

/// How many launches have run so far: a test sees that its kernels ran here.
std::int64_t launches();

}  // namespace cosmic::target::cuda::host_chip
