// Training steps that we exported as ONNX Runtime executes them, against ours.
#include "checkpoint/onnx/onnx_step.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <sstream>

#include "checkpoint/onnx/network_cases.hpp"
#include "checkpoint/onnx/onnx_runtime.hpp"
#include "core/error.hpp"
#include "model/segmentation_loss.hpp"
#include "session/safetensors.hpp"

namespace cosmic::checkpoint::onnx {
namespace {

using model::BalanceScheme;

constexpr std::int64_t kBatch = 2;
constexpr int kSteps = 10;
/// Larger ones take a tiny network from kink to kink, where rounding decides where it goes.
constexpr double kRate = 2e-6;
// Where gradients are rounding noise, Adam makes whole steps of noise: not with this epsilon.
constexpr double kCalm = 1e-2;

struct StepCase {
  std::string name;
  model::UResNetOptions network;
  compile::Optimizer optimizer = compile::Adam{.epsilon = kCalm};
  BalanceScheme scheme = BalanceScheme::focal;
  int opset = kNewestOpset;
  model::ClassWeights weights = {};

  model::SegmentationLoss loss() const { return model::SegmentationLoss(scheme, weights); }

  friend std::ostream& operator<<(std::ostream& out, const StepCase& one) {
    return out << one.name;
  }
};

std::vector<StepCase> step_cases() {
  std::vector<StepCase> cases;
  for (const NetworkCase& one : network_cases()) {
    cases.push_back({one.name, one.options});
  }
  model::UResNetOptions shared = reduced("uresnet");
  shared.plane_statistics = model::PlaneStatistics::shared;
  cases.push_back({"shared_statistics", shared});
  cases.push_back({"adamw_light", reduced("a21"),
                   compile::Adam{.epsilon = kCalm, .weight_decay = 0.1}, BalanceScheme::light});
  cases.push_back(
      {"rmsprop_even", reduced("a21"), compile::Rmsprop{.epsilon = kCalm}, BalanceScheme::even});
  cases.push_back(
      {"sgd_unbalanced", reduced("a21"), compile::Sgd{.momentum = 0.9}, BalanceScheme::none});
  cases.push_back({"class_weights",
                   reduced("a21"),
                   compile::Adam{.epsilon = kCalm},
                   BalanceScheme::focal,
                   kNewestOpset,
                   {0.5, 1, 2}});
  cases.push_back({"opset_11", reduced("uresnet"), compile::Adam{.epsilon = kCalm},
                   BalanceScheme::focal, kOldestOpset});
  cases.push_back({"opset_13_3d", reduced("uresnet3d"), compile::Adam{.epsilon = kCalm},
                   BalanceScheme::light, 13});
  return cases;
}

session::TrainingModel our_training(const model::UResNet& network, const StepCase& one) {
  const model::SegmentationLoss loss = one.loss();
  session::Options options;
  options.threads = 1;
  session::TrainingModel training(network, loss, one.optimizer, options);
  training.compile({image_type(kBatch), {graph::DType::u8, image_type(kBatch).shape}});
  disturb(*training.state());
  return training;
}

class OnnxStep : public WithOnnxRuntime, public testing::WithParamInterface<StepCase> {
 protected:
  StepOptions options() const {
    return {.opset = GetParam().opset, .batch = kBatch, .rows = kRows, .columns = kColumns};
  }

  /// The names of states, in the order in which FOLDER/state has them.
  std::vector<std::string> run(const std::string& file, const std::string& state, int steps) const {
    write_floats(folder_ / "image", image_);
    std::ofstream(folder_ / "label", std::ios::binary)
        .write(reinterpret_cast<const char*>(label_.data()),
               static_cast<std::streamsize>(label_.size()));
    const CommandResult result =
        run_node("train_onnx.js", "'" + file + "' '" + state + "' '" + folder_.path().string() +
                                      "' " + std::to_string(kBatch) + ",3," +
                                      std::to_string(kRows) + "," + std::to_string(kColumns) + " " +
                                      std::to_string(kRate) + " " + std::to_string(steps));
    EXPECT_EQ(result.status, 0) << result.output;
    std::istringstream lines(result.output);
    std::vector<std::string> names;
    for (std::string line; std::getline(lines, line);) {
      names.push_back(line);
    }
    return result.status == 0 ? names : std::vector<std::string>{};
  }

  ScratchFolder folder_;
  std::vector<float> image_ = some_image(kBatch);
  std::vector<std::uint8_t> label_ = some_labels(kBatch);
};

/// Any state as floats: counters are small.
std::vector<float> numbers_of(const session::Tensor& tensor) {
  if (tensor.type.dtype == graph::DType::i64) {
    const auto counts = tensor.as<std::int64_t>();
    return {counts.begin(), counts.end()};
  }
  const auto numbers = tensor.as<float>();
  return {numbers.begin(), numbers.end()};
}

TEST_P(OnnxStep, gives_the_losses_and_all_states_of_ten_of_our_steps) {
  const StepCase& one = GetParam();
  const model::UResNet network(one.network);
  session::TrainingModel training = our_training(network, one);
  const session::NamedTensors before = training.state()->read_all();
  session::save_tensors(folder_ / "state.safetensors", before);
  std::ofstream(folder_ / "step.onnx", std::ios::binary)
      << encode_training_step(network, one.loss(), one.optimizer, options());
  const std::vector<std::string> names =
      run((folder_ / "step.onnx").string(), (folder_ / "state.safetensors").string(), kSteps);
  ASSERT_EQ(names.size(), before.size());

  const std::vector<float> losses = read_floats(folder_ / "losses");
  ASSERT_EQ(losses.size(), static_cast<std::size_t>(kSteps));
  double first = 0;
  double loss = 0;
  for (int step = 0; step < kSteps; ++step) {
    loss = training(image_, label_, kRate).loss;
    first = step == 0 ? loss : first;
    EXPECT_NEAR(losses[static_cast<std::size_t>(step)], loss, 1e-3 * loss) << "step " << step;
  }
  EXPECT_LT(loss, first) << "nothing was learnt, so nothing was compared";

  const session::NamedTensors after = training.state()->read_all();
  const std::vector<float> theirs = read_floats(folder_ / "state");
  std::size_t at = 0;
  for (const std::string& name : names) {
    const std::vector<float> from = numbers_of(before.at(name));
    const std::vector<float> ours = numbers_of(after.at(name));
    ASSERT_LE(at + ours.size(), theirs.size());
    double moved = 0;
    double apart = 0;
    for (std::size_t i = 0; i < ours.size(); ++i, ++at) {
      moved += std::abs(double{ours[i]} - double{from[i]});
      apart += std::abs(double{ours[i]} - double{theirs[at]});
    }
    EXPECT_LE(apart, 0.2 * moved + 1e-6 * static_cast<double>(ours.size())) << name;
    if (after.at(name).type.dtype == graph::DType::i64) {
      EXPECT_EQ(apart, 0) << name;
    }
  }
  EXPECT_EQ(at, theirs.size());
}

TEST_P(OnnxStep, gives_our_loss_and_running_statistics_without_the_update) {
  const StepCase& one = GetParam();
  const model::UResNet network(one.network);
  session::TrainingModel training = our_training(network, one);
  std::ofstream(folder_ / "loss.onnx", std::ios::binary)
      << encode_loss(network, one.loss(), *training.state(), options());
  const std::vector<std::string> names = run((folder_ / "loss.onnx").string(), "-", 1);
  const std::vector<float> losses = read_floats(folder_ / "losses");
  ASSERT_EQ(losses.size(), 1U);
  const double loss = training(image_, label_, kRate).loss;
  EXPECT_NEAR(losses[0], loss, 1e-4 * loss);
  const std::vector<float> theirs = read_floats(folder_ / "state");
  std::size_t at = 0;
  for (const std::string& name : names) {
    for (const float ours : numbers_of(training.state()->read(name))) {
      ASSERT_LT(at, theirs.size());
      EXPECT_NEAR(theirs[at++], ours, 1e-4 + 1e-4 * std::abs(ours)) << name;
    }
  }
  EXPECT_EQ(names.empty(), one.network.normalization == model::Normalization::none);
}

INSTANTIATE_TEST_SUITE_P(Networks, OnnxStep, testing::ValuesIn(step_cases()),
                         [](const auto& one) { return one.param.name; });

class OnnxLostStep : public OnnxStep {};

TEST_P(OnnxLostStep, leaves_all_states_as_they_were) {
  const StepCase& one = GetParam();
  const model::UResNet network(one.network);
  const session::TrainingModel training = our_training(network, one);
  session::save_tensors(folder_ / "state.safetensors", training.state()->read_all());
  std::ofstream(folder_ / "step.onnx", std::ios::binary)
      << encode_training_step(network, one.loss(), one.optimizer, options());
  image_[7] = std::numeric_limits<float>::infinity();
  const std::vector<std::string> names =
      run((folder_ / "step.onnx").string(), (folder_ / "state.safetensors").string(), 1);
  EXPECT_FALSE(std::isfinite(read_floats(folder_ / "losses").at(0)));
  const std::vector<float> theirs = read_floats(folder_ / "state");
  std::vector<float> ours;
  for (const std::string& name : names) {
    const std::vector<float> numbers = numbers_of(training.state()->read(name));
    ours.insert(ours.end(), numbers.begin(), numbers.end());
  }
  EXPECT_EQ(theirs, ours);
}

INSTANTIATE_TEST_SUITE_P(OfANumberThatIsNone, OnnxLostStep,
                         testing::Values(StepCase{"a21", reduced("a21")}),
                         [](const auto& one) { return one.param.name; });

TEST(OnnxStepFile, says_what_goes_in_and_what_comes_out) {
  const model::UResNet network(reduced("a21"));
  const std::string file = encode_training_step(network, model::SegmentationLoss(), compile::Adam{},
                                                {.batch = 2, .rows = kRows, .columns = kColumns});
  for (const char* const name :
       {"image", "label", "learning_rate", "loss", "optimizer/step", "optimizer/step.next",
        "bottleneck.weight.next", "optimizer/bottleneck.weight/exp_avg_sq.next",
        "initial_convolution.norm.running_var.next"}) {
    EXPECT_THAT(file, testing::HasSubstr(name));
  }
}

TEST(OnnxStepFile, refuses_a_step_without_events) {
  const model::UResNet network(reduced("a21"));
  EXPECT_THAT(
      [&] {
        encode_training_step(network, model::SegmentationLoss(), compile::Adam{}, {.batch = 0});
      },
      testing::ThrowsMessage<UserError>(testing::HasSubstr("a step of 0 events")));
}

}  // namespace
}  // namespace cosmic::checkpoint::onnx
