// The life of a model around its calls: compiled for later, detached and attached again, with other
// constants of its optimizer, with a look inside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "session/small_model.hpp"

namespace cosmic::session {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double kRate = 1e-2;

std::vector<float> copy(std::span<const float> values) {
  return {values.begin(), values.end()};
}

double distance(const ModelState& a, const ModelState& b) {
  double most = 0;
  for (const std::string& name : a.names()) {
    if (a.type(name).dtype == graph::DType::f32) {
      const Tensor of_a = a.read(name);
      const Tensor of_b = b.read(name);
      for (std::size_t i = 0; i < of_a.as<float>().size(); ++i) {
        most = std::max<double>(most, std::abs(of_a.as<float>()[i] - of_b.as<float>()[i]));
      }
    }
  }
  return most;
}

TEST(OfflineCompile, reports_what_it_planned_and_runs_nothing) {
  Options offline = options_for("cpu");
  offline.offline_compile = true;
  TrainingModel training = compiled_training(offline);
  const CompileReport& report = training.report();
  EXPECT_EQ(report.nodes, compiled_training(options_for("cpu")).report().nodes);
  EXPECT_GT(report.arena_bytes, 0);
  EXPECT_FALSE(training.attached());
  const Batch batch = small_batch("first");
  const auto says_so = ThrowsMessage<UserError>(
      AllOf(HasSubstr("offline_compile is true"), HasSubstr("without that option")));
  EXPECT_THAT([&] { training(batch.image, batch.label, kRate); }, says_so);
  EXPECT_THAT([&] { training.attach(); }, says_so);
  EXPECT_THAT([&] { training.state(); }, says_so);
  InferenceModel inference = compiled_inference(offline);
  EXPECT_THAT([&] { inference(batch.image); }, says_so);
}

TEST(CompiledModel, answers_the_same_questions_whatever_it_was_compiled_for) {
  TrainingModel training = compiled_training(options_for("cpu"));
  InferenceModel inference = compiled_inference(options_for("cpu"), training.state());
  const model::UResNet network(small_network());
  const model::SegmentationLoss loss(model::BalanceScheme::light);
  EvaluationModel evaluation(network, loss, options_for("cpu"), training.state());
  evaluation.compile(small_types());
  const Batch batch = small_batch("first");
  training(batch.image, batch.label, kRate);
  inference(batch.image);
  evaluation(batch.image, batch.label);
  for (CompiledModel* const model :
       std::initializer_list<CompiledModel*>{&training, &inference, &evaluation}) {
    EXPECT_EQ(model->state(), training.state());
    EXPECT_THAT(model->layers(), Contains("net_core.downsample"));
    EXPECT_EQ(model->last_call().micro_batches, 1);
    ASSERT_EQ(model->plans().size(), 1U);
    EXPECT_EQ(model->report().arena_bytes, model->plans().front()->arena_bytes);
    EXPECT_EQ(model->memory().arena_bytes, model->report().arena_bytes);
    EXPECT_FALSE(model->timings().empty());
    model->detach();
    EXPECT_FALSE(model->attached());
    model->attach();
    EXPECT_TRUE(model->attached());
  }
}

TEST(CompiledModel, runs_as_before_after_taking_the_place_of_another) {
  TrainingModel expected = compiled_training(options_for("cpu"), compile::Adam{});
  TrainingModel replaced = compiled_training(options_for("cpu"));
  const Batch batch = small_batch("first");
  replaced(batch.image, batch.label, kRate);
  replaced = compiled_training(options_for("cpu"), compile::Adam{});
  for (int step = 0; step < 2; ++step) {
    EXPECT_EQ(replaced(batch.image, batch.label, kRate).loss,
              expected(batch.image, batch.label, kRate).loss);
  }
  EXPECT_EQ(distance(*replaced.state(), *expected.state()), 0);
}

TEST(Detach, a_detached_model_refuses_to_run_and_goes_on_after_attaching) {
  TrainingModel interrupted = compiled_training(options_for("cpu"), compile::Adam{});
  TrainingModel steady = compiled_training(options_for("cpu"), compile::Adam{});
  const Batch batch = small_batch("first");
  interrupted(batch.image, batch.label, kRate);
  steady(batch.image, batch.label, kRate);
  interrupted.detach();
  EXPECT_FALSE(interrupted.attached());
  EXPECT_THAT([&] { interrupted(batch.image, batch.label, kRate); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("detached"), HasSubstr("attach()"))));
  EXPECT_THAT([&] { interrupted.timings(); }, ThrowsMessage<UserError>(HasSubstr("detached")));
  interrupted.attach();
  EXPECT_TRUE(interrupted.attached());
  interrupted(batch.image, batch.label, kRate);
  steady(batch.image, batch.label, kRate);
  EXPECT_EQ(distance(*interrupted.state(), *steady.state()), 0);
}

TEST(Detach, the_state_can_be_read_and_written_on_the_host_meanwhile) {
  TrainingModel training = compiled_training(options_for("cpu"));
  const Batch batch = small_batch("first");
  training(batch.image, batch.label, kRate);
  const NamedTensors before = training.state()->read_all();
  training.detach();
  EXPECT_FALSE(training.state()->on_target());
  for (const auto& [name, tensor] : before) {
    EXPECT_EQ(training.state()->read(name).bytes, tensor.bytes) << name;
  }
  Tensor bias = training.state()->read("bottleneck.bias");
  bias.as<float>()[0] = 42;
  training.state()->write("bottleneck.bias", bias);
  training.attach();
  EXPECT_TRUE(training.state()->on_target());
  EXPECT_EQ(training.state()->read("bottleneck.bias").as<float>()[0], 42);
}

TEST(Detach, a_state_stays_for_the_other_model_that_uses_it) {
  TrainingModel training = compiled_training(options_for("cpu"));
  InferenceModel inference = compiled_inference(options_for("cpu"), training.state());
  const Batch batch = small_batch("first");
  training.detach();
  EXPECT_TRUE(training.state()->on_target());
  const std::vector<float> before = copy(inference(batch.image));
  training.attach();
  training(batch.image, batch.label, kRate);
  EXPECT_NE(copy(inference(batch.image)), before);
  training.detach();
  inference.detach();
  EXPECT_FALSE(training.state()->on_target());
  inference.attach();
  EXPECT_NE(copy(inference(batch.image)), before);
}

struct Swap {
  const char* name;
  compile::Optimizer from;
  compile::Optimizer to;
};

class OptimizerSwap : public testing::TestWithParam<Swap> {
 protected:
  static Options variable(const std::string& target) {
    Options options = options_for(target);
    options.variable_optimizer = true;
    return options;
  }
};

TEST_P(OptimizerSwap, constants_as_inputs_do_what_constants_do) {
  for (const std::string target : {"cpu", "reference"}) {
    TrainingModel inputs =
        compiled_training(variable(target), GetParam().from, small_network(), tiny_types());
    TrainingModel constants =
        compiled_training(options_for(target), GetParam().from, small_network(), tiny_types());
    for (const char* stream : {"first", "second"}) {
      const Batch batch = small_batch(stream, 1, tiny_types());
      inputs(batch.image, batch.label, 1e-3);
      constants(batch.image, batch.label, 1e-3);
    }
    EXPECT_LE(distance(*inputs.state(), *constants.state()), 1e-6) << target;
  }
}

TEST_P(OptimizerSwap, goes_on_as_if_compiled_with_the_new_constants) {
  TrainingModel swapped = compiled_training(variable("cpu"), GetParam().from);
  TrainingModel fresh = compiled_training(variable("cpu"), GetParam().to);
  const Batch batch = small_batch("first");
  swapped(batch.image, batch.label, 1e-3);
  fresh.state()->write_all(swapped.state()->read_all());
  swapped.set_optimizer(GetParam().to);
  swapped(batch.image, batch.label, 1e-3);
  fresh(batch.image, batch.label, 1e-3);
  EXPECT_EQ(distance(*swapped.state(), *fresh.state()), 0);

  TrainingModel unchanged = compiled_training(variable("cpu"), GetParam().from);
  unchanged(batch.image, batch.label, 1e-3);
  unchanged(batch.image, batch.label, 1e-3);
  EXPECT_GT(distance(*swapped.state(), *unchanged.state()), 0);
}

TEST_P(OptimizerSwap, works_where_gradients_are_accumulated) {
  Options accumulating = variable("cpu");
  accumulating.gradient_accumulation = 2;
  TrainingModel training = compiled_training(accumulating, GetParam().from);
  const Batch batch = small_batch("two", 2);
  training(batch.image, batch.label, 1e-3);
  training.set_optimizer(GetParam().to);
  EXPECT_TRUE(std::isfinite(training(batch.image, batch.label, 1e-3).loss));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, OptimizerSwap,
    testing::Values(Swap{"adam", compile::Adam{}, compile::Adam{0.8, 0.99, 1e-6, 0.1}},
                    Swap{"rmsprop", compile::Rmsprop{}, compile::Rmsprop{0.9, 1e-2}},
                    Swap{"sgd", compile::Sgd{0.9}, compile::Sgd{0.5}}),
    [](const auto& instance) { return instance.param.name; });

TEST(RefusedOptimizerSwap, a_constant_of_the_program_is_refused_by_name) {
  TrainingModel training = compiled_training(options_for("cpu"), compile::Adam{});
  EXPECT_NO_THROW(training.set_optimizer(compile::Adam{}));
  EXPECT_THAT([&] { training.set_optimizer(compile::Adam{.beta2 = 0.9}); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("beta2 of Adam"), HasSubstr("0.999 to 0.9"),
                                             HasSubstr("variable_optimizer"))));
}

TEST(RefusedOptimizerSwap, another_kind_is_another_program) {
  Options options = options_for("cpu");
  options.variable_optimizer = true;
  TrainingModel training = compiled_training(options, compile::Adam{});
  EXPECT_THAT([&] { training.set_optimizer(compile::Sgd{}); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("Adam"), HasSubstr("Sgd"), HasSubstr("other moments"))));
  TrainingModel plain = compiled_training(options, compile::Sgd{});
  EXPECT_THAT([&] { plain.set_optimizer(compile::Sgd{0.9}); },
              ThrowsMessage<UserError>(HasSubstr("keeps no moments")));
}

TEST(Anchors, the_result_of_a_layer_can_be_read_after_a_call) {
  Options options = options_for("cpu");
  options.outputs.logits = true;
  options.anchors = {"bottleneck", "initial_convolution"};
  TrainingModel training = compiled_training(options);
  const Batch batch = small_batch("first");
  const StepResult& result = training(batch.image, batch.label, kRate);
  EXPECT_THAT(training.anchored("bottleneck"), ElementsAreArray(result.logits));
  // Six images of four filters.
  EXPECT_EQ(training.anchored("initial_convolution").size(), batch.image.size() * 4);
  EXPECT_GT(*std::max_element(training.anchored("initial_convolution").begin(),
                              training.anchored("initial_convolution").end()),
            0);
}

TEST(Anchors, inference_gives_what_the_other_targets_give) {
  Options options = options_for("cpu");
  options.anchors = {"net_core.down_blocks"};
  Options oracle = options_for("reference");
  oracle.anchors = options.anchors;
  InferenceModel inference = compiled_inference(options, nullptr, small_network(), tiny_types());
  InferenceModel expected = compiled_inference(oracle, nullptr, small_network(), tiny_types());
  const Batch batch = small_batch("first", 1, tiny_types());
  inference(batch.image);
  expected(batch.image);
  const std::vector<float> of_cpu = copy(inference.anchored("net_core.down_blocks"));
  const std::vector<float> of_oracle = copy(expected.anchored("net_core.down_blocks"));
  ASSERT_EQ(of_cpu.size(), of_oracle.size());
  for (std::size_t i = 0; i < of_cpu.size(); i += 7) {
    EXPECT_NEAR(of_cpu[i], of_oracle[i], 1e-4);
  }
}

TEST(Anchors, a_misspelt_layer_is_answered_with_the_nearest) {
  Options options = options_for("cpu");
  options.anchors = {"botleneck"};
  EXPECT_THAT([&] { compiled_training(options); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("anchors names 'botleneck'"),
                                             HasSubstr("did you mean 'bottleneck'"))));
  TrainingModel training = compiled_training(options_for("cpu"));
  EXPECT_THAT([&] { training.anchored("bottleneck"); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("'bottleneck' is not anchored"), HasSubstr("Options::anchors"))));
  EXPECT_THAT(training.layers(), Contains("net_core.down_blocks"));
}

}  // namespace
}  // namespace cosmic::session
