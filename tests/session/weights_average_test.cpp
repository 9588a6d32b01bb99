// Moving averages of the weights: kept by the step itself on every target, used by evaluation, and
// never by training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "checkpoint/checkpoint.hpp"
#include "compile/passes/passes.hpp"
#include "core/error.hpp"
#include "session/small_model.hpp"
#include "target/targets_here.hpp"

namespace cosmic::session {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double kRate = 1e-2;
constexpr double kDecay = 0.75;

/// Weights that are averaged: all but counters.
NamedTensors floats_of(const ModelState& state) {
  NamedTensors weights = state.read_weights();
  std::erase_if(weights,
                [](const auto& entry) { return entry.second.type.dtype != graph::DType::f32; });
  return weights;
}

std::map<std::string, std::vector<std::byte>> bits_of(const NamedTensors& tensors) {
  std::map<std::string, std::vector<std::byte>> bits;
  for (const auto& [name, tensor] : tensors) {
    bits[name] = tensor.bytes;
  }
  return bits;
}

/// What averages should be after one more update.
void take_in(NamedTensors& averages, const NamedTensors& weights, double decay) {
  for (auto& [name, average] : averages) {
    const std::span<const float> weight = weights.at(name).as<float>();
    for (std::size_t i = 0; i < weight.size(); ++i) {
      average.as<float>()[i] =
          static_cast<float>(decay * average.as<float>()[i] + (1 - decay) * weight[i]);
    }
  }
}

/// The largest difference between averages of a state and those expected.
double largest_difference(const ModelState& state, const NamedTensors& expected) {
  double largest = 0;
  for (const auto& [name, tensor] : expected) {
    const Tensor average = state.read(compile::average_name(name));
    for (std::size_t i = 0; i < tensor.as<float>().size(); ++i) {
      largest = std::max<double>(largest, std::abs(tensor.as<float>()[i] - average.as<float>()[i]));
    }
  }
  return largest;
}

Batch tiny_batch(const std::string& stream, std::int64_t batches = 1) {
  return small_batch(stream, batches, tiny_types());
}

TrainingModel averaging(Options options,
                        const compile::Optimizer& optimizer = compile::Adam{.epsilon = 1e-4}) {
  options.weights_average = kDecay;
  return compiled_training(options, optimizer, small_network(), tiny_types());
}

class WeightsAverageOn : public testing::TestWithParam<std::string> {};

TEST_P(WeightsAverageOn, follows_the_weights_of_each_update) {
  TrainingModel training = averaging(options_for(GetParam()));
  NamedTensors expected = floats_of(*training.state());
  EXPECT_EQ(largest_difference(*training.state(), expected), 0) << "it begins with the weights";
  for (int step = 0; step < 3; ++step) {
    const Batch batch = tiny_batch(std::to_string(step));
    training(batch.image, batch.label, kRate);
    take_in(expected, floats_of(*training.state()), kDecay);
    EXPECT_LT(largest_difference(*training.state(), expected), 1e-6) << "update " << step;
  }
}

TEST_P(WeightsAverageOn, leaves_training_as_it_is) {
  TrainingModel with = averaging(options_for(GetParam()));
  TrainingModel without = compiled_training(options_for(GetParam()), compile::Adam{.epsilon = 1e-4},
                                            small_network(), tiny_types());
  for (int step = 0; step < 2; ++step) {
    const Batch batch = tiny_batch(std::to_string(step));
    EXPECT_EQ(with(batch.image, batch.label, kRate).loss,
              without(batch.image, batch.label, kRate).loss);
  }
}

TEST_P(WeightsAverageOn, is_of_updates_where_gradients_are_accumulated) {
  Options options = options_for(GetParam());
  options.gradient_accumulation = 2;
  TrainingModel training = averaging(options);
  NamedTensors expected = floats_of(*training.state());
  for (int step = 0; step < 2; ++step) {
    const Batch batch = tiny_batch(std::to_string(step), 2);
    training(batch.image, batch.label, kRate);
    take_in(expected, floats_of(*training.state()), kDecay);
  }
  EXPECT_LT(largest_difference(*training.state(), expected), 1e-6);
}

TEST_P(WeightsAverageOn, is_what_evaluation_with_averaged_weights_uses) {
  TrainingModel training = averaging(options_for(GetParam()));
  const Batch batch = tiny_batch("only");
  for (int step = 0; step < 3; ++step) {
    training(batch.image, batch.label, kRate);
  }
  Options options = options_for(GetParam());
  const InferenceModel plain = compiled_inference(options, nullptr, small_network(), tiny_types());
  checkpoint::restore_weights(checkpoint::capture(*training.state(), 3, {}), *plain.state());
  InferenceModel of_averages =
      compiled_inference(options, plain.state(), small_network(), tiny_types());
  options.averaged_weights = true;
  InferenceModel averaged =
      compiled_inference(options, training.state(), small_network(), tiny_types());
  const auto expected = of_averages(batch.image);
  const auto found = averaged(batch.image);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {  // a target may keep more digits than it gives
    ASSERT_NEAR(found[i], expected[i], 1e-5) << i;
  }
  options.averaged_weights = false;
  InferenceModel last =
      compiled_inference(options, training.state(), small_network(), tiny_types());
  const auto others = last(batch.image);
  EXPECT_FALSE(std::equal(found.begin(), found.end(), others.begin()));
}

TEST_P(WeightsAverageOn, does_not_take_in_an_update_that_is_not_made) {
  TrainingModel training = averaging(options_for(GetParam()));
  const Batch batch = tiny_batch("good");
  training(batch.image, batch.label, kRate);
  const auto before = bits_of(training.state()->read_all());
  Batch bad = batch;
  bad.image[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(std::isfinite(training(bad.image, bad.label, kRate).loss));
  EXPECT_EQ(bits_of(training.state()->read_all()), before);
}

INSTANTIATE_TEST_SUITE_P(Targets, WeightsAverageOn, testing::ValuesIn(target::targets_here()));

TEST(WeightsAverage, has_another_decay_from_the_next_call_on) {
  TrainingModel training = averaging(options_for("cpu"), compile::Sgd{0.9});
  NamedTensors expected = floats_of(*training.state());
  for (const double decay : {0.25, 0.5}) {
    training.set_weights_average(decay);
    const Batch batch = tiny_batch("any");
    training(batch.image, batch.label, kRate);
    take_in(expected, floats_of(*training.state()), decay);
    EXPECT_LT(largest_difference(*training.state(), expected), 1e-6);
  }
}

TEST(WeightsAverage, is_restored_with_the_same_bits) {
  TrainingModel first = averaging(options_for("cpu"));
  const Batch batch = tiny_batch("any");
  first(batch.image, batch.label, kRate);
  const checkpoint::Checkpoint saved = checkpoint::capture(*first.state(), 1, {});
  EXPECT_TRUE(checkpoint::has_averages(saved));
  TrainingModel second = averaging(options_for("cpu"));
  checkpoint::restore(saved, *second.state());
  first(batch.image, batch.label, kRate);
  second(batch.image, batch.label, kRate);
  EXPECT_EQ(bits_of(first.state()->read_all()), bits_of(second.state()->read_all()));
}

TEST(WeightsAverage, begins_with_the_weights_of_a_run_that_had_none_and_is_dropped_by_one) {
  TrainingModel with = averaging(options_for("cpu"));
  TrainingModel without = compiled_training(options_for("cpu"), compile::Adam{.epsilon = 1e-4},
                                            small_network(), tiny_types());
  const Batch batch = tiny_batch("any");
  without(batch.image, batch.label, kRate);
  checkpoint::restore(checkpoint::capture(*without.state(), 1, {}), *with.state());
  EXPECT_EQ(largest_difference(*with.state(), floats_of(*without.state())), 0);
  with(batch.image, batch.label, kRate);
  checkpoint::restore(checkpoint::capture(*with.state(), 2, {}), *without.state());
  EXPECT_EQ(bits_of(floats_of(*without.state())), bits_of(floats_of(*with.state())));
}

TEST(WeightsAverage, that_cannot_be_is_refused_with_what_to_do) {
  Options options = options_for("cpu");
  options.weights_average = 1;
  EXPECT_THAT(
      [&] { validate(options, Purpose::training); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("weights_average is 1"), HasSubstr("0.999"))));
  options.weights_average = 0.9;
  EXPECT_THAT([&] { validate(options, Purpose::inference); },
              ThrowsMessage<UserError>(HasSubstr("leave it out")));
  options.precision.format = NumberFormat::bf16;
  options.precision.weights = compile::Precision::Weights::pure;
  EXPECT_THAT([&] { validate(options, Purpose::training); },
              ThrowsMessage<UserError>(HasSubstr("keep master weights")));
  TrainingModel none =
      compiled_training(options_for("cpu"), compile::Sgd{}, small_network(), tiny_types());
  EXPECT_THAT([&] { none.set_weights_average(0.5); },
              ThrowsMessage<UserError>(HasSubstr("Options::weights_average before compiling")));
  Options evaluation = options_for("cpu");
  evaluation.averaged_weights = true;
  EXPECT_THAT([&] { compiled_inference(evaluation, none.state(), small_network(), tiny_types()); },
              ThrowsMessage<UserError>(HasSubstr("state without averages")));
}

}  // namespace
}  // namespace cosmic::session
