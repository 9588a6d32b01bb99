// The chip in software itself: it stops kernels that a device would let run into the dark.
#include "target/cuda/host_chip/chip.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "target/cuda/instructions.cuh"

namespace cosmic::target::cuda {
namespace {

constexpr int kThreads = 64;

/// Thread t of each block leaves its sum over the threads of its warp in out[block][t].
void add_in_warps(int* out) {
  int sum = static_cast<int>(threadIdx.x);
  for (int apart = 16; apart > 0; apart /= 2) {
    sum += __shfl_xor_sync(0xffffffffU, sum, apart);
  }
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

TEST(HostChip, runs_every_thread_of_every_block_and_warps_exchange_numbers) {
  std::vector<int> out(3 * kThreads);
  start(add_in_warps, 3, kThreads, 0, nullptr, out.data());
  for (int i = 0; i < 3 * kThreads; ++i) {
    EXPECT_EQ(out[static_cast<std::size_t>(i)], i % kThreads < 32 ? 496 : 496 + 32 * 32) << i;
  }
}

/// Each thread reads what the thread before it has written.
void pass_on(bool barrier, std::vector<int>* out) {
  COSMIC_CHIP_MEMORY(chip);
  int* const numbers = reinterpret_cast<int*>(chip);
  numbers[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (barrier) {
    __syncthreads();
  }
  (*out)[threadIdx.x] = numbers[(threadIdx.x + kThreads - 1) % kThreads];
}

TEST(HostChip, shows_by_wrong_numbers_that_a_barrier_is_missing) {
  std::vector<int> right(kThreads);
  std::vector<int> wrong(kThreads);
  start(pass_on, 1, kThreads, kThreads * sizeof(int), nullptr, true, &right);
  start(pass_on, 1, kThreads, kThreads * sizeof(int), nullptr, false, &wrong);
  EXPECT_EQ(right[0], kThreads - 1);
  EXPECT_EQ(right[40], 39);
  EXPECT_NE(right, wrong);
}

void read_a_copy_that_was_not_awaited(const int* from, std::vector<int>* out) {
  COSMIC_CHIP_MEMORY(chip);
  begin_copy(shared_address(chip) + 16 * threadIdx.x, from, true);
  (*out)[threadIdx.x] = reinterpret_cast<const int*>(chip)[4 * threadIdx.x];
  wait_for_copies();
}

TEST(HostChip, makes_some_copies_only_when_they_are_awaited) {
  alignas(16) const int from[4] = {7, 7, 7, 7};
  std::vector<int> out(kThreads);
  start(read_a_copy_that_was_not_awaited, 1, kThreads, 16 * kThreads, nullptr, from, &out);
  EXPECT_THAT(out, testing::Contains(7));
  EXPECT_THAT(out, testing::Contains(-1));  // all bits of fresh memory are set
}

void diverge() {
  if (threadIdx.x % 32 < 16) {
    __syncwarp();
  }
}
void load_beyond(std::uint32_t address) {
  std::uint32_t to[4];
  load_matrices(to, address);
}

TEST(HostChipDeathTest, stops_where_threads_of_a_warp_are_elsewhere) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(start(diverge, 1, kThreads, 0, nullptr),
               "block .0, 0, 0.*threads of a warp are elsewhere");
}

TEST(HostChipDeathTest, stops_at_addresses_that_are_not_the_kernels) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(start(load_beyond, 1, kThreads, 64, nullptr, 64U), "beyond the chip's memory");
  EXPECT_DEATH(start(load_beyond, 1, kThreads, 64, nullptr, 8U), "is not aligned");
}

}  // namespace
}  // namespace cosmic::target::cuda
