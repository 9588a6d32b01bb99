// A batch whose loss is not a number changes nothing: after it, training goes on as if it had never
// been. No copy of the state is made for that; the step itself does not apply such an update.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model/fashion_mnist.hpp"
#include "session/small_model.hpp"

namespace cosmic::session {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsNan;

constexpr double kRate = 0.01;

std::map<std::string, std::vector<std::byte>> bytes_of(const TrainingModel& training) {
  std::map<std::string, std::vector<std::byte>> bytes;
  for (const auto& [name, tensor] : training.state()->read_all()) {
    bytes[name] = tensor.bytes;
  }
  return bytes;
}

/// The names of states that are not the same.
std::vector<std::string> differences(const TrainingModel& a, const TrainingModel& b) {
  const auto first = bytes_of(a);
  std::vector<std::string> names;
  for (const auto& [name, bytes] : bytes_of(b)) {
    if (first.at(name) != bytes) {
      names.push_back(name);
    }
  }
  return names;
}

Batch good(const std::string& stream, std::int64_t batches = 1) {
  return small_batch(stream, batches, tiny_types());
}

/// One pixel of micro-batch `of` is not a number.
Batch spoiled(const std::string& stream, float pixel, std::int64_t batches = 1,
              std::int64_t of = 0) {
  Batch batch = good(stream, batches);
  batch.image[static_cast<std::size_t>(of * tiny_types().image.elements() + 100)] = pixel;
  return batch;
}

struct Way {
  const char* name;
  std::string target;
  compile::Optimizer optimizer;
  compile::Precision precision = {};
};

const compile::Precision kPureStochastic{.format = NumberFormat::bf16,
                                         .weights = compile::Precision::Weights::pure,
                                         .rounding = Rounding::stochastic};

class LostLoss : public testing::TestWithParam<Way> {
 protected:
  static TrainingModel compiled(const Options& more = {}) {
    Options options = more;
    options.target = GetParam().target;
    options.threads = 2;
    options.precision = GetParam().precision;
    return compiled_training(options, GetParam().optimizer, small_network(), tiny_types());
  }
};

INSTANTIATE_TEST_SUITE_P(, LostLoss,
                         testing::Values(Way{"cpu_adam", "cpu", compile::Adam{}},
                                         Way{"cpu_rmsprop", "cpu", compile::Rmsprop{}},
                                         Way{"cpu_sgd", "cpu", compile::Sgd{0.9}},
                                         Way{"cpu_pure_bfloat16_rounded_at_random", "cpu",
                                             compile::Adam{}, kPureStochastic},
                                         Way{"reference_adam", "reference", compile::Adam{}}),
                         [](const auto& test) { return test.param.name; });

TEST_P(LostLoss, leaves_every_state_as_it_was_and_training_goes_on_as_if_nothing_had_been) {
  for (const float pixel :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    TrainingModel spoilt = compiled();
    TrainingModel spared = compiled();
    for (TrainingModel* training : {&spoilt, &spared}) {
      const Batch batch = good("first");
      (*training)(batch.image, batch.label, kRate);
    }
    const Batch bad = spoiled("bad", pixel);
    EXPECT_FALSE(std::isfinite(spoilt(bad.image, bad.label, kRate).loss));
    EXPECT_EQ(spoilt.last_call().updates, 0);
    EXPECT_THAT(differences(spoilt, spared), ElementsAre());
    const Batch next = good("next");
    EXPECT_EQ(spoilt(next.image, next.label, kRate).loss,
              spared(next.image, next.label, kRate).loss);
    EXPECT_THAT(differences(spoilt, spared), ElementsAre());
  }
}

TEST_P(LostLoss, of_any_accumulated_batch_leaves_the_state_before_its_update) {
  Options options;
  options.gradient_accumulation = 2;
  options.replication_factor = 2;
  for (const std::int64_t lost : {0, 1, 2, 3}) {
    TrainingModel spoilt = compiled(options);
    TrainingModel spared = compiled(options);
    for (TrainingModel* training : {&spoilt, &spared}) {
      const Batch batch = good("first", 4);
      (*training)(batch.image, batch.label, kRate);
    }
    const Batch bad = spoiled("bad", std::nanf(""), 4, lost);
    EXPECT_TRUE(std::isnan(spoilt(bad.image, bad.label, kRate).loss));
    EXPECT_EQ(spoilt.last_call().updates, 0);
    EXPECT_THAT(differences(spoilt, spared), ElementsAre()) << lost;
    const Batch next = good("next", 4);
    EXPECT_EQ(spoilt(next.image, next.label, kRate).loss,
              spared(next.image, next.label, kRate).loss);
  }
}

TEST_P(LostLoss, of_a_later_iteration_keeps_the_updates_before_and_makes_none_after) {
  Options options;
  options.device_iterations = 3;
  options.output_mode = OutputMode::all;
  TrainingModel spoilt = compiled(options);
  TrainingModel spared = compiled();
  const Batch bad = spoiled("bad", std::nanf(""), 3, 1);
  const StepResult& result = spoilt(bad.image, bad.label, kRate);
  const std::vector<float> losses(result.losses.begin(), result.losses.end());
  const std::size_t pixels = bad.image.size() / 3;
  const double first =
      spared(std::span(bad.image).first(pixels), std::span(bad.label).first(pixels), kRate).loss;
  EXPECT_TRUE(std::isnan(result.loss));
  EXPECT_EQ(losses[0], static_cast<float>(first));
  EXPECT_THAT(std::span(losses).subspan(1), Each(IsNan()));
  EXPECT_EQ(spoilt.last_call().updates, 1);
  EXPECT_EQ(spoilt.last_call().micro_batches, 2);
  EXPECT_THAT(differences(spoilt, spared), ElementsAre());
}

// Linear layers update their weights while the gradient is at hand, long before the step ends.
TEST(LostLossOfSmallImages, leaves_every_state_as_it_was) {
  const model::FashionMnist network;
  const model::NegativeLogLikelihoodLoss loss;
  const auto compiled = [&] {
    TrainingModel training(network, loss, compile::Sgd{.momentum = 0.9}, options_for("cpu"));
    training.compile({{graph::DType::f32, {16, 1, 28, 28}}, {graph::DType::u8, {16}}});
    return training;
  };
  TrainingModel spoilt = compiled();
  TrainingModel spared = compiled();
  std::vector<float> image(16UL * 28 * 28, 0.5F);
  const std::vector<std::uint8_t> label(16, 3);
  spoilt(image, label, kRate);
  spared(image, label, kRate);
  std::fill(image.begin(), image.begin() + 28 * 28, std::numeric_limits<float>::infinity());
  EXPECT_FALSE(std::isfinite(spoilt(image, label, kRate).loss));
  EXPECT_THAT(differences(spoilt, spared), ElementsAre());
}

}  // namespace
}  // namespace cosmic::session
