// The same seed and thread count give the same bits; one thread means one thread.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "session/small_model.hpp"

namespace cosmic::session {
namespace {

struct Trained {
  std::vector<double> losses;
  std::map<std::string, std::vector<std::byte>> state;

  bool operator==(const Trained&) const = default;
};

Trained train(const Options& options) {
  TrainingModel training = compiled_training(options, compile::Adam{});
  Trained result;
  for (const char* stream : {"first", "second", "third"}) {
    const Batch batch = small_batch(stream);
    result.losses.push_back(training(batch.image, batch.label, 1e-3).loss);
  }
  for (const std::string& name : training.state()->names()) {
    result.state[name] = training.state()->read(name).bytes;
  }
  return result;
}

class DeterminismOn : public testing::TestWithParam<int> {};

TEST_P(DeterminismOn, same_seed_and_thread_count_give_the_same_bits) {
  const Options options = options_for("cpu", GetParam());
  const Trained first = train(options);
  EXPECT_EQ(train(options), first);
  EXPECT_EQ(train(options), first);
}

INSTANTIATE_TEST_SUITE_P(Threads, DeterminismOn, testing::Values(1, 2, 3),
                         testing::PrintToStringParamName());

TEST(Determinism, another_seed_gives_other_weights) {
  Options options = options_for("cpu");
  const Trained first = train(options);
  options.seed = 1;
  EXPECT_NE(train(options).losses, first.losses);
}

TEST(Determinism, initial_weights_do_not_depend_on_the_target) {
  EXPECT_EQ(compiled_training(options_for("cpu")).state()->read("bottleneck.weight").bytes,
            compiled_training(options_for("reference")).state()->read("bottleneck.weight").bytes);
}

int threads_of_this_process() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == "Threads:") {
      int threads = 0;
      status >> threads;
      return threads;
    }
  }
  return 0;
}

/// Exits with the number of threads that came into being, in a process that has run nothing else.
void exit_with_new_threads(int threads) {
  const int before = threads_of_this_process();
  const Options options = options_for("cpu", threads);
  TrainingModel training = compiled_training(options);
  InferenceModel inference = compiled_inference(options, training.state());
  const Batch batch = small_batch("first");
  training(batch.image, batch.label, 1e-3);
  inference(batch.image);
  std::exit(threads_of_this_process() - before);
}

TEST(Threads, one_thread_does_everything_alone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_with_new_threads(1), testing::ExitedWithCode(0), "");
}

TEST(Threads, three_threads_are_the_caller_and_two_more) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_with_new_threads(3), testing::ExitedWithCode(2), "");
}

}  // namespace
}  // namespace cosmic::session
