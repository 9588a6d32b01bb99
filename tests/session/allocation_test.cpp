// A step allocates nothing: every call of the C library's allocator in this program is counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "session/small_model.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCounts = false;  // the sanitizer brings an allocator of its own
#else
constexpr bool kCounts = true;
#endif

namespace {
std::atomic<long> allocations{0};
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// The names are glibc's. operator new ends up here as well.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  ++allocations;
  *result = __libc_memalign(alignment, size);
  return *result == nullptr ? ENOMEM : 0;
}
}
#endif

namespace cosmic::session {
namespace {

template <class Work>
long allocations_of(const Work& work) {
  const long before = allocations;
  work();
  return allocations - before;
}

class Allocation : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!kCounts) {
      GTEST_SKIP() << "a sanitizer replaces the allocator";
    }
  }
};

TEST_P(Allocation, the_counter_sees_an_allocation) {
  std::vector<float> tensor;
  EXPECT_EQ(allocations_of([&] { tensor.resize(1000); }), 1);
}

TEST_P(Allocation, training_allocates_nothing_after_the_first_step) {
  Options options = options_for("cpu", GetParam());
  options.outputs = {.logits = true, .gradients = true};
  TrainingModel training = compiled_training(options, compile::Adam{});
  const Batch batch = small_batch("first");
  training(batch.image, batch.label, 1e-3);
  EXPECT_EQ(allocations_of([&] {
              for (int step = 0; step < 3; ++step) {
                training(batch.image, batch.label, 1e-3);
              }
            }),
            0);
}

TEST_P(Allocation, accumulating_allocates_nothing_after_the_first_step) {
  Options options = options_for("cpu", GetParam());
  options.gradient_accumulation = 2;
  TrainingModel training = compiled_training(options);
  const Batch batch = small_batch("first", 2);
  training(batch.image, batch.label, 1e-3);
  EXPECT_EQ(allocations_of([&] { training(batch.image, batch.label, 1e-3); }), 0);
}

TEST_P(Allocation, inference_allocates_nothing_after_the_first_call) {
  InferenceModel inference = compiled_inference(options_for("cpu", GetParam()));
  const Batch batch = small_batch("first");
  inference(batch.image);
  EXPECT_EQ(allocations_of([&] { inference(batch.image); }), 0);
}

TEST_P(Allocation, inference_of_weights_that_changed_allocates_nothing) {
  const Options options = options_for("cpu", GetParam());
  TrainingModel training = compiled_training(options);
  InferenceModel inference = compiled_inference(options, training.state());
  const Batch batch = small_batch("first");
  training(batch.image, batch.label, 1e-3);
  inference(batch.image);
  EXPECT_EQ(allocations_of([&] {
              training(batch.image, batch.label, 1e-3);
              inference(batch.image);
            }),
            0);
}

INSTANTIATE_TEST_SUITE_P(Threads, Allocation, testing::Values(1, 2),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace cosmic::session
