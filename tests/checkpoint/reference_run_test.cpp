// A real checkpoint of the reference: it loads, gives the reference's logits and goes on with the
// reference's loss curve.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "checkpoint/checkpoint_folder.hpp"
#include "golden/golden_file.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "session/model.hpp"

namespace cosmic::checkpoint {
namespace {

// Tests run in the top folder of the sources.
constexpr const char* kFolder = "../shared/golden/reference_run";

constexpr double kFirstTolerance = 1e-5;  // that of the golden files' README
// Later losses drift, because biases in front of a batch norm have a true gradient of zero, and
// Adam turns round-off into full steps; but tight enough to see that the moments are there.
constexpr double kLaterTolerance = 1e-4;

/// A21 with n_initial_filters 4, depth 2, bottleneck_deepest 8, blocks_deepest_layer 2.
model::UResNetOptions network_options() {
  model::UResNetOptions options;
  options.n_initial_filters = 4;
  options.depth = 2;
  options.bottleneck_deepest = 8;
  options.blocks_deepest_layer = 2;
  options.blocks_final = 0;
  options.residual = false;
  options.connections = model::Connections::sum;
  return options;
}

class ReferenceRun : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kFolder)) {
      GTEST_SKIP() << "needs " << kFolder;
    }
    expected_ = golden::read_reference_run(std::filesystem::path(kFolder) / "expected.h5");
  }

  session::TrainingModel compiled_training() const {
    session::Options options;
    options.target = GetParam();
    options.threads = 2;
    const model::UResNet network(network_options());
    const model::SegmentationLoss loss(model::BalanceScheme::focal);
    session::TrainingModel training(network, loss, compile::Adam{}, options);
    training.compile({expected_.image.type, expected_.label.type});
    return training;
  }

  session::InferenceModel compiled_inference() const {
    session::Options options;
    options.target = GetParam();
    options.threads = 2;
    const model::UResNet network(network_options());
    session::InferenceModel inference(network, options);
    inference.compile(expected_.image.type);
    return inference;
  }

  golden::ReferenceRun expected_;
};

TEST_P(ReferenceRun, loads_with_everything_that_is_in_it) {
  const ReferenceCheckpoint reference =
      load_reference_checkpoint(std::filesystem::path(kFolder) / "checkpoints" / "model-5.ckpt");
  EXPECT_EQ(reference.global_step, 5);
  EXPECT_EQ(reference.schedule_step, 5);
  EXPECT_EQ(reference.parameters.size(), 70U);
  EXPECT_EQ(reference.moments.size(), 70U);
  EXPECT_EQ(reference.moments.at("bottleneck.weight").step, 5);
  EXPECT_EQ(reference.optimizer_settings.at("lr"), 1e-3);
  EXPECT_EQ(reference.optimizer_settings.at("beta2"), 0.999);
  EXPECT_EQ(reference.optimizer_settings.at("eps"), 1e-8);
}

TEST_P(ReferenceRun, registers_parameters_in_our_order) {
  const ReferenceCheckpoint reference =
      load_reference_checkpoint(std::filesystem::path(kFolder) / "checkpoints" / "model-5.ckpt");
  const session::TrainingModel training = compiled_training();
  std::vector<std::string> ours;
  for (const std::string& name : training.state()->names()) {
    if (training.state()->kind(name) == graph::StateKind::parameter) {
      ours.push_back(name);
    }
  }
  EXPECT_EQ(ours, reference.parameters);
}

TEST_P(ReferenceRun, gives_the_references_logits) {
  const LoadedCheckpoint loaded = load_newest(std::filesystem::path(kFolder) / "checkpoints");
  EXPECT_TRUE(loaded.warnings.empty());
  session::InferenceModel inference = compiled_inference();
  restore_weights(loaded.checkpoint, *inference.state());
  const std::span<const float> logits = inference(expected_.image.as<float>());
  ASSERT_EQ(logits.size(), expected_.eval_logits.size());
  double largest = 0;
  double worst = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double expected = expected_.eval_logits[i];
    largest = std::max(largest, std::abs(expected));
    worst = std::max(worst, std::abs(logits[i] - expected));
  }
  EXPECT_LE(worst, kFirstTolerance * largest);
}

TEST_P(ReferenceRun, goes_on_with_the_references_losses) {
  const LoadedCheckpoint loaded = load_newest(std::filesystem::path(kFolder) / "checkpoints");
  EXPECT_EQ(loaded.checkpoint.step, 5);
  session::TrainingModel training = compiled_training();
  restore(loaded.checkpoint, *training.state());
  constexpr double kLearningRate = 1e-3;
  ASSERT_EQ(expected_.resumed_losses.size(), 5U);
  for (std::size_t step = 0; step < expected_.resumed_losses.size(); ++step) {
    const double expected = expected_.resumed_losses[step];
    const double loss =
        training(expected_.image.as<float>(), expected_.label.as<std::uint8_t>(), kLearningRate)
            .loss;
    EXPECT_NEAR(loss, expected, (step == 0 ? kFirstTolerance : kLaterTolerance) * expected)
        << "step " << 5 + step;
  }
}

INSTANTIATE_TEST_SUITE_P(OnTargets, ReferenceRun, testing::Values("cpu", "reference"),
                         [](const auto& chosen) { return chosen.param; });

}  // namespace
}  // namespace cosmic::checkpoint
