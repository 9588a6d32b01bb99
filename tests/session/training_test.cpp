// What a training model promises besides its numbers: accumulation, shared weights, passes that
// change nothing but the speed, an honest report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compile/pipeline.hpp"
#include "session/small_model.hpp"
#include "target/registry.hpp"

namespace cosmic::session {
namespace {

using testing::Contains;
using testing::ElementsAreArray;

constexpr double kRate = 1e-2;

Options with_outputs(Options options) {
  options.outputs = {.logits = true, .gradients = true};
  return options;
}

std::vector<std::string> parameters(const ModelState& state) {
  std::vector<std::string> names;
  for (const std::string& name : state.names()) {
    if (state.kind(name) == graph::StateKind::parameter) {
      names.push_back(name);
    }
  }
  return names;
}

double norm(std::span<const float> values) {
  double squares = 0;
  for (const float value : values) {
    squares += static_cast<double>(value) * value;
  }
  return std::sqrt(squares);
}

double distance(std::span<const float> a, std::span<const float> b) {
  std::vector<float> difference(a.begin(), a.end());
  for (std::size_t i = 0; i < difference.size(); ++i) {
    difference[i] -= b[i];
  }
  return norm(difference);
}

class TrainingOn : public testing::TestWithParam<std::string> {
 protected:
  static Options options() { return options_for(GetParam()); }
};

/// An update from two batches against the gradients of each, taken one by one.
void expect_accumulated(const Options& plain, Reduction reduction, double share) {
  Options accumulating = with_outputs(plain);
  accumulating.gradient_accumulation = 2;
  accumulating.accumulation_reduction = reduction;
  const Batch both = small_batch("both", 2);
  const std::size_t half = both.image.size() / 2;
  const std::span<const float> image = both.image;
  const std::span<const std::uint8_t> label = both.label;

  TrainingModel first = compiled_training(with_outputs(plain), compile::Sgd{});
  TrainingModel second = compiled_training(with_outputs(plain), compile::Sgd{});
  const StepResult& first_result = first(image.first(half), label.first(half), 0);
  const StepResult& second_result = second(image.last(half), label.last(half), 0);

  TrainingModel training = compiled_training(accumulating, compile::Sgd{});
  const NamedTensors before = training.state()->read_weights();
  const StepResult& result = training(image, label, kRate);
  EXPECT_NEAR(result.loss, (first_result.loss + second_result.loss) / 2, 1e-6 * result.loss);
  for (std::size_t i = 0; i < result.scores.size(); ++i) {
    EXPECT_NEAR(result.scores[i], (first_result.scores[i] + second_result.scores[i]) / 2, 1e-6);
  }
  EXPECT_THAT(result.logits, ElementsAreArray(second_result.logits));
  for (const std::string& name : parameters(*training.state())) {
    const std::span<const float> g1 = first.gradient(name);
    const std::span<const float> g2 = second.gradient(name);
    std::vector<float> expected(before.at(name).as<float>().begin(),
                                before.at(name).as<float>().end());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] -= static_cast<float>(kRate * share * (static_cast<double>(g1[i]) + g2[i]));
    }
    const Tensor after = training.state()->read(name);
    EXPECT_LE(distance(after.as<float>(), expected), 1e-6 * (norm(expected) + 1)) << name;
  }
}

TEST_P(TrainingOn, accumulation_by_sum_adds_the_gradients_of_its_batches) {
  expect_accumulated(options(), Reduction::sum, 1);
}

TEST_P(TrainingOn, accumulation_by_mean_averages_the_gradients_of_its_batches) {
  expect_accumulated(options(), Reduction::mean, 0.5);
}

TEST_P(TrainingOn, accumulation_starts_anew_after_each_update) {
  Options accumulating = options();
  accumulating.gradient_accumulation = 2;
  accumulating.accumulation_reduction = Reduction::mean;
  TrainingModel twice = compiled_training(accumulating, compile::Sgd{});
  TrainingModel once = compiled_training(options(), compile::Sgd{});
  const Batch batch = small_batch("first");
  Batch repeated = batch;
  repeated.image.insert(repeated.image.end(), batch.image.begin(), batch.image.end());
  repeated.label.insert(repeated.label.end(), batch.label.begin(), batch.label.end());
  for (int step = 0; step < 3; ++step) {
    const double expected = once(batch.image, batch.label, kRate).loss;
    EXPECT_NEAR(twice(repeated.image, repeated.label, kRate).loss, expected, 1e-5 * expected);
  }
}

TEST_P(TrainingOn, a_rate_of_zero_leaves_the_parameters_alone) {
  TrainingModel training = compiled_training(options(), compile::Sgd{});
  const NamedTensors before = training.state()->read_weights();
  const Batch batch = small_batch("first");
  training(batch.image, batch.label, 0);
  for (const std::string& name : parameters(*training.state())) {
    EXPECT_EQ(training.state()->read(name).bytes, before.at(name).bytes) << name;
  }
}

TEST_P(TrainingOn, loss_falls_on_a_batch_it_sees_again_and_again) {
  TrainingModel training = compiled_training(options(), compile::Adam{});
  const Batch batch = small_batch("first");
  const double first = training(batch.image, batch.label, kRate).loss;
  for (int step = 0; step < 10; ++step) {
    training(batch.image, batch.label, kRate);
  }
  EXPECT_LT(training(batch.image, batch.label, kRate).loss, 0.95 * first);
}

TEST_P(TrainingOn, an_inference_model_follows_the_weights_it_shares) {
  TrainingModel training = compiled_training(options());
  InferenceModel shared = compiled_inference(options(), training.state());
  const Batch batch = small_batch("first");
  const std::span<const float> logits = shared(batch.image);
  const std::vector<float> untrained(logits.begin(), logits.end());
  training(batch.image, batch.label, kRate);
  training(batch.image, batch.label, kRate);

  InferenceModel separate = compiled_inference(options());
  separate.state()->write_weights(training.state()->read_weights());
  const std::span<const float> expected = separate(batch.image);
  const std::span<const float> followed = shared(batch.image);
  EXPECT_LE(distance(followed, expected), 1e-6 * norm(expected));
  EXPECT_GT(distance(followed, untrained), 1e-3 * norm(expected));
}

TEST_P(TrainingOn, inference_leaves_the_shared_state_alone) {
  TrainingModel training = compiled_training(options());
  const NamedTensors before = training.state()->read_weights();
  InferenceModel inference = compiled_inference(options(), training.state());
  inference(small_batch("first").image);
  for (const auto& [name, tensor] : before) {
    EXPECT_EQ(training.state()->read(name).bytes, tensor.bytes) << name;
  }
}

std::vector<std::string> optional(const std::vector<compile::Pass>& passes) {
  std::vector<std::string> names;
  for (const compile::Pass& pass : passes) {
    if (pass.required == compile::Required::no) {
      names.push_back(pass.name);
    }
  }
  return names;
}

TEST_P(TrainingOn, leaving_out_an_optional_pass_changes_no_result) {
  TrainingModel complete = compiled_training(with_outputs(options()));
  const Batch batch = small_batch("first");
  const double loss = complete(batch.image, batch.label, kRate).loss;
  const compile::TargetInfo info = target::make_target(GetParam())->info();
  for (const std::string& pass : optional(training_passes(info, {compile::Sgd{}}, {}))) {
    SCOPED_TRACE(pass);
    Options without = with_outputs(options());
    without.disabled_passes = {pass};
    TrainingModel training = compiled_training(without);
    EXPECT_NEAR(training(batch.image, batch.label, kRate).loss, loss, 1e-5 * loss);
    double largest = 0;
    for (const std::string& name : parameters(*training.state())) {
      largest = std::max(largest, norm(complete.gradient(name)));
    }
    for (const std::string& name : parameters(*training.state())) {
      // Where a gradient is zero but for round-off, round-off is relative to the others.
      EXPECT_LE(distance(training.gradient(name), complete.gradient(name)),
                1e-4 * norm(complete.gradient(name)) + 1e-6 * largest)
          << name;
    }
  }
}

TEST_P(TrainingOn, leaving_out_an_optional_pass_changes_no_inference) {
  TrainingModel training = compiled_training(options());
  const Batch batch = small_batch("first");
  training(batch.image, batch.label, kRate);  // away from the initial running statistics
  InferenceModel complete = compiled_inference(options(), training.state());
  const std::span<const float> expected = complete(batch.image);
  const compile::TargetInfo info = target::make_target(GetParam())->info();
  for (const std::string& pass : optional(inference_passes(info))) {
    SCOPED_TRACE(pass);
    Options without = options();
    without.disabled_passes = {pass};
    InferenceModel inference = compiled_inference(without, training.state());
    EXPECT_LE(distance(inference(batch.image), expected), 1e-5 * norm(expected));
  }
}

TEST_P(TrainingOn, report_says_what_compiling_did) {
  const TrainingModel training = compiled_training(options());
  const CompileReport& report = training.report();
  EXPECT_GT(report.seconds, 0);
  EXPECT_LT(report.seconds, 10);
  EXPECT_GT(report.nodes, 100U);
  EXPECT_GE(report.arena_bytes, report.peak_live_bytes);
  EXPECT_GT(report.peak_live_bytes, 0);
  EXPECT_GE(report.memory_bytes, report.arena_bytes);
  EXPECT_GT(report.flops, 1e6);
  std::vector<std::string> names;
  for (const compile::PassReport& pass : report.passes) {
    names.push_back(pass.name);
    EXPECT_GE(pass.seconds, 0) << pass.name;
    EXPECT_GT(pass.nodes, 0U) << pass.name;
  }
  EXPECT_THAT(names, Contains("differentiate"));
  EXPECT_THAT(names, Contains("drop-dead-nodes"));
}

TEST_P(TrainingOn, progress_rises_to_one_and_every_pass_is_shown) {
  Options observed = options();
  std::vector<double> shares;
  std::vector<std::string> shown;
  observed.progress = [&](double done, const std::string& what) {
    EXPECT_NE(what, "");
    shares.push_back(done);
  };
  observed.dump = [&](const std::string& pass, const graph::Graph& program) {
    EXPECT_GT(program.size(), 0U);
    shown.push_back(pass);
  };
  const TrainingModel training = compiled_training(observed);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.back(), 1);
  std::vector<std::string> passes;
  for (const compile::PassReport& pass : training.report().passes) {
    passes.push_back(pass.name);
  }
  EXPECT_EQ(shown, passes);
}

INSTANTIATE_TEST_SUITE_P(Targets, TrainingOn, testing::Values("cpu", "reference"),
                         [](const auto& instance) { return instance.param; });

// The reference normalizes each plane by its own statistics in training and by the mixed ones of
// all in inference; planes that differ are then tagged otherwise than they were learnt.
TEST(PlaneStatistics, only_shared_ones_let_inference_see_what_training_saw) {
  Batch batch = small_batch("first");
  const auto pixels = batch.image.size() / 6;  // of a plane of one of the two events
  for (std::size_t i = 0; i < batch.image.size(); ++i) {
    batch.image[i] *= static_cast<float>(1 + i / pixels % 3);
  }
  const auto gap = [&](model::PlaneStatistics statistics) {
    model::UResNetOptions network = small_network();
    network.plane_statistics = statistics;
    TrainingModel training =
        compiled_training(with_outputs(options_for("cpu")), compile::Sgd{}, network);
    constexpr int kUntilRunningStatisticsForgetTheirStart = 80;
    for (int step = 1; step < kUntilRunningStatisticsForgetTheirStart; ++step) {
      training(batch.image, batch.label, 0);
    }
    const auto seen = training(batch.image, batch.label, 0);
    InferenceModel inference = compiled_inference(options_for("cpu"), training.state(), network);
    return distance(inference(batch.image), seen.logits) / norm(seen.logits);
  };
  // Not zero, because running variances are the unbiased ones.
  const double shared = gap(model::PlaneStatistics::shared);
  EXPECT_LT(shared, 0.05);
  EXPECT_GT(gap(model::PlaneStatistics::own), 5 * shared);
}

TEST(TrainingCost, dropping_dead_nodes_makes_the_program_smaller) {
  Options everything = options_for("cpu");
  everything.disabled_passes = {"drop-dead-nodes"};
  EXPECT_LT(compiled_training(options_for("cpu")).report().nodes,
            compiled_training(everything).report().nodes);
}

TEST(TrainingCost, recomputing_instead_of_storing_needs_less_memory) {
  Options storing = options_for("cpu");
  storing.disabled_passes = {"choose-stored-values"};
  EXPECT_LT(compiled_training(options_for("cpu")).report().arena_bytes,
            compiled_training(storing).report().arena_bytes);
}

}  // namespace
}  // namespace cosmic::session
