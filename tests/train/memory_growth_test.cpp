// Memory of runs that last: what is allocated after thousands of steps is what was allocated some
// thousands before. A program of its own, so that nothing else allocates.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>

#include "data/loader/batch_loader.hpp"
#include "infer/tagger.hpp"
#include "output/step_profile.hpp"
#include "run/run_data.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic {
namespace {

// 1 MB in 100,000 steps.
constexpr double kMostBytesPerStep = 10;
constexpr std::int64_t kSteps = 10000;

double allocated_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

/// Is told how many steps were made; knows by how much a step makes the memory grow: from the most
/// that was allocated in the first half to the most in the second. Within a half, buffers of rows
/// fill up and are written, and histories reach the length that is kept.
class Growth {
 public:
  void at(std::int64_t step) {
    double& most = step <= kSteps / 2 ? first_half_ : second_half_;
    if (step < kSteps - 10) {  // before results of the whole run are put together
      most = std::max(most, allocated_bytes());
    }
  }
  double bytes_per_step() const {
    EXPECT_GT(first_half_, 0);
    EXPECT_GT(second_half_, 0);
    return (second_half_ - first_half_) / (static_cast<double>(kSteps) / 2);
  }

 private:
  double first_half_ = 0;
  double second_half_ = 0;
};

class MemoryGrowth : public testing::Test {
 protected:
  void SetUp() override {
    write_random_events(folder_.path() / "train.h5", 9, 1);
    write_random_events(folder_.path() / "test.h5", 4, 2);
  }

  config::Configuration configuration(config::Mode mode, const std::vector<std::string>& words) {
    return tiny_configuration(folder_.path(), mode, words);
  }

  RunFolder folder_;
  output::RunLog log_{{}, [](const std::string&) {}};
};

TEST_F(MemoryGrowth, of_training_is_below_a_megabyte_in_100000_steps) {
  Growth growth;
  train::TrainingHooks hooks;
  hooks.progress = [&](const train::TrainingProgress& progress) { growth.at(progress.step); };
  train::train(configuration(config::Mode::train,
                             {"run.length=" + std::to_string(kSteps), "run.minibatch_size=1",
                              "run.aux_iterations=7", "mode.checkpoint_iteration=1000"}),
               "cpu", log_, hooks);
  EXPECT_LT(growth.bytes_per_step(), kMostBytesPerStep);
}

/// Without the file that is written: it keeps a chunk of rows of every table, as larcv3's own files
/// have them, which tiny events take long to fill.
TEST_F(MemoryGrowth, of_inference_is_below_a_megabyte_in_100000_events) {
  train::train(configuration(config::Mode::train, {}), "cpu", log_, {});
  const config::Configuration tagging =
      configuration(config::Mode::inference, {"run.minibatch_size=1"});
  const std::unique_ptr<data::EventSource> source = run::open_events(tagging);
  infer::Tagger tagger(tagging, "cpu", data::dense_shape(source->meta(), 0), log_, {});
  const data::EventSamples samples = run::one_pass_samples(*source, tagging);
  data::LoaderOptions options;
  options.order = {.kind = data::OrderKind::serial_access, .start_index = 0};
  data::BatchLoader loader(samples, options);
  Growth growth;
  output::StepProfile phases;
  for (std::int64_t event = 1; event <= kSteps; ++event) {
    phases.begin_iteration(event);
    const data::Batch& batch = *loader.next();
    tagger.run(batch);
    tagger.visit_events(batch, [](const infer::TaggedEvent& tagged) { tagged.confusion(); });
    phases.end_iteration();
    growth.at(event);
  }
  EXPECT_LT(growth.bytes_per_step(), kMostBytesPerStep);
}

}  // namespace
}  // namespace cosmic
