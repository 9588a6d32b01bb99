// A run that is stopped, saved, loaded and continued gives the same bits as one that never stopped.
#include <gmock/gmock.h>

#include "checkpoint/checkpoint_folder.hpp"
#include "checkpoint/scratch_folder.hpp"
#include "core/error.hpp"
#include "session/small_model.hpp"

namespace cosmic::checkpoint {
namespace {

using session::Batch;
using session::compiled_training;
using session::options_for;
using session::small_batch;
using session::TrainingModel;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct Case {
  const char* name;
  compile::Optimizer optimizer;
  std::int64_t accumulation = 1;
};

class Resume : public ScratchFolder, public testing::WithParamInterface<Case> {
 protected:
  static TrainingModel make() {
    session::Options options = options_for("cpu");
    options.gradient_accumulation = GetParam().accumulation;
    return compiled_training(options, GetParam().optimizer);
  }

  static std::vector<double> train(TrainingModel& training, int first, int end) {
    std::vector<double> losses;
    for (int step = first; step < end; ++step) {
      const Batch batch = small_batch("step " + std::to_string(step), GetParam().accumulation);
      losses.push_back(training(batch.image, batch.label, 1e-3 * (step + 1)).loss);
    }
    return losses;
  }
};

TEST_P(Resume, gives_the_same_bits_as_never_having_stopped) {
  TrainingModel uninterrupted = make();
  train(uninterrupted, 0, 3);
  CheckpointFolder(folder_).save(writing_of(*uninterrupted.state(), 3, {}));
  const std::vector<double> expected = train(uninterrupted, 3, 6);

  TrainingModel resumed = make();
  train(resumed, 7, 8);  // whatever it was before
  const LoadedCheckpoint loaded = load_newest(folder_);
  EXPECT_EQ(loaded.checkpoint.step, 3);
  restore(loaded.checkpoint, *resumed.state());
  EXPECT_EQ(train(resumed, 3, 6), expected);
  for (const auto& [name, tensor] : uninterrupted.state()->read_all()) {
    EXPECT_EQ(resumed.state()->read(name).bytes, tensor.bytes) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Resume,
                         testing::Values(Case{"adam", compile::Adam{}},
                                         Case{"adam_accumulating", compile::Adam{}, 2},
                                         Case{"rmsprop", compile::Rmsprop{}},
                                         Case{"momentum", compile::Sgd{0.9}}),
                         [](const auto& chosen) { return chosen.param.name; });

using Restore = ScratchFolder;

TEST_F(Restore, of_another_optimizers_checkpoint_names_what_differs_and_changes_nothing) {
  const TrainingModel sgd = compiled_training(options_for("cpu"), compile::Sgd{0.9});
  TrainingModel adam = compiled_training(options_for("cpu"), compile::Adam{});
  const Checkpoint checkpoint = capture(*sgd.state(), 1, {});
  const session::NamedTensors before = adam.state()->read_all();
  EXPECT_THAT([&] { restore(checkpoint, *adam.state()); },
              ThrowsMessage<DataError>(testing::AllOf(
                  HasSubstr("there is no 'optimizer/step'"),
                  HasSubstr("knows no 'optimizer/bottleneck.bias/momentum_buffer'"))));
  for (const auto& [name, tensor] : before) {
    EXPECT_EQ(adam.state()->read(name).bytes, tensor.bytes) << name;
  }
}

TEST_F(Restore, of_plain_weights_is_refused_but_their_weights_are_taken) {
  TrainingModel training = compiled_training(options_for("cpu"));
  Checkpoint weights = capture(*training.state(), 0, {});
  weights.tensors = weights_of(weights);
  weights.origin = Origin::weights;
  EXPECT_THAT([&] { restore(weights, *training.state()); },
              ThrowsMessage<DataError>(HasSubstr("plain weights")));
  restore_weights(weights, *training.state());
}

}  // namespace
}  // namespace cosmic::checkpoint
