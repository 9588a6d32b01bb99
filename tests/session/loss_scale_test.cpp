// Training with a scaled loss: a step whose gradients are not finite is not made and halves the
// scale, enough good ones in a row double it, and a run that is taken up again goes on as it would
// have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "compile/passes/passes.hpp"
#include "model/fashion_mnist.hpp"
#include "session/small_model.hpp"

namespace cosmic::session {
namespace {

using compile::LossScaling;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kRate = 0.01;
// With it the gradients of these networks are larger than float16 holds.
constexpr float kTooLarge = 0x1p50F;

Options scaled_options(const std::string& target = "cpu", LossScaling scaling = {}) {
  Options options = options_for(target);
  scaling.kind = LossScaling::Kind::dynamic;
  options.precision.format = NumberFormat::f16;
  options.precision.loss_scaling = scaling;
  return options;
}

TrainingModel compiled(const Options& options,
                       const compile::Optimizer& optimizer = compile::Adam{}) {
  return compiled_training(options, optimizer, small_network(), tiny_types());
}

Batch batch_of(const std::string& stream, std::int64_t batches = 1) {
  return small_batch(stream, batches, tiny_types());
}

float scale_of(const TrainingModel& training) {
  return training.state()->read(compile::kLossScaleState).as<float>()[0];
}

std::int64_t good_steps_of(const TrainingModel& training) {
  return training.state()->read(compile::kGoodStepsState).as<std::int64_t>()[0];
}

void set_scale(TrainingModel& training, float scale) {
  Tensor tensor({graph::DType::f32, {}});
  tensor.as<float>()[0] = scale;
  training.state()->write(compile::kLossScaleState, tensor);
}

StepResult step(TrainingModel& training, const std::string& stream, std::int64_t batches = 1) {
  const Batch batch = batch_of(stream, batches);
  return training(batch.image, batch.label, kRate);
}

/// The names of states that are not the same, but for the scale and its counter.
std::vector<std::string> changed(const NamedTensors& before, const TrainingModel& training) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : training.state()->read_all()) {
    if (before.at(name).bytes != tensor.bytes && name != compile::kLossScaleState &&
        name != compile::kGoodStepsState) {
      names.push_back(name);
    }
  }
  return names;
}

bool is_running_statistic(const std::string& name) {
  return name.find("running_") != std::string::npos ||
         name.find("num_batches") != std::string::npos;
}

class LossScaleOn : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Targets, LossScaleOn, testing::Values("cpu", "reference"),
                         [](const auto& target) { return target.param; });

TEST_P(LossScaleOn, begins_at_65536_and_shows_the_loss_as_it_is) {
  TrainingModel scaled = compiled(scaled_options(GetParam()));
  TrainingModel plain = compiled(options_for(GetParam()));
  EXPECT_EQ(scale_of(scaled), 65536.0F);
  const StepResult result = step(scaled, "first");
  const double expected = step(plain, "first").loss;
  EXPECT_NEAR(result.loss, expected, 0.01 * expected);
}

TEST_P(LossScaleOn, is_halved_by_a_step_with_gradients_that_are_not_finite_which_is_not_made) {
  TrainingModel training = compiled(scaled_options(GetParam()));
  step(training, "first");
  const NamedTensors before = training.state()->read_all();
  set_scale(training, kTooLarge);
  const StepResult result = step(training, "second");
  EXPECT_TRUE(std::isfinite(result.loss));
  EXPECT_EQ(result.skipped_updates, 1);
  EXPECT_EQ(result.loss_scale, kTooLarge / 2);
  EXPECT_EQ(scale_of(training), kTooLarge / 2);
  EXPECT_EQ(good_steps_of(training), 0);
  // No weight, no moment and no count of updates; what the forward pass has seen, it has seen.
  const std::vector<std::string> names = changed(before, training);
  EXPECT_THAT(names, testing::Not(IsEmpty()));
  for (const std::string& name : names) {
    EXPECT_TRUE(is_running_statistic(name)) << name;
  }
}

TEST_P(LossScaleOn, that_is_too_large_falls_until_steps_are_made_again) {
  TrainingModel training = compiled(scaled_options(GetParam()));
  set_scale(training, 0x1p30F);
  int skipped = 0;
  while (step(training, "any").skipped_updates > 0) {
    ++skipped;
    ASSERT_LT(skipped, 40);
  }
  EXPECT_GT(skipped, 0);
  EXPECT_EQ(scale_of(training), std::ldexp(1.0F, 30 - skipped));
  EXPECT_EQ(good_steps_of(training), 1);
  EXPECT_EQ(step(training, "any").skipped_updates, 0);
  EXPECT_EQ(good_steps_of(training), 2);
}

TEST_P(LossScaleOn, is_doubled_after_enough_good_steps_in_a_row) {
  TrainingModel training =
      compiled(scaled_options(GetParam(), {.initial = 256, .growth_interval = 3}));
  std::vector<double> scales;
  for (int i = 0; i < 4; ++i) {
    scales.push_back(step(training, std::to_string(i)).loss_scale.value());
  }
  EXPECT_THAT(scales, ElementsAre(256, 256, 512, 512));
  EXPECT_EQ(good_steps_of(training), 1);
  // A step that is not made begins the count anew.
  set_scale(training, kTooLarge);
  step(training, "lost");
  set_scale(training, 512);
  scales.clear();
  for (int i = 0; i < 3; ++i) {
    scales.push_back(step(training, std::to_string(i)).loss_scale.value());
  }
  EXPECT_THAT(scales, ElementsAre(512, 512, 1024));
}

TEST_P(LossScaleOn, stays_as_it_is_with_every_other_state_where_the_loss_is_not_finite) {
  TrainingModel training = compiled(scaled_options(GetParam()));
  step(training, "first");
  const NamedTensors before = training.state()->read_all();
  Batch batch = batch_of("lost");
  batch.image[100] = std::nanf("");
  const StepResult result = training(batch.image, batch.label, kRate);
  EXPECT_TRUE(std::isnan(result.loss));
  EXPECT_FALSE(result.loss_scale.has_value());
  for (const auto& [name, tensor] : training.state()->read_all()) {
    EXPECT_EQ(before.at(name).bytes, tensor.bytes) << name;
  }
}

TEST(LossScale, of_a_run_taken_up_in_the_middle_is_the_same_to_the_last_bit) {
  const Options options = scaled_options("cpu", {.initial = 1 << 20, .growth_interval = 3});
  TrainingModel whole = compiled(options);
  const auto run = [](TrainingModel& training, int first, int end) {
    std::vector<double> scales;
    for (int i = first; i < end; ++i) {
      if (i == 5) {
        set_scale(training, kTooLarge);  // skipped, and a few after it
      }
      scales.push_back(step(training, std::to_string(i)).loss_scale.value());
    }
    return scales;
  };
  run(whole, 0, 4);
  const NamedTensors saved = whole.state()->read_all();
  TrainingModel resumed = compiled(options);
  resumed.state()->write_all(saved);
  EXPECT_EQ(run(resumed, 4, 12), run(whole, 4, 12));
  for (const auto& [name, tensor] : whole.state()->read_all()) {
    EXPECT_EQ(resumed.state()->read(name).bytes, tensor.bytes) << name;
  }
}

class LossScaleWith : public testing::TestWithParam<std::pair<const char*, compile::Optimizer>> {};

INSTANTIATE_TEST_SUITE_P(
    Optimizers, LossScaleWith,
    testing::Values(std::pair("adam", compile::Optimizer(compile::Adam{})),
                    std::pair("rmsprop", compile::Optimizer(compile::Rmsprop{})),
                    std::pair("momentum", compile::Optimizer(compile::Sgd{0.9})),
                    std::pair("sgd", compile::Optimizer(compile::Sgd{}))),
    [](const auto& instance) { return instance.param.first; });

/// Powers of two change no digit of a gradient that fits.
TEST_P(LossScaleWith, another_scale_makes_nearly_the_same_update) {
  const auto updated = [](std::int64_t initial) {
    TrainingModel training =
        compiled(scaled_options("cpu", {.initial = initial}), GetParam().second);
    EXPECT_EQ(step(training, "first").skipped_updates, 0);
    return training.state()->read("initial_convolution.conv.weight");
  };
  const Tensor some = updated(1 << 8);
  const Tensor other = updated(1 << 9);
  const std::span<const float> a = some.as<float>();
  const std::span<const float> b = other.as<float>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], 0.02 * std::abs(a[i]) + 1e-4) << i;
  }
}

TEST_P(LossScaleWith, a_lost_step_among_several_of_a_call_is_skipped_alone) {
  Options options = scaled_options();
  options.device_iterations = 3;
  TrainingModel together = compiled(options, GetParam().second);
  TrainingModel one_by_one = compiled(scaled_options(), GetParam().second);
  set_scale(together, 0x1p30F);
  set_scale(one_by_one, 0x1p30F);
  const Batch batch = batch_of("three", 3);
  const std::size_t pixels = batch.image.size() / 3;
  std::int64_t skipped = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    skipped += one_by_one(std::span(batch.image).subspan(i * pixels, pixels),
                          std::span(batch.label).subspan(i * pixels, pixels), kRate)
                   .skipped_updates;
  }
  const StepResult result = together(batch.image, batch.label, kRate);
  EXPECT_GT(skipped, 0);
  EXPECT_EQ(result.skipped_updates, skipped);
  EXPECT_EQ(result.loss_scale, scale_of(one_by_one));
  EXPECT_THAT(changed(one_by_one.state()->read_all(), together), IsEmpty());
}

TEST_P(LossScaleWith, an_update_of_several_batches_is_skipped_as_a_whole_and_starts_afresh) {
  Options options = scaled_options();
  options.gradient_accumulation = 2;
  TrainingModel training = compiled(options, GetParam().second);
  set_scale(training, kTooLarge);
  NamedTensors before = training.state()->read_all();
  StepResult result = step(training, "lost", 2);
  EXPECT_EQ(result.skipped_updates, 1);
  EXPECT_EQ(result.loss_scale, kTooLarge / 2);
  for (const std::string& name : changed(before, training)) {
    EXPECT_TRUE(is_running_statistic(name)) << name;
  }
  set_scale(training, 1024);
  before = training.state()->read_all();
  result = step(training, "made", 2);
  EXPECT_EQ(result.skipped_updates, 0);
  EXPECT_THAT(changed(before, training), testing::Contains("initial_convolution.conv.weight"));
}

// Linear layers update their weights while the gradient is at hand, but not before all are there.
TEST(LossScaleOfSmallImages, skips_whole_steps) {
  const model::FashionMnist network;
  const model::NegativeLogLikelihoodLoss loss;
  TrainingModel training(network, loss, compile::Sgd{.momentum = 0.9}, scaled_options());
  training.compile({{graph::DType::f32, {16, 1, 28, 28}}, {graph::DType::u8, {16}}});
  RandomStream random(3, "pictures");
  std::vector<float> image(16 * 28 * 28);
  std::vector<std::uint8_t> label(16);
  for (float& pixel : image) {
    pixel = static_cast<float>(random.uniform());
  }
  for (std::uint8_t& digit : label) {
    digit = static_cast<std::uint8_t>(random.uniform(0, 10));
  }
  NamedTensors before = training.state()->read_all();
  set_scale(training, kTooLarge);
  EXPECT_EQ(training(image, label, kRate).skipped_updates, 1);
  EXPECT_THAT(changed(before, training), IsEmpty());
  set_scale(training, 1024);
  EXPECT_EQ(training(image, label, kRate).skipped_updates, 0);
  EXPECT_EQ(changed(before, training).size(), before.size() - 2);
}

TEST(LossScale, gradients_that_are_handed_out_are_not_scaled) {
  Options options = scaled_options();
  options.outputs.gradients = true;
  Options full = options_for("cpu");
  full.outputs.gradients = true;
  TrainingModel scaled = compiled(options);
  TrainingModel plain = compiled(full);
  step(scaled, "first");
  step(plain, "first");
  const std::span<const float> a = scaled.gradient("bottleneck.weight");
  const std::span<const float> b = plain.gradient("bottleneck.weight");
  double largest = 0;
  for (const float number : b) {
    largest = std::max<double>(largest, std::abs(number));
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], 0.02 * largest) << i;
  }
}

}  // namespace
}  // namespace cosmic::session
