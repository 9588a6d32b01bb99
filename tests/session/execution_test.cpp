// Stages and recomputation change where and when something is computed, and never what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "core/error.hpp"
#include "session/small_model.hpp"

namespace cosmic::session {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double kRate = 1e-2;

/// Loss and state after two steps, bit for bit.
std::pair<std::vector<double>, NamedTensors> trained(TrainingModel& training,
                                                     const BatchTypes& types) {
  std::vector<double> losses;
  for (const char* stream : {"first", "second"}) {
    const Batch batch = small_batch(stream, 1, types);
    losses.push_back(training(batch.image, batch.label, kRate).loss);
  }
  return {losses, training.state()->read_all()};
}

void expect_same_training(TrainingModel& a, TrainingModel& b, const BatchTypes& types) {
  const auto [losses_a, state_a] = trained(a, types);
  const auto [losses_b, state_b] = trained(b, types);
  EXPECT_EQ(losses_a, losses_b);
  for (const auto& [name, tensor] : state_a) {
    EXPECT_EQ(tensor.bytes, state_b.at(name).bytes) << name;
  }
}

/// Deep enough that there is something between checkpoints.
model::UResNetOptions deep_network() {
  model::UResNetOptions network = small_network();
  network.blocks_per_layer = 3;
  network.blocks_final = 3;
  network.connections = model::Connections::sum;
  return network;
}

const std::vector<std::string> kCheckpoints{"initial_convolution", "net_core.down_blocks",
                                            "net_core.main_module", "net_core.up_blocks"};

class RecomputationOn : public testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  static Options options() { return options_for(std::get<0>(GetParam()), std::get<1>(GetParam())); }
};

TEST_P(RecomputationOn, gives_the_same_bits) {
  for (const bool residual : {true, false}) {
    model::UResNetOptions network = deep_network();
    network.residual = residual;
    Options recomputing = options();
    recomputing.recomputation_checkpoints = kCheckpoints;
    const BatchTypes& types = options().target == "cpu" ? small_types() : tiny_types();
    TrainingModel plain = compiled_training(options(), compile::Adam{}, network, types);
    TrainingModel again = compiled_training(recomputing, compile::Adam{}, network, types);
    expect_same_training(again, plain, types);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RecomputationOn,
                         testing::Values(std::tuple("cpu", 1), std::tuple("cpu", 2),
                                         std::tuple("reference", 1)),
                         [](const auto& instance) {
                           return std::get<0>(instance.param) + "_" +
                                  std::to_string(std::get<1>(instance.param));
                         });

TEST(Recomputation, needs_less_memory_and_more_arithmetic) {
  Options recomputing = options_for("cpu");
  recomputing.recomputation_checkpoints = kCheckpoints;
  const TrainingModel plain = compiled_training(options_for("cpu"), compile::Sgd{}, deep_network());
  const TrainingModel again = compiled_training(recomputing, compile::Sgd{}, deep_network());
  EXPECT_LT(again.report().arena_bytes, 0.8 * static_cast<double>(plain.report().arena_bytes));
  EXPECT_LT(again.report().memory_bytes, plain.report().memory_bytes);
  EXPECT_GT(again.report().flops, plain.report().flops);
  EXPECT_LT(again.report().flops, 1.5 * plain.report().flops);
}

TEST(Recomputation, works_with_accumulation_gradients_and_anchors) {
  Options plain = options_for("cpu");
  plain.gradient_accumulation = 2;
  plain.outputs = {.logits = true, .gradients = true};
  plain.anchors = {"net_core.up_blocks"};
  Options recomputing = plain;
  recomputing.recomputation_checkpoints = kCheckpoints;
  TrainingModel a = compiled_training(plain, compile::Sgd{}, deep_network());
  TrainingModel b = compiled_training(recomputing, compile::Sgd{}, deep_network());
  const Batch batch = small_batch("two", 2);
  EXPECT_EQ(a(batch.image, batch.label, kRate).loss, b(batch.image, batch.label, kRate).loss);
  EXPECT_THAT(a.gradient("bottleneck.weight"),
              testing::ElementsAreArray(b.gradient("bottleneck.weight")));
  EXPECT_THAT(a.anchored("net_core.up_blocks"),
              testing::ElementsAreArray(b.anchored("net_core.up_blocks")));
}

TEST(Recomputation, a_misspelt_checkpoint_is_answered_with_the_nearest) {
  Options options = options_for("cpu");
  options.recomputation_checkpoints = {"net_core.down_bloks"};
  EXPECT_THAT([&] { compiled_training(options); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("recomputation_checkpoints"),
                                             HasSubstr("did you mean 'net_core.down_blocks'"))));
}

Options spread(ExecutionStrategy strategy, Stages stages) {
  Options options = options_for("cpu");
  options.execution_strategy = strategy;
  options.stages = std::move(stages);
  return options;
}

TEST(Stages, those_of_named_blocks_take_what_follows_them) {
  Options options =
      spread(ExecutionStrategy::sharded, {{{"initial_convolution"}, {"net_core"}, {"bottleneck"}}});
  options.gradient_accumulation = 2;  // with an update that is a program of its own
  const TrainingModel training = compiled_training(options);
  const std::vector<compile::StageReport>& stages = training.report().stages;
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_THAT(stages[0].layers, Contains("initial_convolution.conv"));
  EXPECT_THAT(stages[1].layers, Contains("net_core.down_blocks.blocks.0.convolution_1.conv"));
  EXPECT_THAT(stages[1].layers, Contains("final_layer.blocks.0.convolution_1.conv"));
  EXPECT_THAT(stages[2].layers, Contains("bottleneck"));
  EXPECT_THAT(stages[2].layers, Contains("loss"));
  double flops = 0;
  std::int64_t state = 0;
  for (const compile::StageReport& stage : stages) {
    EXPECT_GT(stage.cost.flops, 0);
    EXPECT_GT(stage.state_bytes, 0);
    flops += stage.cost.flops;
    state += stage.state_bytes;
  }
  EXPECT_NEAR(flops, training.report().flops, 1e-6 * flops);
  std::int64_t all_states = 0;
  for (const std::string& name : training.state()->names()) {
    all_states += training.state()->type(name).bytes();
  }
  EXPECT_EQ(state, all_states);
}

TEST(Stages, automatic_ones_cost_about_the_same) {
  const TrainingModel training = compiled_training(spread(ExecutionStrategy::sharded, {{}, 3}),
                                                   compile::Sgd{}, deep_network());
  const std::vector<compile::StageReport>& stages = training.report().stages;
  ASSERT_EQ(stages.size(), 3U);
  for (const compile::StageReport& stage : stages) {
    EXPECT_GT(stage.cost.flops, 0.15 * training.report().flops);
    EXPECT_LT(stage.cost.flops, 0.55 * training.report().flops);
  }
}

TEST(Stages, change_no_bit) {
  Options pipelined = spread(ExecutionStrategy::pipelined, {{}, 2});
  pipelined.gradient_accumulation = 3;
  Options plain = options_for("cpu");
  plain.gradient_accumulation = 3;
  TrainingModel a = compiled_training(pipelined);
  TrainingModel b = compiled_training(plain);
  const Batch batch = small_batch("three", 3);
  EXPECT_EQ(a(batch.image, batch.label, kRate).loss, b(batch.image, batch.label, kRate).loss);
  for (const std::string& name : a.state()->names()) {
    EXPECT_EQ(a.state()->read(name).bytes, b.state()->read(name).bytes) << name;
  }
}

TEST(Stages, a_pipeline_that_would_go_back_is_refused) {
  Options options = spread(ExecutionStrategy::pipelined,
                           {{{"net_core.main_module"}, {"initial_convolution", "net_core"}}});
  options.gradient_accumulation = 3;
  EXPECT_THAT([&] { compiled_training(options); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("of stage 0 reads"), HasSubstr("of stage 1"),
                                             HasSubstr("runs one way"))));
  options.execution_strategy = ExecutionStrategy::sharded;
  EXPECT_NO_THROW(compiled_training(options));
}

TEST(Stages, a_block_that_is_none_and_a_stage_without_work_are_refused) {
  EXPECT_THAT(
      [] {
        compiled_training(spread(ExecutionStrategy::sharded, {{{"net_cor"}, {"loss"}}}));
      },
      ThrowsMessage<UserError>(
          AllOf(HasSubstr("stages names 'net_cor'"), HasSubstr("did you mean 'net_core'"))));
  EXPECT_THAT(
      [] {
        compiled_training(spread(ExecutionStrategy::sharded, {{}, 100'000}));
      },
      ThrowsMessage<UserError>(AllOf(HasSubstr("automatic_stages is 100000"), HasSubstr("only"))));
}

}  // namespace
}  // namespace cosmic::session
