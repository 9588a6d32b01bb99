// Processes that train together do what one process does with as many replicas, bit for bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compile/passes/passes.hpp"
#include "core/error.hpp"
#include "session/call_shape.hpp"
#include "session/popdist_options.hpp"
#include "session/trained_together.hpp"

namespace cosmic::session {
namespace {

class ProcessesOn : public testing::TestWithParam<int> {};

TEST_P(ProcessesOn, one_batch_each_are_as_many_replicas_of_one_process_bit_for_bit) {
  expect_same_bits(GetParam(), options_for("cpu", 1), compile::Adam{});
}

INSTANTIATE_TEST_SUITE_P(Count, ProcessesOn, testing::Values(2, 3, 4),
                         testing::PrintToStringParamName());

TEST(Processes, are_replicas_bit_for_bit_with_every_optimizer) {
  expect_same_bits(2, options_for("cpu", 1), compile::Sgd{0.9});
  expect_same_bits(2, options_for("cpu", 1), compile::Rmsprop{});
}

TEST(Processes, keep_the_statistics_that_replicas_keep) {
  Options options = options_for("cpu", 1);
  for (const ReplicaStatistics kind : {ReplicaStatistics::mean, ReplicaStatistics::first}) {
    options.replica_statistics = kind;
    expect_same_bits(3, options, compile::Sgd{0});
  }
}

TEST(Processes, add_up_gradients_or_average_them_as_replicas_do) {
  Options options = options_for("cpu", 1);
  options.replica_reduction = Reduction::sum;
  expect_same_bits(2, options, compile::Sgd{0});
}

TEST(Processes, make_several_updates_in_a_call_as_replicas_do) {
  Options options = options_for("cpu", 1);
  options.device_iterations = 2;
  expect_same_bits(2, options, compile::Adam{});
}

TEST(Processes, exchange_narrow_and_scaled_gradients_as_replicas_do) {
  Options options = options_for("cpu", 1);
  options.precision.format = NumberFormat::bf16;
  expect_same_bits(2, options, compile::Adam{});
  options.precision.format = NumberFormat::f16;
  options.precision.loss_scaling.kind = compile::LossScaling::Kind::dynamic;
  expect_same_bits(2, options, compile::Adam{});
}

TEST(Processes, accumulate_gradients_as_replicas_do) {
  Options options = options_for("cpu", 1);
  options.gradient_accumulation = 3;
  expect_same_bits(2, options, compile::Adam{});
}

TEST(Processes, round_gradients_that_travel_as_bfloat16_as_replicas_do) {
  Options options = options_for("cpu", 1);
  options.exchange_format = NumberFormat::bf16;
  for (const int processes : {2, 3}) {
    expect_same_bits(processes, options, compile::Adam{});
  }
  const Trained narrow = trained_together(2, options, compile::Sgd{0.9}).front();
  options.exchange_format = NumberFormat::f32;
  EXPECT_NE(narrow, trained_together(2, options, compile::Sgd{0.9}).front());
}

TEST(Processes, round_sums_of_accumulated_gradients_that_travel_as_replicas_do) {
  Options options = options_for("cpu", 1);
  options.exchange_format = NumberFormat::bf16;
  options.gradient_accumulation = 3;
  expect_same_bits(2, options, compile::Adam{});
  options.precision.format = NumberFormat::f16;
  options.precision.loss_scaling.kind = compile::LossScaling::Kind::dynamic;
  expect_same_bits(2, options, compile::Adam{});
}

TEST(Processes, have_gradients_that_are_numbers_of_the_format_in_which_they_travel) {
  comm::ThreadsTogether(3).run([](comm::Communicator& communicator) {
    Options options = options_for("cpu", 1);
    options.exchange_format = NumberFormat::bf16;
    options.outputs.gradients = true;
    options.communicator = &communicator;
    TrainingModel training =
        compiled_training(options, compile::Sgd{}, small_network(), tiny_types());
    const Batch batch = small_batch("some", 1, tiny_types());
    training(batch.image, batch.label, 1e-3);
    double largest = 0;
    for (const float number : training.gradient("initial_convolution.conv.weight")) {
      EXPECT_EQ(number, rounded(number, NumberFormat::bf16));
      largest = std::max(largest, std::abs(static_cast<double>(number)));
    }
    EXPECT_GT(largest, 0);
  });
}

TEST(Processes, do_not_let_gradients_travel_as_float16) {
  Options options = options_for("cpu", 1);
  options.exchange_format = NumberFormat::f16;
  EXPECT_THAT([&] { compiled_training(options, compile::Sgd{}, small_network(), tiny_types()); },
              testing::ThrowsMessage<UserError>(
                  testing::AllOf(testing::HasSubstr("exchange_precision is float16"),
                                 testing::HasSubstr("smaller than its smallest number"),
                                 testing::HasSubstr("use bfloat16"))));
}

TEST(PopdistOptions, have_the_replicas_of_the_instance_and_the_seed_of_all) {
  Options given;
  given.seed = 7;
  given.threads = 3;
  const Options alone = popdist_options(given, [](const char*) { return nullptr; });
  EXPECT_EQ(alone.replication_factor, 1);
  EXPECT_EQ(alone.seed, 7U);
  const Options instance = popdist_options(given, [](const char* name) -> const char* {
    return std::string(name) == "POPDIST_NUM_TOTAL_REPLICAS"   ? "8"
           : std::string(name) == "POPDIST_NUM_LOCAL_REPLICAS" ? "2"
                                                               : nullptr;
  });
  EXPECT_EQ(instance.replication_factor, 2);
  EXPECT_EQ(instance.seed, 42U);
  EXPECT_EQ(instance.threads, 3);
}

TEST(Processes, on_a_modelled_machine_compute_what_the_hosts_compute) {
  expect_same_bits(2, options_for("ipu", 1), compile::Adam{});
}

TEST(Processes, with_replicas_and_accumulation_all_have_the_same_state_which_is_that_of_one) {
  Options options = options_for("cpu", 1);
  options.gradient_accumulation = 2;
  options.replication_factor = 2;
  const std::vector<Trained> results = trained_together(2, options, compile::Sgd{0});
  EXPECT_EQ(results[1], results[0]);
  Options alone = options;
  alone.replication_factor = 4;
  const Trained expected = trained(alone, compile::Sgd{0});
  // Sums of sums round differently than one long sum.
  for (const auto& [name, bytes] : expected.state) {
    const auto* const a = reinterpret_cast<const float*>(bytes.data());
    const auto* const b = reinterpret_cast<const float*>(results[0].state.at(name).data());
    for (std::size_t i = 0; i < bytes.size() / sizeof(float); ++i) {
      EXPECT_NEAR(a[i], b[i], 1e-5 * (1 + std::abs(a[i]))) << name;
    }
  }
  EXPECT_EQ(results[0].losses[0], expected.losses[0]);
}

TEST(Processes, of_which_one_lost_its_loss_all_leave_their_state_and_know_whose_it_was) {
  expect_lost_everywhere(options_for("cpu", 1), 0);
  expect_lost_everywhere(options_for("cpu", 1), 2);
}

TEST(Processes, that_accumulate_leave_their_state_too_where_one_lost_its_loss) {
  Options options = options_for("cpu", 1);
  options.gradient_accumulation = 2;
  expect_lost_everywhere(options, 1);
}

TEST(Processes, evaluate_what_one_process_evaluates_with_as_many_replicas) {
  const model::UResNet network(small_network());
  const model::SegmentationLoss loss(model::BalanceScheme::light);
  const Batch all = small_batch("evaluated", 2, tiny_types());
  Options options = options_for("cpu", 1);
  options.replication_factor = 2;
  EvaluationModel alone(
      network, loss, options,
      compiled_training(options_for("cpu", 1), compile::Sgd{}, small_network(), tiny_types())
          .state());
  alone.compile(tiny_types());
  const StepResult& expected = alone(all.image, all.label);
  comm::ThreadsTogether(2).run([&](comm::Communicator& communicator) {
    Options own = options_for("cpu", 1);
    own.communicator = &communicator;
    EvaluationModel one(
        network, loss, own,
        compiled_training(options_for("cpu", 1), compile::Sgd{}, small_network(), tiny_types())
            .state());
    one.compile(tiny_types());
    const auto image = micro_batch(std::span<const float>(all.image), communicator.rank(), 2);
    const auto label =
        micro_batch(std::span<const std::uint8_t>(all.label), communicator.rank(), 2);
    const StepResult& result = one(image, label);
    EXPECT_EQ(result.loss, expected.loss);
    EXPECT_THAT(result.scores, testing::ElementsAreArray(expected.scores));
  });
}

}  // namespace
}  // namespace cosmic::session
