// Options as text and back, and every combination that makes no sense with its reason.
#include "session/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/error.hpp"
#include "scratch_folder.hpp"
#include "session/options_file.hpp"

namespace cosmic::session {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

template <class Change>
void expect_refused(Purpose purpose, const Change& change, const std::vector<std::string>& says) {
  Options options;
  change(options);
  try {
    validate(options, purpose);
    ADD_FAILURE() << "not refused:\n" << to_yaml(options);
  } catch (const UserError& error) {
    for (const std::string& part : says) {
      EXPECT_THAT(error.what(), HasSubstr(part));
    }
  }
}

TEST(Options, defaults_are_valid_for_every_purpose) {
  EXPECT_NO_THROW(validate({}, Purpose::training));
  EXPECT_NO_THROW(validate({}, Purpose::inference));
}

TEST(Options, repeats_start_at_one_and_are_named_with_their_value) {
  const auto training = Purpose::training;
  expect_refused(training, [](Options& o) { o.device_iterations = 0; },
                 {"device_iterations is 0", "use 1"});
  expect_refused(training, [](Options& o) { o.replication_factor = -3; },
                 {"replication_factor is -3", "use 1"});
  expect_refused(training, [](Options& o) { o.gradient_accumulation = 0; },
                 {"gradient_accumulation is 0", "use 1"});
  expect_refused(training, [](Options& o) { o.device_iterations = 1'000'000'000; },
                 {"device_iterations is 1000000000", "at most"});
  expect_refused(training, [](Options& o) { o.threads = -1; }, {"threads is -1", "use 0"});
}

TEST(Options, inference_accumulates_no_gradients) {
  expect_refused(Purpose::inference, [](Options& o) { o.gradient_accumulation = 4; },
                 {"gradient_accumulation is 4 for inference", "no gradients", "device_iterations"});
  expect_refused(Purpose::inference, [](Options& o) { o.outputs.gradients = true; },
                 {"output_gradients"});
}

TEST(Options, recomputation_is_chosen_or_named_and_rounds_to_nearest) {
  Options options;
  options.recompute = true;
  EXPECT_NO_THROW(validate(options, Purpose::training));
  EXPECT_THROW(validate(options, Purpose::inference), UserError);
  options.precision.format = NumberFormat::bf16;
  options.precision.rounding = Rounding::stochastic;
  EXPECT_THAT([&] { validate(options, Purpose::training); },
              ThrowsMessage<UserError>(HasSubstr("stochastic rounding")));
  options.precision.rounding = Rounding::nearest;
  options.recomputation_checkpoints = {"encoder"};
  EXPECT_THAT([&] { validate(options, Purpose::training); },
              ThrowsMessage<UserError>(HasSubstr("leave one out")));
}

TEST(Options, inference_recomputes_nothing_and_has_no_optimizer) {
  expect_refused(Purpose::inference, [](Options& o) { o.recomputation_checkpoints = {"encoder"}; },
                 {"recomputation_checkpoints names 'encoder'", "no backward pass"});
  expect_refused(Purpose::inference, [](Options& o) { o.variable_optimizer = true; },
                 {"no optimizer"});
}

TEST(Options, every_n_counts_the_results_of_a_call) {
  const auto every = [](std::int64_t n) {
    return [n](Options& o) {
      o.device_iterations = 2;
      o.gradient_accumulation = 3;
      o.output_mode = OutputMode::every_n;
      o.output_every = n;
    };
  };
  for (const std::int64_t n : {1, 2, 3, 6}) {
    Options options;
    every(n)(options);
    EXPECT_NO_THROW(validate(options, Purpose::training)) << n;
  }
  expect_refused(Purpose::training, every(7), {"output_every is 7", "6 results", "use 6"});
  expect_refused(Purpose::training, every(4), {"output_every is 4", "does not divide the 6"});
  expect_refused(Purpose::training, every(0), {"output_every is 0", "use 1"});
}

TEST(Options, a_period_without_every_n_is_refused) {
  expect_refused(Purpose::training,
                 [](Options& o) {
                   o.output_mode = OutputMode::last;
                   o.output_every = 2;
                 },
                 {"output_every is 2", "output_mode 'final'", "every_n"});
}

TEST(Options, a_training_pipeline_needs_a_micro_batch_for_every_stage_there_and_back) {
  const auto pipeline = [](std::int64_t accumulation) {
    return [accumulation](Options& o) {
      o.execution_strategy = ExecutionStrategy::pipelined;
      o.stages.automatic = 3;
      o.gradient_accumulation = accumulation;
    };
  };
  expect_refused(Purpose::training, pipeline(4),
                 {"3 stages", "5 with the backward pass", "gradient_accumulation is 4"});
  Options enough;
  pipeline(5)(enough);
  EXPECT_NO_THROW(validate(enough, Purpose::training));
}

TEST(Options, an_inference_pipeline_needs_an_iteration_for_every_stage) {
  expect_refused(Purpose::inference,
                 [](Options& o) {
                   o.execution_strategy = ExecutionStrategy::pipelined;
                   o.stages.automatic = 3;
                   o.device_iterations = 2;
                 },
                 {"3 stages", "device_iterations is 2", "never fill"});
}

TEST(Options, stages_and_strategy_belong_together) {
  expect_refused(Purpose::training,
                 [](Options& o) {
                   o.stages.blocks = {{"a"}, {"b"}};
                 },
                 {"2 stages", "execution_strategy is none", "no effect"});
  expect_refused(Purpose::training,
                 [](Options& o) { o.execution_strategy = ExecutionStrategy::sharded; },
                 {"sharded with 0 stages"});
  expect_refused(Purpose::training,
                 [](Options& o) {
                   o.execution_strategy = ExecutionStrategy::sharded;
                   o.stages = {{{"a"}, {"b"}}, 2};
                 },
                 {"automatic_stages", "leave one out"});
  expect_refused(Purpose::training,
                 [](Options& o) {
                   o.execution_strategy = ExecutionStrategy::sharded;
                   o.stages.blocks = {{"a"}, {}};
                 },
                 {"stage 1", "names no block"});
  expect_refused(Purpose::training,
                 [](Options& o) {
                   o.execution_strategy = ExecutionStrategy::sharded;
                   o.stages.blocks = {{"a"}, {"b", "a"}};
                 },
                 {"block 'a' is in stages 0 and 1"});
  expect_refused(Purpose::training, [](Options& o) { o.stages.automatic = -2; },
                 {"automatic_stages is -2"});
}

TEST(Options, what_never_runs_needs_no_data) {
  expect_refused(Purpose::training,
                 [](Options& o) {
                   o.offline_compile = true;
                   o.synthetic_data = true;
                 },
                 {"offline_compile", "synthetic_data", "choose one"});
}

TEST(Options, what_is_computed_again_must_be_rounded_alike) {
  Options options;
  options.recomputation_checkpoints = {"down"};
  options.precision = {.format = NumberFormat::bf16, .rounding = Rounding::stochastic};
  EXPECT_THAT([&] { validate(options, Purpose::training); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("recomputation_checkpoints names 'down'"),
                                             HasSubstr("stochastic rounding"))));
  options.precision.rounding = Rounding::nearest;
  EXPECT_NO_THROW(validate(options, Purpose::training));
}

TEST(Options, those_of_training_can_be_turned_into_those_of_inference) {
  Options training;
  training.gradient_accumulation = 5;
  training.recomputation_checkpoints = {"encoder"};
  training.variable_optimizer = true;
  training.outputs.gradients = true;
  training.execution_strategy = ExecutionStrategy::pipelined;
  training.stages.automatic = 3;
  training.seed = 7;
  const Options inference = without_training(training);
  EXPECT_NO_THROW(validate(inference, Purpose::inference));
  EXPECT_EQ(inference.seed, 7U);
}

Options unusual() {
  Options options;
  options.target = "rdu";
  options.machine = "sn10";
  options.device = 5;
  options.launching = machine::Launching::per_op;
  options.recompute = true;
  options.sections = {{"encoder", "decoder"}, {"head"}};
  options.threads = 3;
  options.seed = 18'000'000'000'000'000'000U;
  options.device_iterations = 2;
  options.replication_factor = 4;
  options.replica_reduction = Reduction::sum;
  options.exchange_format = NumberFormat::bf16;
  options.replica_statistics = ReplicaStatistics::first;
  options.exchange = comm::Exchange::host;
  options.gradient_accumulation = 8;
  options.accumulation_reduction = Reduction::mean;
  options.output_mode = OutputMode::every_n;
  options.output_every = 16;
  options.outputs = {.logits = true, .gradients = true};
  options.precision = {NumberFormat::bf16,
                       compile::Precision::Weights::pure,
                       Rounding::stochastic,
                       0,
                       NumberFormat::f16,
                       {compile::LossScaling::Kind::dynamic, 1024, 100},
                       true};
  options.anchors = {"a \"quoted\" name", "b"};
  options.execution_strategy = ExecutionStrategy::sharded;
  options.stages.blocks = {{"a", "b"}, {"c"}};
  options.recomputation_checkpoints = {"c"};
  options.variable_optimizer = true;
  options.weights_average = 0.999;
  options.averaged_weights = true;
  options.synthetic_data = true;
  options.offline_compile = true;
  options.disabled_passes = {"drop-dead-nodes"};
  options.executable = "step.cosmic";
  options.executable_cache = "cache";
  options.executable_cache_bytes = 1000;
  return options;
}

TEST(OptionsFile, reads_back_what_it_wrote) {
  for (const Options& options : {Options(), unusual()}) {
    const std::string text = to_yaml(options);
    EXPECT_EQ(to_yaml(options_from_yaml(text, "saved.yaml")), text);
  }
  EXPECT_NE(to_yaml(unusual()), to_yaml({}));
}

/// An option that is written but not read, or read into another's place, would show here.
TEST(OptionsFile, every_line_of_unusual_options_differs_from_the_default) {
  std::istringstream plain(to_yaml({}));
  std::istringstream changed(to_yaml(unusual()));
  std::string one;
  std::string other;
  while (std::getline(plain, one) && std::getline(changed, other)) {
    if (!one.starts_with("automatic_stages")) {  // excludes stages that are named
      EXPECT_NE(one, other);
    }
  }
}

TEST(OptionsFile, what_is_not_mentioned_keeps_its_default) {
  Options expected;
  expected.device_iterations = 10;
  expected.stages.blocks = {{"down"}, {"up"}};
  const Options read =
      options_from_yaml("device_iterations: 10\nstages: [[down], [up]]\n", "mine.yaml");
  EXPECT_EQ(to_yaml(read), to_yaml(expected));
  EXPECT_EQ(to_yaml(options_from_yaml("", "empty.yaml")), to_yaml({}));
}

struct BadFile {
  const char* name;
  const char* text;
  int line;
  const char* says;
};

class BadOptionsFile : public testing::TestWithParam<BadFile> {};

TEST_P(BadOptionsFile, stops_with_file_line_and_reason) {
  const std::string start = "mine.yaml:" + std::to_string(GetParam().line) + ": ";
  EXPECT_THAT([] { options_from_yaml(GetParam().text, "mine.yaml"); },
              ThrowsMessage<UserError>(AllOf(StartsWith(start), HasSubstr(GetParam().says))));
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadOptionsFile,
    testing::Values(BadFile{"unknown_key", "seed: 1\ndevice_itertions: 4\n", 2,
                            "did you mean 'device_iterations'?"},
                    BadFile{"twice", "seed: 1\nseed: 2\n", 2, "'seed' is given twice"},
                    BadFile{"no_number", "threads: many\n", 1, "threads: is 'many'"},
                    BadFile{"half_a_number", "threads: 2.5\n", 1, "whole number"},
                    BadFile{"too_large", "threads: 99999999999\n", 1, "within range"},
                    BadFile{"no_truth", "synthetic_data: perhaps\n", 1, "true or false"},
                    BadFile{"no_choice", "output_mode: finale\n", 1, "did you mean 'final'?"},
                    BadFile{"list_for_a_number", "threads: [1, 2]\n", 1, "a single value"},
                    BadFile{"word_for_a_list", "anchors: conv1\n", 1, "not a list"},
                    BadFile{"list_of_options", "- threads\n", 1, "name: value"}),
    [](const testing::TestParamInfo<BadFile>& bad) { return bad.param.name; });

TEST(OptionsFile, is_loaded_from_disk_and_named_where_it_is_missing) {
  const ScratchFolder folder("options_file");
  const std::filesystem::path path = folder / "run.yaml";
  std::ofstream(path) << "replication_factor: 2\n";
  EXPECT_EQ(load_options(path).replication_factor, 2);
  EXPECT_THAT([&] { load_options(folder / "none.yaml"); },
              ThrowsMessage<UserError>(HasSubstr("none.yaml")));
}

TEST(OptionsFile, every_option_is_in_the_manual) {
  std::ifstream file("docs/session.md");
  const std::string manual{std::istreambuf_iterator<char>(file), {}};
  for (const std::string_view name : option_names()) {
    EXPECT_THAT(manual, HasSubstr("`" + std::string(name) + "`"));
  }
}

}  // namespace
}  // namespace cosmic::session
