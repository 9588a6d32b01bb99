// A classifier of small pictures takes other ways through the CPU than the large images of
// CosmicTagger: whatever the number of threads, they must lead to what the reference computes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "model/fashion_mnist.hpp"
#include "session/small_model.hpp"
#include "target/registry.hpp"

namespace cosmic::session {
namespace {

constexpr int kSteps = 3;

struct Trained {
  std::vector<double> losses;
  std::vector<float> gradient;  ///< of a linear layer's weights, if asked for
  std::vector<float> weights;   ///< the same weights, in the end
  std::vector<float> kernel;    ///< of a convolution, in the end
};

std::vector<float> floats(const ModelState& state, const std::string& name) {
  const Tensor tensor = state.read(name);
  const std::span<const float> values = tensor.as<float>();
  return {values.begin(), values.end()};
}

Trained train(Options options, std::int64_t batch) {
  const model::FashionMnist network;
  const model::NegativeLogLikelihoodLoss loss;
  const bool keeps_gradients = options.outputs.gradients;
  TrainingModel training(network, loss, compile::Sgd{.momentum = 0.9}, std::move(options));
  training.compile({{graph::DType::f32, {batch, 1, 28, 28}}, {graph::DType::u8, {batch}}});
  RandomStream random(3, "pictures");
  std::vector<float> image(static_cast<std::size_t>(batch) * 28 * 28);
  std::vector<std::uint8_t> label(static_cast<std::size_t>(batch));
  Trained result;
  for (int step = 0; step < kSteps; ++step) {
    for (float& pixel : image) {
      pixel = static_cast<float>(random.uniform(-1, 1));
    }
    for (std::uint8_t& one : label) {
      one = static_cast<std::uint8_t>(random.next() % 10);
    }
    result.losses.push_back(training(image, label, 0.05).loss);
  }
  if (keeps_gradients) {
    const std::span<const float> gradient = training.gradient("fc1.weight");
    result.gradient.assign(gradient.begin(), gradient.end());
  }
  result.weights = floats(*training.state(), "fc1.weight");
  result.kernel = floats(*training.state(), "conv2.weight");
  return result;
}

template <class Numbers>
void expect_near(const Numbers& values, const Numbers& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i], expected[i], 2e-5) << "number " << i;
  }
}

TEST(SmallImages, are_trained_on_as_the_reference_does_by_any_number_of_threads) {
  const Trained expected = train(options_for("reference"), 16);
  for (const int threads : {1, 2, 3}) {
    const Trained found = train(options_for("cpu", threads), 16);
    expect_near(found.losses, expected.losses);
    expect_near(found.weights, expected.weights);
    expect_near(found.kernel, expected.kernel);
  }
}

TEST(SmallImages, give_the_same_bits_in_every_run) {
  const Trained first = train(options_for("cpu", 2), 16);
  const Trained second = train(options_for("cpu", 2), 16);
  EXPECT_EQ(first.losses, second.losses);
  EXPECT_EQ(first.weights, second.weights);
  EXPECT_EQ(first.kernel, second.kernel);
}

TEST(SmallImages, keep_gradients_when_they_are_asked_for) {
  Options options = options_for("cpu", 2);
  options.outputs.gradients = true;
  Options exact = options_for("reference");
  exact.outputs.gradients = true;
  const Trained expected = train(exact, 16);
  const Trained found = train(options, 16);
  expect_near(found.gradient, expected.gradient);
  expect_near(found.weights, expected.weights);
}

TEST(SmallImages, in_batches_that_fill_no_bundle_are_trained_on_all_the_same) {
  expect_near(train(options_for("cpu", 2), 6).losses, train(options_for("reference"), 6).losses);
}

TEST(SmallImages, in_bfloat16_keep_the_rounded_activation_of_an_anchored_convolution) {
  constexpr std::int64_t kBatch = 64;
  const auto first_step = [](const std::string& target, int threads, bool anchored) {
    Options options = options_for(target, threads);
    options.precision.format = NumberFormat::bf16;
    if (anchored) {
      options.anchors = {"conv1"};
    }
    const model::FashionMnist network;
    const model::NegativeLogLikelihoodLoss loss;
    TrainingModel training(network, loss, compile::Sgd{}, std::move(options));
    training.compile({{graph::DType::f32, {kBatch, 1, 28, 28}}, {graph::DType::u8, {kBatch}}});
    std::vector<float> image(static_cast<std::size_t>(kBatch) * 28 * 28);
    RandomStream random(3, "pictures");
    for (float& pixel : image) {
      pixel = static_cast<float>(random.uniform(-1, 1));
    }
    const std::vector<std::uint8_t> label(static_cast<std::size_t>(kBatch), 4);
    const double value = training(image, label, 0.05).loss;
    double largest = 0;
    if (anchored) {
      for (const float number : training.anchored("conv1")) {
        largest = std::max(largest, std::abs(static_cast<double>(number)));
      }
    }
    return std::pair(value, largest);
  };
  const auto [expected, expected_largest] = first_step("reference", 1, true);
  for (const int threads : {1, 2}) {
    const auto [loss, largest] = first_step("cpu", threads, true);
    EXPECT_NEAR(loss, expected, 1e-3) << threads << " threads";
    EXPECT_NEAR(largest, expected_largest, 1e-2) << threads << " threads";
  }
  EXPECT_GT(expected_largest, 0.1);
}

TEST(SmallImages, with_half_partials_are_trained_on_about_as_the_reference_does) {
  const std::vector<std::string> targets = target::target_names();
  if (std::find(targets.begin(), targets.end(), "ipu") == targets.end()) {
    GTEST_SKIP() << "target 'ipu' is not in this build";
  }
  const auto trained = [](const std::string& target, NumberFormat partials) {
    Options options = options_for(target, 2);
    options.precision.format = NumberFormat::f16;
    options.precision.partials = partials;
    // With it, gradients are float16 on both; without it, only on an IPU.
    options.precision.loss_scaling = {compile::LossScaling::Kind::dynamic};
    return train(std::move(options), 16);
  };
  const Trained found = trained("ipu", NumberFormat::f16);
  const Trained expected = trained("reference", NumberFormat::f16);
  for (std::size_t step = 0; step < found.losses.size(); ++step) {
    EXPECT_NEAR(found.losses[step], expected.losses[step], 2e-3) << "step " << step;
  }
  EXPECT_NE(found.losses, trained("ipu", NumberFormat::f32).losses) << "no sum was rounded";
}

}  // namespace
}  // namespace cosmic::session
