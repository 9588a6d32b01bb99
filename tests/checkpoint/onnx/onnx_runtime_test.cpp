// Exported networks as ONNX Runtime runs them, against ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "checkpoint/onnx/network_cases.hpp"
#include "checkpoint/onnx/onnx_export.hpp"
#include "checkpoint/onnx/onnx_runtime.hpp"
#include "scratch_folder.hpp"

namespace cosmic::checkpoint::onnx {
namespace {

constexpr double kTolerance = 1e-4;  // of the largest logit

class OnnxRuntime : public WithOnnxRuntime {
 protected:
  std::vector<float> run(const std::filesystem::path& model, std::int64_t batch,
                         const std::string& scores = "logits") {
    write_floats(folder_ / "image", some_image(batch));
    const CommandResult result = run_node(
        "run_onnx.js", "'" + model.string() + "' '" + (folder_ / "image").string() + "' " +
                           std::to_string(batch) + ",3," + std::to_string(kRows) + "," +
                           std::to_string(kColumns) + " '" + (folder_ / "logits").string() + "'");
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.output,
              "image " + scores + "_plane0," + scores + "_plane1," + scores + "_plane2\n");
    return result.status == 0 ? read_floats(folder_ / "logits") : std::vector<float>{};
  }

  static void expect_close(std::span<const float> theirs, std::span<const float> ours) {
    ASSERT_EQ(theirs.size(), ours.size());
    double largest = 0;
    double difference = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      largest = std::max(largest, std::abs(double{ours[i]}));
      difference = std::max(difference, std::abs(double{ours[i]} - double{theirs[i]}));
    }
    EXPECT_GT(largest, 0.01) << "logits of nothing agree with anything";
    EXPECT_LT(difference, kTolerance * largest);
  }

  ScratchFolder folder_;
  std::filesystem::path model_ = folder_ / "model.onnx";
};

class OnnxNetwork : public OnnxRuntime, public testing::WithParamInterface<NetworkCase> {};

TEST_P(OnnxNetwork, gives_our_logits) {
  const model::UResNet network(GetParam().options);
  session::InferenceModel ours = trained_model(network, 2);
  write_onnx(model_, network, *ours.state(), {.rows = kRows, .columns = kColumns, .batch = 2});
  expect_close(run(model_, 2), ours(some_image(2)));
}

INSTANTIATE_TEST_SUITE_P(Networks, OnnxNetwork, testing::ValuesIn(network_cases()),
                         [](const auto& one) { return one.param.name; });

/// What softmax makes of our logits of one event, divided by the temperature.
std::vector<float> probabilities(std::span<const float> logits, double temperature) {
  constexpr std::size_t kClasses = 3;
  constexpr std::size_t kPixels = kRows * kColumns;
  std::vector<float> result(logits.size());
  for (std::size_t plane = 0; plane < logits.size(); plane += kClasses * kPixels) {
    for (std::size_t pixel = plane; pixel < plane + kPixels; ++pixel) {
      double sum = 0;
      for (std::size_t c = 0; c < kClasses; ++c) {
        sum += std::exp(logits[pixel + c * kPixels] / temperature);
      }
      for (std::size_t c = 0; c < kClasses; ++c) {
        result[pixel + c * kPixels] =
            static_cast<float>(std::exp(logits[pixel + c * kPixels] / temperature) / sum);
      }
    }
  }
  return result;
}

TEST_F(OnnxRuntime, gives_our_calibrated_probabilities_if_softmax_is_exported) {
  const model::UResNet network(reduced("a21"));
  session::InferenceModel ours = trained_model(network);
  for (const int opset : {kOldestOpset, kNewestOpset}) {
    write_onnx(model_, network, *ours.state(),
               {.opset = opset, .rows = kRows, .columns = kColumns, .softmax_temperature = 0.7},
               Existing::replace);
    expect_close(run(model_, 1, "probabilities"), probabilities(ours(some_image(1)), 0.7));
  }
}

class OnnxOpset : public OnnxRuntime, public testing::WithParamInterface<int> {};

TEST_P(OnnxOpset, gives_our_logits) {
  // All kinds of nodes: pooling, a transposed convolution, concatenation; then interpolation.
  model::UResNetOptions transposed = reduced("uresnet");
  transposed.upsampling = model::Upsampling::convolutional;
  for (const model::UResNetOptions& options : {transposed, reduced("uresnet")}) {
    const model::UResNet network(options);
    session::InferenceModel ours = trained_model(network);
    write_onnx(model_, network, *ours.state(),
               {.opset = GetParam(), .rows = kRows, .columns = kColumns}, Existing::replace);
    expect_close(run(model_, 1), ours(some_image(1)));
  }
}

INSTANTIATE_TEST_SUITE_P(Opsets, OnnxOpset, testing::Range(kOldestOpset, kNewestOpset + 1),
                         testing::PrintToStringParamName());

class OnnxOpenBatch : public OnnxRuntime, public testing::WithParamInterface<std::string> {};

TEST_P(OnnxOpenBatch, takes_batches_of_any_size) {
  const model::UResNet network(reduced(GetParam()));
  write_onnx(model_, network, *trained_model(network).state(),
             {.rows = kRows, .columns = kColumns});
  for (const std::int64_t batch : {1, 3}) {
    session::InferenceModel ours = trained_model(network, batch);
    expect_close(run(model_, batch), ours(some_image(batch)));
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, OnnxOpenBatch, testing::Values("a21", "uresnet3d"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace cosmic::checkpoint::onnx
