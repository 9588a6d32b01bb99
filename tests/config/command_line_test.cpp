#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/key.hpp"
#include "config/parsed.hpp"
#include "config/schema.hpp"
#include "core/error.hpp"

namespace cosmic::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(CommandLine, has_the_references_defaults) {
  const Configuration c = parsed("run.id=01").configuration;
  EXPECT_EQ(c.mode.name, Mode::train);
  EXPECT_EQ(c.run.iterations, 500);
  EXPECT_EQ(c.run.aux_iterations, 10);
  EXPECT_EQ(c.run.minibatch_size, 2);
  EXPECT_EQ(c.run.precision, Precision::float32);
  EXPECT_TRUE(c.run.saver);
  EXPECT_EQ(c.mode.checkpoint_iteration, 500);
  EXPECT_EQ(c.mode.optimizer.learning_rate, 3e-4);
  EXPECT_EQ(c.mode.optimizer.loss_balance_scheme, model::BalanceScheme::focal);
  EXPECT_EQ(c.mode.optimizer.name, OptimizerKind::adam);
  EXPECT_FALSE(c.data.synthetic);
  EXPECT_EQ(c.data.downsample, 1);
  EXPECT_EQ(c.network, model::preset("uresnet"));
  EXPECT_EQ(c.output_dir, "output/torch/uresnet/01/");
}

TEST(CommandLine, computes_on_the_cpu_unless_told_otherwise) {
  EXPECT_EQ(parsed("run.id=01").configuration.run.compute_mode, ComputeMode::cpu);
  EXPECT_EQ(parsed("run.id=01 run.compute_mode=GPU").configuration.run.compute_mode,
            ComputeMode::gpu);
}

TEST(CommandLine, takes_a_group_and_then_changes_its_values_in_any_order) {
  const Configuration c = parsed("network.depth=4 run.id=01 network=a21").configuration;
  model::UResNetOptions expected = model::preset("a21");
  expected.depth = 4;
  EXPECT_EQ(c.network, expected);
}

TEST(CommandLine, does_not_start_a_hundred_thousand_threads) {
  for (const std::string key : {"data.threads", "run.threads"}) {
    EXPECT_THAT([&] { parsed("run.id=1 " + key + "=100000"); },
                ThrowsMessage<UserError>(
                    AllOf(HasSubstr(key), HasSubstr("100000"), HasSubstr("at most 1024"))));
  }
}

TEST(CommandLine, states_a_limit_for_everything_that_is_counted) {
  std::size_t counts = 0;
  for (const Key& key : schema()) {
    const bool is_seed = key.name.ends_with("seed");  // any number is as good as another
    if (key.kind != ValueKind::integer || is_seed) {
      continue;
    }
    ++counts;
    ASSERT_LT(key.range.most, 1e13) << key.name;
    EXPECT_THAT(key.type_text(), HasSubstr("at most")) << key.name;
    EXPECT_THAT([&] { parse_value(key, "9223372036854775807"); },
                ThrowsMessage<UserError>(AllOf(HasSubstr(key.name), HasSubstr("at most"))))
        << key.name;
  }
  EXPECT_GE(counts, 25U);
}

TEST(CommandLine, takes_choices_by_name_or_by_the_references_number) {
  EXPECT_EQ(parsed("run.id=1 run.precision=3").configuration.run.precision, Precision::float16);
  EXPECT_EQ(parsed("run.id=1 run.precision=bfloat16").configuration.run.precision,
            Precision::bfloat16);
  EXPECT_EQ(parsed("run.id=1 run.compute_mode=4").configuration.run.compute_mode, ComputeMode::hpu);
  EXPECT_EQ(parsed("run.id=1 network.connections=1").configuration.network.connections,
            model::Connections::sum);
  EXPECT_EQ(parsed("run.id=1 network.growth_rate=0").configuration.network.growth_rate,
            model::GrowthRate::multiplicative);
  EXPECT_EQ(parsed("run.id=1 mode.optimizer.loss_balance_scheme=2")
                .configuration.mode.optimizer.loss_balance_scheme,
            model::BalanceScheme::even);
}

TEST(CommandLine, takes_truth_in_all_its_spellings) {
  for (const std::string yes : {"True", "true", "1"}) {
    EXPECT_TRUE(parsed("run.id=1 run.profile=" + yes).configuration.run.profile) << yes;
  }
  for (const std::string no : {"False", "false", "0"}) {
    EXPECT_FALSE(parsed("run.id=1 run.saver=" + no).configuration.run.saver) << no;
  }
}

TEST(CommandLine, keeps_a_name_that_looks_like_a_number) {
  EXPECT_EQ(parsed("run.id=01").configuration.run.id, "01");
  EXPECT_EQ(parsed("run.id=1e3").configuration.run.id, "1e3");
}

TEST(CommandLine, takes_quotes_away_that_the_shell_left) {
  EXPECT_EQ(parsed("run.id='fp16_10x1'").configuration.run.id, "fp16_10x1");
  EXPECT_EQ(parsed("run.id=\"a'b\"").configuration.run.id, "a'b");
}

TEST(CommandLine, takes_what_follows_the_first_equals_sign_as_it_is) {
  EXPECT_EQ(parsed("run.id=a=b").configuration.run.id, "a=b");
  EXPECT_EQ(parsed("run.id=1 mode.weights_location=").configuration.mode.weights_location, "");
}

TEST(CommandLine, reads_a_time_limit_as_people_write_it) {
  const auto seconds = [](const std::string& text) {
    return parsed("run.id=1 run.max_time=" + text).configuration.run.max_time.seconds;
  };
  EXPECT_EQ(seconds("90"), 90);
  EXPECT_EQ(seconds("90s"), 90);
  EXPECT_EQ(seconds("1h30m"), 5400);
  EXPECT_EQ(seconds("1.5h"), 5400);
  EXPECT_EQ(seconds("01:30:00"), 5400);
  EXPECT_EQ(seconds("00:30"), 1800);
  EXPECT_EQ(seconds("1d"), 86400);
}

TEST(CommandLine, refuses_a_time_limit_that_is_none) {
  for (const std::string text : {"", "soon", "-5", "30m2h", "1h1h", "1:", "1:99:00", "1:2:3:4",
                                 "nan", "inf", "1e999", "5x"}) {
    EXPECT_THAT([&] { parsed("run.id=1 run.max_time=" + text); },
                ThrowsMessage<UserError>(AllOf(HasSubstr("run.max_time"),
                                               HasSubstr("'" + text + "'"), HasSubstr("1h30m"))))
        << text;
  }
}

TEST(CommandLine, says_the_nearest_key_to_an_unknown_one) {
  EXPECT_THAT([] { parsed("run.id=1 run.minibatchsize=2"); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("'run.minibatchsize'"), HasSubstr("'run.minibatch_size'"))));
  EXPECT_THAT([] { parsed("run.id=1 minibatch_size=2"); },
              ThrowsMessage<UserError>(HasSubstr("'run.minibatch_size'")));
  EXPECT_THAT([] { parsed("run.id=1 network=a22"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("a22"), HasSubstr("'a21'"))));
  EXPECT_THAT([] { parsed("run.id=1 run.precision=float64"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("run.precision"), HasSubstr("float64"),
                                             HasSubstr("bfloat16"), HasSubstr("'float32'"))));
}

TEST(CommandLine, names_key_value_and_what_is_allowed_when_a_value_is_wrong) {
  EXPECT_THAT([] { parsed("run.id=1 run.minibatch_size=two"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("run.minibatch_size"), HasSubstr("'two'"),
                                             HasSubstr("int, 1 or more"))));
  EXPECT_THAT([] { parsed("run.id=1 run.minibatch_size=0"); },
              ThrowsMessage<UserError>(HasSubstr("out of range")));
  EXPECT_THAT([] { parsed("run.id=1 run.minibatch_size=2.5"); },
              ThrowsMessage<UserError>(HasSubstr("not a whole number")));
  EXPECT_THAT([] { parsed("run.id=1 run.iterations=99999999999999999999"); },
              ThrowsMessage<UserError>(HasSubstr("run.iterations")));
  EXPECT_THAT([] { parsed("run.id=1 run.distributed=maybe"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("'maybe'"), HasSubstr("true or false"))));
  EXPECT_THAT([] { parsed("run.id=1 mode.optimizer.learning_rate=nan"); },
              ThrowsMessage<UserError>(HasSubstr("not a number")));
  EXPECT_THAT([] { parsed("run.id=1 mode.optimizer.learning_rate=0"); },
              ThrowsMessage<UserError>(HasSubstr("more than 0")));
  EXPECT_THAT([] { parsed("run.id=1 run.precision=9"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("'9'"), HasSubstr("bfloat16"))));
}

TEST(CommandLine, refuses_number_formats_that_make_no_sense_together) {
  EXPECT_THAT([] { parsed("run.id=1 run.master_weights=false"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("run.master_weights"), HasSubstr("float32"),
                                             HasSubstr("run.precision=bfloat16"))));
  EXPECT_THAT([] { parsed("run.id=1 run.precision=float16 run.master_weights=false"); },
              ThrowsMessage<UserError>(HasSubstr("updates would be lost")));
  EXPECT_THAT(
      [] { parsed("run.id=1 run.rounding=stochastic"); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("run.rounding"), HasSubstr("nothing is rounded"))));
  EXPECT_EQ(parsed("run.id=1 run.precision=2 run.rounding=stochastic").configuration.run.rounding,
            Rounding::stochastic);
}

TEST(CommandLine, refuses_words_that_are_no_settings) {
  EXPECT_THAT([] { parsed("run.id=1 verbose"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("'verbose'"), HasSubstr("key=value"))));
  EXPECT_THAT([] { parsed("run.id=1 =5"); }, ThrowsMessage<UserError>(HasSubstr("key=value")));
  EXPECT_THAT(
      [] { parsed("run.id=1 --verbose"); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("'--verbose'"), HasSubstr("--config-name"))));
  EXPECT_THAT([] { parsed("run.id=1 --config-name"); },
              ThrowsMessage<UserError>(HasSubstr("--config-name NAME")));
  EXPECT_THAT([] { parsed("run.id=1 mode.optimizer=adam"); },
              ThrowsMessage<UserError>(HasSubstr("section")));
  EXPECT_THAT([] { parsed("run=fast run.id=1"); }, ThrowsMessage<UserError>(HasSubstr("section")));
}

TEST(CommandLine, refuses_text_that_could_not_be_read_back) {
  EXPECT_THAT([] { parse(std::vector<std::string>{"run.id=a\nb"}); },
              ThrowsMessage<UserError>(HasSubstr("printable")));
  EXPECT_THAT([] { parse(std::vector<std::string>{"run.id=\xff"}); },
              ThrowsMessage<UserError>(HasSubstr("printable")));
  EXPECT_THAT([] { parsed("run.id=1 output_dir=${run.id}"); },
              ThrowsMessage<UserError>(HasSubstr("${")));
}

TEST(CommandLine, says_how_to_give_a_missing_run_id) {
  EXPECT_THAT([] { parsed("mode=train"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("run.id"), HasSubstr("run.id=01"))));
  EXPECT_THAT([] { parsed("run.id="); }, ThrowsMessage<UserError>(HasSubstr("run.id=01")));
}

TEST(CommandLine, may_have_a_run_id_of_the_callers) {
  EXPECT_EQ(parsed("", {.default_run_id = "quick"}).configuration.run.id, "quick");
  EXPECT_EQ(parsed("run.id=7", {.default_run_id = "quick"}).configuration.run.id, "7");
  EXPECT_EQ(parsed("", {.missing = MissingKeys::leave}).configuration.run.id, kMissing);
}

TEST(CommandLine, notes_a_key_given_twice_and_uses_the_last) {
  const Resolved resolved = parsed("run.id=01 run.iterations=5 run.id=02");
  EXPECT_EQ(resolved.configuration.run.id, "02");
  EXPECT_THAT(resolved.notes, ElementsAre(AllOf(HasSubstr("run.id"), HasSubstr("'02'"))));
}

TEST(CommandLine, notes_and_ignores_hydras_own_switches) {
  const Resolved resolved =
      parsed("run.id=1 hydra/job_logging=disabled hydra.run.dir=. hydra/hydra_logging=none");
  EXPECT_EQ(resolved.notes.size(), 3U);
  EXPECT_THAT(resolved.notes.front(), HasSubstr("hydra/job_logging=disabled"));
  EXPECT_EQ(resolved.configuration, parsed("run.id=1").configuration);
}

TEST(CommandLine, notes_what_has_no_effect) {
  const Resolved resolved = parsed("run.id=1 framework.intra_op_parallelism_threads=8");
  EXPECT_THAT(resolved.notes, ElementsAre(AllOf(HasSubstr("framework.intra_op_parallelism_threads"),
                                                HasSubstr("run.threads"))));
  // At its default there is nothing to say.
  EXPECT_THAT(parsed("run.id=1 framework.distributed_mode=DDP").notes, IsEmpty());
}

TEST(CommandLine, refuses_to_leave_out_what_would_change_the_experiment) {
  EXPECT_THAT([] { parsed("run.id=1 framework.sparse=true"); },
              ThrowsMessage<UserError>(HasSubstr("sparse")));
  EXPECT_THAT([] { parsed("run.id=1 mode.quantization_aware=true"); },
              ThrowsMessage<UserError>(HasSubstr("quantization_aware")));
}

TEST(CommandLine, refuses_keys_of_another_mode_or_kind_of_data) {
  EXPECT_THAT([] { parsed("run.id=1 mode=inference mode.checkpoint_iteration=5"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("mode.checkpoint_iteration = '5'"),
                                             HasSubstr("mode=inference"))));
  EXPECT_THAT([] { parsed("run.id=1 data=synthetic data.file=x.h5"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("data.file"), HasSubstr("synthetic"))));
}

TEST(CommandLine, takes_one_file_or_several_in_every_spelling_of_a_list) {
  const auto files = [](const std::string& text) {
    return parse(std::vector<std::string>{"run.id=1", "data.file=" + text}).configuration.data.file;
  };
  EXPECT_THAT(files("a.h5"), ElementsAre("a.h5"));
  EXPECT_THAT(files("runs/*.h5"), ElementsAre("runs/*.h5"));
  EXPECT_THAT(files("run [1].h5"), ElementsAre("run [1].h5"));
  for (const std::string several :
       {"[a.h5,b c.h5]", "[ a.h5, b c.h5 ]", "a.h5,b c.h5", "a.h5 , b c.h5", "['a.h5',\"b c.h5\"]",
        "\"a.h5\",\"b c.h5\"", "'[a.h5,b c.h5]'"}) {
    EXPECT_THAT(files(several), ElementsAre("a.h5", "b c.h5")) << several;
  }
  EXPECT_THAT(files("[\"a,b.h5\",'it\\'s.h5']"), ElementsAre("a,b.h5", "it's.h5"));
  EXPECT_THAT(files("[]"), IsEmpty());
  EXPECT_THAT(parsed("run.id=1 data.aux_file=").configuration.data.aux_file, IsEmpty());
}

TEST(CommandLine, refuses_a_list_of_files_with_a_hole_in_it) {
  for (const std::string text : {"[a.h5", "a.h5,", "[a.h5,,b.h5]", "[a.h5,]", "['a.h5]",
                                 "[a.h5,'']", "['a.h5'b.h5]", ",a.h5"}) {
    EXPECT_THAT(([&] {
                  parse(std::vector<std::string>{"run.id=1", "data.file=" + text});
                }),
                ThrowsMessage<UserError>(
                    AllOf(HasSubstr("data.file"), HasSubstr("is not a list"), HasSubstr("[a,b]"))))
        << text;
  }
  EXPECT_THAT(([] {
                parse(std::vector<std::string>{"run.id=1", "data.file=[a.h5,${b}]"});
              }),
              ThrowsMessage<UserError>(HasSubstr("${")));
}

TEST(CommandLine, with_a_detector_has_no_files_no_order_and_threads_that_make_events) {
  const DataConfig data =
      parsed("run.id=1 data=detector data.threads=16 data.seed=3 data.epoch_events=1000")
          .configuration.data;
  EXPECT_EQ(data.kind(), DataKind::detector);
  EXPECT_TRUE(data.detector);
  EXPECT_FALSE(data.synthetic);
  EXPECT_EQ(data.order, EventOrder::serial_access) << "one event after the other";
  EXPECT_EQ(data.threads, 16);
  EXPECT_EQ(data.epoch_events, 1000);
  for (const std::string idle :
       {"data.file=x.h5", "data.aux_file=x.h5", "data.data_directory=x", "data.order=shuffled",
        "data.augment=flips", "data.image_producer=x", "data.label_producer=x"}) {
    EXPECT_THAT([&] { parsed("run.id=1 data=detector " + idle); },
                ThrowsMessage<UserError>(
                    AllOf(HasSubstr(idle.substr(0, idle.find('='))), HasSubstr("data=detector"))))
        << idle;
  }
  EXPECT_THAT([] { parsed("run.id=1 data.epoch_events=5"); },
              ThrowsMessage<UserError>(HasSubstr("data=real")));
  EXPECT_TRUE(parsed("run.id=1 data.detector=true").configuration.data.detector);
}

TEST(CommandLine, of_inference_keeps_to_the_order_of_the_file) {
  EXPECT_EQ(parsed("run.id=1 mode=inference").configuration.data.order, EventOrder::serial_access);
  EXPECT_THAT([] { parsed("run.id=1 mode=inference data.order=shuffled"); },
              ThrowsMessage<UserError>(HasSubstr("data.order")));
}

TEST(CommandLine, belongs_to_the_mode_of_its_command) {
  EXPECT_EQ(parsed("run.id=1", {.mode = Mode::inference}).configuration.mode.name, Mode::inference);
  EXPECT_EQ(parsed("run.id=1 mode=iotest", {.mode = Mode::iotest}).configuration.mode.name,
            Mode::iotest);
  EXPECT_THAT([] { parsed("run.id=1 mode=train", {.mode = Mode::inference}); },
              ThrowsMessage<UserError>(HasSubstr("mode=train")));
}

TEST(CommandLine, knows_the_names_of_version_2) {
  const Configuration c = parsed(
                              "run.id=1 run.run_length=3 run.run_units=epoch run.compute_mode=CUDA "
                              "data.random_mode=serial_access mode.optimizer.schedule=standard")
                              .configuration;
  EXPECT_EQ(c.run.length, 3);
  EXPECT_EQ(c.run.compute_mode, ComputeMode::gpu);
  EXPECT_EQ(c.data.order, EventOrder::serial_access);
  EXPECT_EQ(c.mode.optimizer.schedule, Schedule::warmup_flat_decay);
}

TEST(CommandLine, gives_an_optimizer_its_own_defaults) {
  EXPECT_EQ(parsed("run.id=1 mode.optimizer.name=rmsprop").configuration.mode.optimizer.epsilon,
            1e-4);
  EXPECT_EQ(parsed("run.id=1 mode.optimizer.name=adamw").configuration.mode.optimizer.weight_decay,
            0.01);
  EXPECT_EQ(parsed("run.id=1 mode.optimizer.weight_decay=0.2 mode.optimizer.name=adamw")
                .configuration.mode.optimizer.weight_decay,
            0.2);
}

TEST(CommandLine, refuses_settings_that_do_not_go_together) {
  EXPECT_THAT([] { parsed("run.id=1 mode.optimizer.weight_decay=0.1"); },
              ThrowsMessage<UserError>(HasSubstr("adamw")));
  EXPECT_THAT([] { parsed("run.id=1 mode.optimizer.momentum=0.9"); },
              ThrowsMessage<UserError>(HasSubstr("sgd")));
  EXPECT_THAT(
      [] {
        parsed(
            "run.id=1 mode.optimizer.loss_balance_scheme=even "
            "mode.optimizer.class_weights.neutrino=2");
      },
      ThrowsMessage<UserError>(HasSubstr("class_weights of 1, 1 and 2")));
  EXPECT_THAT([] { parsed("run.id=1 mode.optimizer.class_weights.background=0"); },
              ThrowsMessage<UserError>(HasSubstr("more than 0")));
  EXPECT_THAT([] { parsed("run.id=1 run.iterations=0"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("run.iterations"), HasSubstr("max_time"))));
  EXPECT_THAT([] { parsed("run.id=1 network.filter_size_deepest=4"); },
              ThrowsMessage<UserError>(HasSubstr("filter_size_deepest")));
}

// Defects of the reference that a configuration can show; SPEC 15 has their numbers.
TEST(ReferenceDefects, framework_seed_with_torch_crashes) {
  EXPECT_EQ(parsed("run.id=1 framework=torch framework.seed=54321").configuration.framework.seed,
            54321);
}

TEST(ReferenceDefects, start_index_is_ignored) {
  EXPECT_EQ(parsed("run.id=1 mode=inference mode.start_index=40").configuration.mode.start_index,
            40);
}

TEST(ReferenceDefects, default_framework_is_tensorflow) {
  EXPECT_EQ(parsed("run.id=1").configuration.framework.name, Framework::torch);
}

TEST(ReferenceDefects, default_aux_file_is_the_test_set) {
  EXPECT_THAT(parsed("run.id=1").configuration.data.aux_file, ElementsAre("cosmic_tagging_val.h5"));
}

TEST(ReferenceDefects, data_directory_needs_its_trailing_slash) {
  const auto path = [](const std::string& folder) {
    return parsed("run.id=1 data.file=light.h5 data.data_directory=" + folder)
        .configuration.data.file_paths()
        .at(0);
  };
  EXPECT_EQ(path("files/"), "files/light.h5");
  EXPECT_EQ(path("files"), "files/light.h5");
  EXPECT_EQ(path(""), "light.h5");
}

TEST(ReferenceDefects, inference_reads_500_batches_whatever_the_file_has) {
  EXPECT_EQ(parsed("run.id=1 mode=inference").configuration.run.iterations, 0);
  EXPECT_EQ(parsed("run.id=1 mode=inference run.iterations=3").configuration.run.iterations, 3);
}

}  // namespace
}  // namespace cosmic::config
