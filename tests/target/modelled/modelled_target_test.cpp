// Targets for machines that are not here: they compute what the host computes, under the rules of
// the machine, and say what it would need.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/error.hpp"
#include "machine/workload.hpp"
#include "scratch_folder.hpp"
#include "session/capacity_error.hpp"
#include "session/small_model.hpp"
#include "target/registry.hpp"

namespace cosmic::session {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr std::int64_t kSteps = 5;

/// A modelled target and the 16-bit format that its machines have.
struct Kind {
  const char* target;
  NumberFormat narrow;
  NumberFormat missing;
};

constexpr Kind kKinds[] = {{"ipu", NumberFormat::f16, NumberFormat::bf16},
                           {"hpu", NumberFormat::bf16, NumberFormat::f16},
                           {"rdu", NumberFormat::bf16, NumberFormat::f16}};

std::vector<double> loss_curve(const Options& options, std::int64_t steps = kSteps) {
  TrainingModel training = compiled_training(options);
  std::vector<double> losses;
  for (std::int64_t step = 0; step < steps; ++step) {
    const Batch batch = small_batch("step " + std::to_string(step % 2));
    losses.push_back(training(batch.image, batch.label, 0.01).loss);
  }
  return losses;
}

Options with_format(const std::string& target, NumberFormat format) {
  Options options = options_for(target);
  options.precision.format = format;
  return options;
}

class ModelledTarget : public testing::TestWithParam<Kind> {};

INSTANTIATE_TEST_SUITE_P(, ModelledTarget, testing::ValuesIn(kKinds),
                         [](const auto& test) { return std::string(test.param.target); });

TEST_P(ModelledTarget, trains_with_the_bits_of_the_host_where_the_machine_computes_in_float32) {
  EXPECT_EQ(loss_curve(options_for(GetParam().target)), loss_curve(options_for("cpu")));
}

TEST_P(ModelledTarget, infers_with_the_bits_of_the_host_where_the_machine_computes_in_float32) {
  const Batch batch = small_batch("image");
  InferenceModel there = compiled_inference(options_for(GetParam().target));
  InferenceModel here = compiled_inference(options_for("cpu"));
  const std::span<const float> logits = here(batch.image);
  EXPECT_THAT(there(batch.image), testing::ElementsAreArray(logits));
}

TEST_P(ModelledTarget, loss_curve_in_16_bits_stays_within_2_percent_of_float32) {
  const std::vector<double> narrow =
      loss_curve(with_format(GetParam().target, GetParam().narrow), 20);
  const std::vector<double> exact = loss_curve(options_for(GetParam().target), 20);
  EXPECT_NE(narrow, exact) << "nothing was rounded";
  for (std::size_t step = 0; step < exact.size(); ++step) {
    EXPECT_NEAR(narrow[step] / exact[step], 1, 0.02) << "step " << step;
  }
}

TEST_P(ModelledTarget, rounds_each_write_at_random_where_it_is_asked_to) {
  Options options = with_format(GetParam().target, GetParam().narrow);
  options.precision.rounding = Rounding::stochastic;
  const std::vector<double> once = loss_curve(options);
  EXPECT_EQ(once, loss_curve(options));
  EXPECT_NE(once, loss_curve(with_format(GetParam().target, GetParam().narrow)));
}

TEST_P(ModelledTarget, refuses_a_format_that_its_machines_do_not_have) {
  const std::string missing = to_string(GetParam().missing);
  EXPECT_THAT([&] { compiled_training(with_format(GetParam().target, GetParam().missing)); },
              ThrowsMessage<TargetError>(
                  AllOf(HasSubstr(GetParam().target), HasSubstr(missing),
                        HasSubstr("computes with f32 and " + to_string(GetParam().narrow)))));
}

TEST_P(ModelledTarget, reports_a_prediction_that_says_it_is_modelled) {
  const TrainingModel training = compiled_training(options_for(GetParam().target));
  const CompileReport& report = training.report();
  EXPECT_EQ(report.provenance, Provenance::modelled);
  ASSERT_TRUE(report.prediction.has_value());
  EXPECT_GT(report.prediction->step.best.modelled_seconds(), 0);
  EXPECT_THAT(to_string(report.prediction->step), HasSubstr("modelled"));
  EXPECT_EQ(report.prediction->memory.fits, machine::Fit::yes);
}

TEST_P(ModelledTarget, shows_no_time_of_the_host_as_a_time_of_its_ops) {
  TrainingModel training = compiled_training(options_for(GetParam().target));
  const Batch batch = small_batch("step");
  training(batch.image, batch.label, 0.01);
  EXPECT_THAT(training.timings(), IsEmpty());
}

std::size_t numbers_finer_than(NumberFormat format, std::span<const float> numbers) {
  return static_cast<std::size_t>(std::count_if(numbers.begin(), numbers.end(), [&](float number) {
    return rounded(number, format) != number;
  }));
}

TEST(MachineContract, scores_of_an_hpu_and_an_rdu_are_bfloat16_and_those_of_a_cpu_are_not) {
  const Batch batch = small_batch("image");
  const auto finer = [&](const char* target) {
    InferenceModel model = compiled_inference(with_format(target, NumberFormat::bf16));
    return numbers_finer_than(NumberFormat::bf16, model(batch.image));
  };
  EXPECT_EQ(finer("hpu"), 0U);
  EXPECT_EQ(finer("rdu"), 0U);
  EXPECT_GT(finer("cpu"), 0U);
}

TEST(MachineContract, training_in_bfloat16_is_another_on_an_hpu_an_rdu_and_a_cpu) {
  const auto curve = [](const char* target) {
    return loss_curve(with_format(target, NumberFormat::bf16));
  };
  EXPECT_NE(curve("hpu"), curve("cpu"));
  EXPECT_NE(curve("rdu"), curve("cpu"));
  EXPECT_NE(curve("rdu"), curve("hpu"));
}

TEST(MachineContract, an_rdu_in_bfloat16_has_no_master_weights_and_says_so) {
  Options pure = with_format("cpu", NumberFormat::bf16);
  pure.precision.weights = compile::Precision::Weights::pure;
  EXPECT_EQ(loss_curve(with_format("rdu", NumberFormat::bf16)), loss_curve(pure));
  const TrainingModel training = compiled_training(with_format("rdu", NumberFormat::bf16));
  EXPECT_THAT(training.report().notes,
              testing::Contains(AllOf(HasSubstr("no float32 master weights"),
                                      HasSubstr("run.rounding=stochastic"))));
  const TrainingModel exact = compiled_training(options_for("rdu"));
  EXPECT_THAT(exact.report().notes, testing::Not(testing::Contains(HasSubstr("master weights"))));
}

TEST(MachineContract, an_average_of_weights_that_an_rdu_keeps_in_bfloat16_is_refused) {
  Options options = with_format("rdu", NumberFormat::bf16);
  options.weights_average = 0.9;
  EXPECT_THAT([&] { compiled_training(options); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("weights_average is 0.9"), HasSubstr("without master weights"))));
}

TEST(MachineContract, gradients_of_an_ipu_in_float16_are_float16_without_a_scaled_loss) {
  EXPECT_NE(loss_curve(with_format("ipu", NumberFormat::f16)),
            loss_curve(with_format("cpu", NumberFormat::f16)));
  const auto scaled = [](const char* target) {
    Options options = with_format(target, NumberFormat::f16);
    options.precision.loss_scaling.kind = compile::LossScaling::Kind::dynamic;
    return loss_curve(options);
  };
  EXPECT_EQ(scaled("ipu"), scaled("cpu"));  // there both have them in float16
}

TEST(MachineContract, an_rdu_refuses_rmsprop_by_what_its_software_offers) {
  EXPECT_THAT([] { compiled_training(options_for("rdu"), compile::Rmsprop{}); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("SGD and AdamW"), HasSubstr("mode.optimizer.name=adam"))));
  EXPECT_NO_THROW(compiled_training(options_for("ipu"), compile::Rmsprop{}));
  EXPECT_NO_THROW(compiled_training(options_for("hpu"), compile::Rmsprop{}));
}

TEST(MeasuredTarget, has_no_prediction) {
  const TrainingModel training = compiled_training(options_for("cpu"));
  EXPECT_EQ(training.report().provenance, Provenance::measured);
  EXPECT_FALSE(training.report().prediction.has_value());
}

TEST(MeasuredTarget, refuses_the_name_of_a_machine) {
  Options options = options_for("cpu");
  options.machine = "bow";
  EXPECT_THAT([&] { compiled_training(options); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("bow"), HasSubstr("cpu"))));
}

TEST(MachineChoice, a_machine_of_another_kind_is_refused_with_those_that_fit) {
  Options options = options_for("ipu");
  options.machine = "gaudi1";
  EXPECT_THAT([&] { compiled_training(options); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("gaudi1"), HasSubstr("hpu"),
                                             HasSubstr("ipu"), HasSubstr("gc200, bow"))));
}

TEST(MachineChoice, a_slower_machine_of_the_kind_is_predicted_slower_with_the_same_results) {
  const auto trained_on = [](const std::string& machine) {
    Options options = options_for("ipu");
    options.machine = machine;
    return compiled_training(options);
  };
  TrainingModel bow = trained_on("bow");
  TrainingModel gc200 = trained_on("gc200");
  EXPECT_GT(gc200.report().prediction->step.best, bow.report().prediction->step.best);
  const Batch batch = small_batch("step");
  EXPECT_EQ(gc200(batch.image, batch.label, 0.01).loss, bow(batch.image, batch.label, 0.01).loss);
}

TEST(MachineChoice, a_machine_from_a_file_is_trained_on) {
  const ScratchFolder folder("machine_from_a_file");
  const std::filesystem::path file = folder.path() / "toy.yaml";
  std::ofstream(file) << R"(name: Toy
family: rdu
about: a machine of this test
figures:
  compute_units: {value: 10, unit: count, status: published, source: this test}
  tiles: {value: 2, unit: count, status: published, source: this test}
  peak_half: {value: 1, unit: TFLOP/s, status: published, source: this test}
  sram: {value: 10, unit: MiB, status: published, source: this test}
  sram_bandwidth: {value: 1, unit: TB/s, status: published, source: this test}
  memory: {value: 1, unit: GiB, status: published, source: this test}
unknowns:
  memory_bandwidth: {default: 10, low: 5, high: 20, unit: GB/s, status: assumed, source: this test}
  section_switch: {default: 10, low: 5, high: 20, unit: us, status: assumed, source: this test}
  compute_efficiency: {default: 0.5, low: 0.2, high: 1, unit: ratio, status: assumed, source: this test}
  float_rate: {default: 0.5, low: 0.25, high: 1, unit: ratio, status: assumed, source: this test}
  host_bandwidth: {default: 1, low: 0.5, high: 2, unit: GB/s, status: assumed, source: this test}
  host_rate: {default: 1, low: 0.5, high: 2, unit: GB/s, status: assumed, source: this test}
  memory_slack: {default: 1, low: 1, high: 1, unit: ratio, status: assumed, source: this test}
)";
  Options options = options_for("rdu");
  options.machine = file.string();
  TrainingModel training = compiled_training(options);
  EXPECT_EQ(training.report().prediction->machine, "Toy");
  const Batch batch = small_batch("step");
  EXPECT_TRUE(std::isfinite(training(batch.image, batch.label, 0.01).loss));
}

/// Images of the detector, which one chip cannot hold.
const BatchTypes& whole_events() {
  static const BatchTypes types{{graph::DType::f32, {2, 3, 640, 1024}},
                                {graph::DType::u8, {2, 3, 640, 1024}}};
  return types;
}

TEST(Capacity, what_does_not_fit_is_refused_before_it_runs_by_tile_tensor_and_remedy) {
  Options options = options_for("ipu");
  options.offline_compile = true;
  EXPECT_THAT(
      [&] { compiled_training(options, compile::Adam{}, model::preset("a21"), whole_events()); },
      ThrowsMessage<CapacityError>(
          AllOf(HasSubstr("does not fit GC200"), HasSubstr("the fullest of 1472 tiles"),
                HasSubstr("(modelled)"), HasSubstr("initial_convolution.conv"),
                HasSubstr("16-bit precision"), HasSubstr("stages"), HasSubstr("--make-it-fit"))));
}

TEST(Capacity, a_pipeline_over_several_machines_makes_it_fit) {
  Options options = options_for("ipu");
  options.offline_compile = true;
  options.precision.format = NumberFormat::f16;
  options.execution_strategy = ExecutionStrategy::pipelined;
  options.stages.automatic = 4;
  options.gradient_accumulation = 7;
  BatchTypes one_event = whole_events();
  one_event.image.shape[0] = one_event.label.shape[0] = 1;
  const TrainingModel training =
      compiled_training(options, compile::Adam{}, model::preset("a21"), one_event);
  EXPECT_EQ(training.report().prediction->memory.fits, machine::Fit::yes);
}

TEST(Recomputation, makes_a_step_fit_and_changes_no_bit_of_it) {
  Options options = options_for("ipu");
  options.recompute = true;
  const std::vector<double> again = loss_curve(options);
  EXPECT_EQ(again, loss_curve(options_for("ipu")));
  const auto needed = [](bool recompute) {
    Options offline = options_for("hpu");
    offline.offline_compile = true;
    offline.recompute = recompute;
    return compiled_training(offline, compile::Adam{}, model::preset("a21"), whole_events())
        .report()
        .prediction->memory.needed;
  };
  EXPECT_LT(needed(true), needed(false));
}

Options with_half_partials() {
  Options options = with_format("ipu", NumberFormat::f16);
  options.precision.partials = NumberFormat::f16;
  return options;
}

TEST(HalfPartials, are_for_half_operands_of_an_ipu_and_their_rule_is_said) {
  Options options = with_half_partials();
  const TrainingModel training = compiled_training(options);
  EXPECT_THAT(training.report().notes,
              testing::Contains(AllOf(HasSubstr("16 products are added up in float32"),
                                      HasSubstr("rounded to f16"))));
  options.precision.format = NumberFormat::f32;
  EXPECT_THROW(compiled_training(options), TargetError);
  options = with_format("hpu", NumberFormat::bf16);
  options.precision.partials = NumberFormat::f16;
  EXPECT_THAT([&] { compiled_training(options); },
              ThrowsMessage<TargetError>(HasSubstr("accumulates products in float32")));
}

TEST(HalfPartials, are_in_the_results_and_keep_the_loss_within_2_percent_of_float32_partials) {
  constexpr std::int64_t kManySteps = 20;
  const std::vector<double> half = loss_curve(with_half_partials(), kManySteps);
  const std::vector<double> full = loss_curve(with_format("ipu", NumberFormat::f16), kManySteps);
  EXPECT_NE(half, full) << "no sum was rounded";
  for (std::size_t step = 0; step < full.size(); ++step) {
    EXPECT_NEAR(half[step] / full[step], 1, 0.02) << "step " << step;
  }
}

TEST(HalfPartials, are_rounded_at_random_where_it_is_asked_for) {
  Options options = with_half_partials();
  options.precision.rounding = Rounding::stochastic;
  const std::vector<double> once = loss_curve(options);
  EXPECT_EQ(once, loss_curve(options));
  options.precision.partials = NumberFormat::f32;
  EXPECT_NE(once, loss_curve(options));
  EXPECT_NE(once, loss_curve(with_half_partials()));
}

TEST(HalfPartials, are_in_what_is_inferred) {
  const Batch batch = small_batch("image");
  InferenceModel half = compiled_inference(with_half_partials());
  InferenceModel full = compiled_inference(with_format("ipu", NumberFormat::f16));
  const std::span<const float> full_logits = full(batch.image);
  const std::span<const float> half_logits = half(batch.image);
  ASSERT_EQ(half_logits.size(), full_logits.size());
  EXPECT_FALSE(std::equal(half_logits.begin(), half_logits.end(), full_logits.begin()));
  for (std::size_t i = 0; i < full_logits.size(); ++i) {
    EXPECT_NEAR(half_logits[i], full_logits[i], 0.02 * (1 + std::abs(full_logits[i])));
  }
}

TEST(HalfPartials, give_about_the_loss_that_the_reference_gives_with_them) {
  const Batch batch = small_batch("tiny", 1, tiny_types());
  const auto first_loss = [&](const std::string& target) {
    Options options = with_half_partials();
    options.target = target;
    TrainingModel training =
        compiled_training(options, compile::Sgd{0.9}, small_network(), tiny_types());
    return training(batch.image, batch.label, 0.01).loss;
  };
  EXPECT_NEAR(first_loss("ipu") / first_loss("reference"), 1, 0.005);
}

TEST(HalfPartials, give_the_bits_of_one_thread_with_any_number_of_them) {
  Options options = with_half_partials();
  options.threads = 1;
  InferenceModel alone = compiled_inference(options);
  options.threads = 3;
  InferenceModel together = compiled_inference(options);
  const Batch batch = small_batch("image");
  const std::span<const float> logits = alone(batch.image);
  EXPECT_THAT(together(batch.image), testing::ElementsAreArray(logits));
}

TEST(HalfPartials, are_in_both_passes_where_both_factors_are_half) {
  Options options = with_half_partials();
  graph::Graph program;
  options.dump = [&](const std::string&, const graph::Graph& after) { program = after; };
  compiled_training(options);
  std::size_t forward = 0;
  std::size_t backward = 0;
  for (const machine::Work& work : machine::workload_of(program).works) {
    if (work.kind != machine::Work::Kind::contraction) {
      continue;
    }
    const bool half = graph::partials_of(program, work.value) == NumberFormat::f16;
    const bool is_forward = work.phase == machine::Work::Phase::forward;
    (is_forward ? forward : backward) += half ? 1 : 0;
    if (is_forward) {
      EXPECT_TRUE(half) << work.op << " at " << work.layer;
      EXPECT_EQ(work.element_bytes, bytes_of(NumberFormat::f16)) << work.op << " at " << work.layer;
    }
  }
  EXPECT_GT(forward, 0U);
  EXPECT_GT(backward, 0U);  // gradients are float16 there, too
}

TEST(BfloatLists, of_a_gaudi_have_convolutions_and_activations_and_leave_the_loss_in_float32) {
  Options options = with_format("hpu", NumberFormat::bf16);
  graph::Graph program;
  options.dump = [&](const std::string&, const graph::Graph& after) { program = after; };
  compiled_training(options);
  std::size_t convolutions = 0;
  graph::for_each_node(program, [&](graph::ValueId, const graph::Node& node) {
    if (graph::op_if<graph::Conv>(node) != nullptr && node.stored) {
      ++convolutions;  // the one that makes the scores, too
      EXPECT_EQ(node.format, NumberFormat::bf16) << node.name;
    }
  });
  EXPECT_GT(convolutions, 1U);
  for (const graph::NamedValue& output : program.outputs) {
    EXPECT_EQ(program.node(output.value).format, NumberFormat::f32) << output.name;
  }
}

TEST(BfloatLists, are_told_where_a_run_on_a_gaudi_asks_for_bfloat16) {
  const auto notes_of = [](const Options& options) {
    const TrainingModel training = compiled_training(options);
    std::string text;
    for (const std::string& note : training.report().notes) {
      text += note + "\n";
    }
    return text;
  };
  EXPECT_THAT(notes_of(with_format("hpu", NumberFormat::bf16)), HasSubstr("Gaudi's lists"));
  EXPECT_THAT(notes_of(options_for("hpu")), Not(HasSubstr("lists")));
  EXPECT_THAT(notes_of(with_format("rdu", NumberFormat::bf16)), Not(HasSubstr("lists")));
}

TEST(EagerLaunches, take_longer_on_a_gaudi_than_one_recipe_and_change_no_result) {
  Options eager = options_for("hpu");
  eager.launching = machine::Launching::per_op;
  TrainingModel one_by_one = compiled_training(eager);
  TrainingModel recipe = compiled_training(options_for("hpu"));
  EXPECT_GT(one_by_one.report().prediction->launches, recipe.report().prediction->launches);
  EXPECT_GT(one_by_one.report().prediction->step.best, recipe.report().prediction->step.best);
  const Batch batch = small_batch("step");
  EXPECT_EQ(one_by_one(batch.image, batch.label, 0.01).loss,
            recipe(batch.image, batch.label, 0.01).loss);
}

}  // namespace
}  // namespace cosmic::session
