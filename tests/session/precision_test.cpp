// Number formats change what is written and nothing else: programs still train, in less memory, and
// the same run gives the same bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "core/number_format.hpp"
#include "session/small_model.hpp"

namespace cosmic::session {
namespace {

using compile::Precision;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr Precision kFloat32{};
constexpr Precision kBfloat16{.format = NumberFormat::bf16};
constexpr Precision kPure{.format = NumberFormat::bf16, .weights = Precision::Weights::pure};
constexpr Precision kStochastic{.format = NumberFormat::bf16, .rounding = Rounding::stochastic};
constexpr Precision kPureStochastic{.format = NumberFormat::bf16,
                                    .weights = Precision::Weights::pure,
                                    .rounding = Rounding::stochastic};
constexpr Precision kFloat16{.format = NumberFormat::f16};
constexpr Precision kMixed{.format = NumberFormat::f16,
                           .loss_scaling = {compile::LossScaling::Kind::dynamic}};

Options with(const Precision& precision, const std::string& target = "cpu", int threads = 2) {
  Options options = options_for(target, threads);
  options.precision = precision;
  return options;
}

double step(TrainingModel& training, int i) {
  const Batch batch = small_batch("step " + std::to_string(i % 3));
  return training(batch.image, batch.label, 1e-3).loss;
}

std::vector<double> losses_of(TrainingModel& training, int steps) {
  std::vector<double> losses;
  for (int i = 0; i < steps; ++i) {
    losses.push_back(step(training, i));
  }
  return losses;
}

bool holds_numbers_of(const ModelState& state, const std::string& name, NumberFormat format) {
  const Tensor tensor = state.read(name);
  for (const float number : tensor.as<float>()) {
    if (rounded(number, format) != number) {
      return false;
    }
  }
  return true;
}

// --- training ---

/// Relative difference of two loss curves at their worst step.
double apart(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(a[i] - b[i]) / std::abs(a[i]));
  }
  return worst;
}

class PrecisionOf : public testing::TestWithParam<std::pair<const char*, Precision>> {
 protected:
  const Precision& precision() const { return GetParam().second; }
};

TEST_P(PrecisionOf, loss_curve_stays_within_three_percent_of_float32) {
  constexpr int kSteps = 20;
  TrainingModel full = compiled_training(with(kFloat32), compile::Adam{});
  TrainingModel narrow = compiled_training(with(precision()), compile::Adam{});
  const std::vector<double> expected = losses_of(full, kSteps);
  const std::vector<double> found = losses_of(narrow, kSteps);
  EXPECT_LT(expected.back(), 0.95 * expected.front()) << "nothing is learnt in float32";
  EXPECT_LT(apart(expected, found), 0.03);
  EXPECT_NE(expected, found);
}

TEST_P(PrecisionOf, a_step_is_what_the_reference_target_makes_of_it) {
  TrainingModel cpu = compiled_training(with(precision()));
  TrainingModel reference = compiled_training(with(precision(), "reference"));
  // The reference stores, and so rounds, more values.
  EXPECT_LT(apart(losses_of(reference, 2), losses_of(cpu, 2)), 0.02);
}

TEST_P(PrecisionOf, needs_less_memory_than_float32) {
  const CompileReport full = compiled_training(with(kFloat32)).report();
  const CompileReport narrow = compiled_training(with(precision())).report();
  EXPECT_LT(narrow.arena_bytes, 0.75 * static_cast<double>(full.arena_bytes));
}

TEST_P(PrecisionOf, same_run_gives_the_same_bits) {
  TrainingModel first = compiled_training(with(precision()), compile::Adam{});
  TrainingModel second = compiled_training(with(precision()), compile::Adam{});
  EXPECT_EQ(losses_of(first, 4), losses_of(second, 4));
}

TEST_P(PrecisionOf, resumes_bit_for_bit) {
  TrainingModel whole = compiled_training(with(precision()), compile::Adam{});
  losses_of(whole, 3);
  const NamedTensors saved = whole.state()->read_all();
  TrainingModel resumed = compiled_training(with(precision()), compile::Adam{});
  resumed.state()->write_all(saved);
  for (int i = 3; i < 6; ++i) {
    EXPECT_EQ(step(whole, i), step(resumed, i)) << "step " << i;
  }
  for (const auto& [name, tensor] : whole.state()->read_all()) {
    EXPECT_EQ(resumed.state()->read(name).bytes, tensor.bytes) << name;
  }
}

TEST_P(PrecisionOf, accumulates_gradients) {
  Options options = with(precision());
  options.gradient_accumulation = 2;
  Options full = with(kFloat32);
  full.gradient_accumulation = 2;
  TrainingModel narrow = compiled_training(options, compile::Adam{});
  TrainingModel expected = compiled_training(full, compile::Adam{});
  const Batch batch = small_batch("accumulated", 2);
  for (int i = 0; i < 5; ++i) {
    const double loss = expected(batch.image, batch.label, 1e-3).loss;
    EXPECT_NEAR(narrow(batch.image, batch.label, 1e-3).loss, loss, 0.02 * loss) << "step " << i;
  }
}

TEST_P(PrecisionOf, inference_uses_the_same_weights_and_is_near_float32) {
  TrainingModel training = compiled_training(with(precision()), compile::Adam{});
  losses_of(training, 3);
  const Batch batch = small_batch("inferred");
  InferenceModel narrow = compiled_inference(with(precision()), training.state());
  const std::vector<float> found(narrow(batch.image).begin(), narrow(batch.image).end());
  InferenceModel full = compiled_inference(with(kFloat32), training.state());
  const std::span<const float> expected = full(batch.image);
  float largest = 0;
  float worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    worst = std::max(worst, std::abs(expected[i] - found[i]));
  }
  EXPECT_LT(worst, 0.05F * largest);
  EXPECT_GT(worst, 0.0F);
}

INSTANTIATE_TEST_SUITE_P(All, PrecisionOf,
                         testing::Values(std::pair("bfloat16", kBfloat16), std::pair("pure", kPure),
                                         std::pair("stochastic", kStochastic),
                                         std::pair("pure_stochastic", kPureStochastic),
                                         std::pair("float16", kFloat16),
                                         std::pair("mixed", kMixed)),
                         [](const auto& instance) { return instance.param.first; });

// --- what each option changes ---

TEST(Precision, of_float32_is_what_it_is_without_the_option) {
  TrainingModel plain = compiled_training(options_for("cpu"));
  TrainingModel asked = compiled_training(with(kFloat32));
  EXPECT_EQ(losses_of(plain, 2), losses_of(asked, 2));
  EXPECT_EQ(plain.report().nodes, asked.report().nodes);
}

TEST(Precision, master_weights_keep_what_bfloat16_cannot) {
  TrainingModel training = compiled_training(with(kBfloat16), compile::Adam{});
  losses_of(training, 2);
  EXPECT_FALSE(holds_numbers_of(*training.state(), "bottleneck.weight", NumberFormat::bf16));
}

TEST(Precision, pure_keeps_all_state_in_bfloat16) {
  TrainingModel training = compiled_training(with(kPure), compile::Adam{});
  const ModelState& state = *training.state();
  const auto expect_all = [&](const std::string& when) {
    for (const std::string& name : state.names()) {
      if (state.type(name).dtype == graph::DType::f32) {
        EXPECT_TRUE(holds_numbers_of(state, name, NumberFormat::bf16)) << name << ' ' << when;
      }
    }
  };
  expect_all("at first");
  losses_of(training, 2);
  expect_all("after two steps");
}

TEST(Precision, pure_takes_the_rounded_numbers_of_what_is_written_to_it) {
  TrainingModel master = compiled_training(with(kBfloat16));
  TrainingModel pure = compiled_training(with(kPure));
  pure.state()->write_all(master.state()->read_all());
  const Tensor written = master.state()->read("bottleneck.weight");
  const Tensor kept = pure.state()->read("bottleneck.weight");
  for (std::size_t i = 0; i < kept.as<float>().size(); ++i) {
    ASSERT_EQ(kept.as<float>()[i], rounded(written.as<float>()[i], NumberFormat::bf16));
  }
}

/// An update smaller than half a step of bfloat16 is lost by pure weights and kept by master ones.
TEST(Precision, pure_loses_updates_that_master_weights_keep) {
  constexpr double kTinyRate = 1e-7;
  const std::string weight = "net_core.main_module.down_blocks.blocks.0.convolution_1.conv.weight";
  const auto moved = [&](const Precision& precision) {
    TrainingModel training = compiled_training(with(precision), compile::Adam{});
    const std::vector<std::byte> before = training.state()->read(weight).bytes;
    const Batch batch = small_batch("tiny");
    for (int i = 0; i < 20; ++i) {
      training(batch.image, batch.label, kTinyRate);
    }
    return training.state()->read(weight).bytes != before;
  };
  EXPECT_TRUE(moved(kBfloat16));
  EXPECT_FALSE(moved(kPure));
  EXPECT_TRUE(moved(kPureStochastic)) << "some of the updates should have been rounded up";
}

TEST(Precision, stochastic_rounding_depends_on_the_seed_and_on_the_run) {
  const auto losses = [](std::uint64_t seed) {
    Options options = with(kStochastic);
    options.seed = 1;
    TrainingModel weights = compiled_training(options);
    options.seed = seed;
    TrainingModel training = compiled_training(options);
    training.state()->write_all(weights.state()->read_all());
    const Batch batch = small_batch("same");
    // A learning rate of zero: only the rounding can change the loss.
    const double once = training(batch.image, batch.label, 0).loss;
    const double again = training(batch.image, batch.label, 0).loss;
    return std::pair(once, again);
  };
  const auto [first, second] = losses(1);
  EXPECT_NE(first, second) << "two runs rounded alike";
  EXPECT_NE(first, losses(2).first) << "two seeds rounded alike";
  EXPECT_EQ(first, losses(1).first);
}

TEST(Precision, answers_are_rounded_to_nearest_even_after_stochastic_training) {
  const Batch batch = small_batch("asked");
  InferenceModel nearest = compiled_inference(with(kBfloat16));
  InferenceModel stochastic = compiled_inference(with(kStochastic));
  const std::vector<float> expected(nearest(batch.image).begin(), nearest(batch.image).end());
  const std::span<const float> found = stochastic(batch.image);
  EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end()));
}

// --- what is refused ---

void expect_refused(const Precision& precision, const std::string& option,
                    const std::string& reason) {
  EXPECT_THAT([&] { compiled_training(with(precision)); },
              ThrowsMessage<UserError>(AllOf(HasSubstr(option), HasSubstr(reason))));
}

TEST(Precision, refuses_what_makes_no_sense_and_names_the_option) {
  expect_refused({.weights = Precision::Weights::pure}, "precision.weights", "float32 anyway");
  expect_refused({.rounding = Rounding::stochastic}, "precision.rounding", "nothing is rounded");
  expect_refused({.format = NumberFormat::f16, .weights = Precision::Weights::pure},
                 "precision.weights", "nothing would be learnt");
  expect_refused({.partials = NumberFormat::bf16}, "precision.partials", "no machine");
  expect_refused({.format = NumberFormat::bf16, .loss_scaling = kMixed.loss_scaling},
                 "precision.loss_scaling", "range of float32");
  expect_refused(
      {.format = NumberFormat::f16, .loss_scaling = {compile::LossScaling::Kind::dynamic, 0, 2000}},
      "precision.loss_scaling", "less than 1");
  expect_refused({.format = NumberFormat::bf16, .tf32 = true}, "precision.tf32", "narrower");
}

TEST(Precision, float16_gradients_need_less_memory_than_float32_ones) {
  EXPECT_LT(compiled_training(with(kMixed)).report().arena_bytes,
            compiled_training(with(kFloat16)).report().arena_bytes);
}

TEST(Precision, tf32_is_refused_with_the_reason_by_targets_that_have_none) {
  for (const std::string target : {"cpu", "ipu", "hpu", "rdu"}) {
    EXPECT_THAT([&] { compiled_training(with({.tf32 = true}, target)); },
                ThrowsMessage<TargetError>(AllOf(HasSubstr(target), HasSubstr("precision.tf32"),
                                                 HasSubstr("multiplies float32 numbers"))))
        << target;
  }
}

TEST(Precision, tf32_rounds_factors_of_products_and_nothing_else) {
  TrainingModel full = compiled_training(with(kFloat32, "reference"));
  TrainingModel rounded = compiled_training(with({.tf32 = true}, "reference"));
  const double expected = step(full, 0);
  const double found = step(rounded, 0);
  EXPECT_NE(found, expected);
  EXPECT_NEAR(found, expected, 0x1p-9 * expected);
}

TEST(Precision, half_partials_are_refused_by_a_target_that_adds_up_in_more) {
  EXPECT_THAT(
      [&] {
        compiled_training(with({.format = NumberFormat::f16, .partials = NumberFormat::f16}));
      },
      ThrowsMessage<TargetError>(AllOf(HasSubstr("cpu"), HasSubstr("precision.partials f16"),
                                       HasSubstr("accumulated in float32"))));
}

TEST(Precision, half_partials_are_refused_by_the_reference_where_factors_are_wider) {
  EXPECT_THAT([&] { compiled_training(with({.partials = NumberFormat::f16}, "reference")); },
              ThrowsMessage<TargetError>(
                  AllOf(HasSubstr("precision.partials f16"), HasSubstr("only products of f16"))));
}

}  // namespace
}  // namespace cosmic::session
