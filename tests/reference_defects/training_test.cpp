// Defects of the reference's training (docs/reference-defects.md).
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include "config/parse.hpp"
#include "core/error.hpp"
#include "data/larcv/event_file.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "reference_defects/board_events.hpp"
#include "reference_defects/program.hpp"
#include "run/run_data.hpp"
#include "session/model.hpp"

namespace cosmic {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

config::Configuration settings(const std::vector<std::string>& words = {"run.id=1"}) {
  return config::parse(words, {.mode = config::Mode::train}).configuration;
}

class TrainingDefect : public ProgramTest {
 protected:
  /// A column of the metrics of a run.
  std::vector<double> column(const std::string& id, const std::string& name,
                             const std::string& table = "train_metrics.csv") const {
    std::istringstream file(content_of(folder_ / id / table));
    std::vector<double> values;
    std::size_t wanted = std::string::npos;
    for (std::string line; std::getline(file, line);) {
      std::istringstream cells(line);
      std::string cell;
      for (std::size_t i = 0; std::getline(cells, cell, ','); ++i) {
        if (values.empty() && wanted == std::string::npos && cell == name) {
          wanted = i;
        } else if (i == wanted) {
          values.push_back(std::stod(cell));
        }
      }
    }
    return values;
  }

  /// What a user is told who trains with a setting: an error, or what is printed beside the log.
  std::string told(const std::string& id, const std::string& setting) const {
    try {
      return run("train", id, {setting}).errors;
    } catch (const UserError& error) {
      return error.what();
    } catch (const TargetError& error) {
      return error.what();
    }
  }
};

using Quirk02InARun = TrainingDefect;
using Quirk12 = TrainingDefect;
using Quirk13 = TrainingDefect;
using Quirk27 = TrainingDefect;
using Quirk28 = TrainingDefect;
using Quirk31 = TrainingDefect;
using Quirk32 = TrainingDefect;
using Quirk34 = TrainingDefect;
using Quirk35 = TrainingDefect;
using Quirk38 = TrainingDefect;
using Quirk41 = TrainingDefect;

TEST_F(Quirk02InARun, the_scheme_even_trains_on_events_without_a_neutrino) {
  std::vector<data::SparseEvent> cosmic_only = events();
  for (data::SparseEvent& event : cosmic_only) {
    for (data::SparsePlane& plane : event.labels) {
      std::replace(plane.values.begin(), plane.values.end(), 2.0F, 1.0F);
    }
  }
  write_events("cosmic_only.h5", cosmic_only);
  run("train", "even", {"data.file=cosmic_only.h5", "mode.optimizer.loss_balance_scheme=even"});
  const std::vector<double> losses = column("even", "loss");
  ASSERT_EQ(losses.size(), 3U);
  for (const double loss : losses) {
    EXPECT_TRUE(std::isfinite(loss));
    EXPECT_GT(loss, 0);
  }
}

// Both spellings compute the same run, which is the float32 one up to the rounding of half
// precision (2^-11 a value; activations of a few layers add up to some of it), and not its bits.
TEST_F(Quirk12, float16_is_computed_and_is_neither_float32_nor_something_else) {
  run("train", "plain");
  run("train", "named", {"run.precision=float16"});
  run("train", "numbered", {"run.precision=3"});
  EXPECT_EQ(bits("named"), bits("numbered"));
  EXPECT_NE(bits("named"), bits("plain"));
  run("train", "other_half", {"run.precision=bfloat16"});
  EXPECT_NE(bits("named"), bits("other_half"));
  const double in_float32 = column("plain", "loss").at(0);
  const double in_float16 = column("named", "loss").at(0);
  EXPECT_NE(in_float16, in_float32);
  EXPECT_NEAR(in_float16, in_float32, 4 * std::ldexp(1, -11) * in_float32);
  EXPECT_THAT(newest("named").run.configuration, HasSubstr("precision: float16"));
}

TEST_F(Quirk12, float16_is_not_taken_up_as_float32) {
  run("train", "half", {"run.precision=float16"});
  EXPECT_THAT([&] { run("train", "half"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("run.precision"), HasSubstr("float16"))));
}

TEST_F(Quirk13, mixed_trains_on_a_cpu_in_float16_with_a_loss_scale) {
  run("train", "plain");
  run("train", "named", {"run.precision=mixed"});
  run("train", "numbered", {"run.precision=1"});
  EXPECT_EQ(bits("named"), bits("numbered"));
  EXPECT_NE(bits("named"), bits("plain"));
  EXPECT_EQ(newest("named").step, 3);
  const double in_float32 = column("plain", "loss").at(0);
  EXPECT_NEAR(column("named", "loss").at(0), in_float32, 4 * std::ldexp(1, -11) * in_float32);
  EXPECT_EQ(column("named", "loss_scale"), std::vector<double>(3, 65536));
}

// The reference starts the clock after the step; 1e-6 s is what it shows. On events large enough
// for a step to be most of an iteration, the times of steps are most of the time there is, and
// none is longer than the time since the line before.
TEST_F(Quirk27, step_time_is_the_time_of_the_step) {
  std::vector<data::SparseEvent> large;
  for (std::int64_t number = 0; number < 4; ++number) {
    large.push_back(data::random_event(data::grid_of(64, 128), 0.3, 1, number));
  }
  write_events("large.h5", large);
  run("train", "timed",
      {"data.file=large.h5", "network.n_initial_filters=8", "run.iterations=12", "run.saver=false",
       "mode.checkpoint_iteration=100"});
  const std::vector<double> steps = column("timed", "step_time");
  const std::vector<double> rates = column("timed", "global_step_per_sec");
  ASSERT_EQ(steps.size(), 12U);
  ASSERT_EQ(rates.size(), 12U);
  double in_steps = 0;
  double in_all = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) {  // before the first there is no line
    const double since_last_line = 1 / rates[i];
    EXPECT_GT(steps[i], 1e-4) << "row " << i;
    EXPECT_LE(steps[i], 1.001 * since_last_line) << "row " << i;
    in_steps += steps[i];
    in_all += since_last_line;
  }
  EXPECT_GT(in_steps, 0.5 * in_all);
}

TEST_F(Quirk28, validation_leaves_no_trace_in_the_training) {
  run("train", "without");
  run("train", "with", {"data.aux_file=events.h5", "run.aux_iterations=1"});
  EXPECT_TRUE(std::filesystem::exists(folder_ / "with" / "test_metrics.csv"));
  EXPECT_EQ(bits("with"), bits("without"));
}

TEST_F(Quirk28, validation_keeps_nothing_for_gradients) {
  model::UResNetOptions small;
  small.n_initial_filters = 4;
  small.depth = 2;
  small.blocks_per_layer = 1;
  small.blocks_deepest_layer = 1;
  small.blocks_final = 1;
  small.bottleneck_deepest = 6;
  const model::UResNet network(small);
  const model::SegmentationLoss loss;
  const session::BatchTypes types{{graph::DType::f32, {1, 3, 32, 32}},
                                  {graph::DType::u8, {1, 3, 32, 32}}};
  session::Options options;
  options.target = "cpu";
  options.threads = 1;
  session::TrainingModel training(network, loss, compile::Adam{}, options);
  const session::CompileReport trained = training.compile(types);
  session::EvaluationModel validation(network, loss, options, training.state());
  EXPECT_LT(2 * validation.compile(types).peak_live_bytes, trained.peak_live_bytes);
}

TEST_F(Quirk31, distributed_training_on_the_cpu_runs_as_one_process) {
  run("train", "distributed", {"run.distributed=true"});
  EXPECT_EQ(newest("distributed").step, 3);
}

TEST_F(Quirk31, one_of_several_processes_is_refused_instead_of_repeating_the_work) {
  setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  EXPECT_THAT(told("several", "run.distributed=true"), HasSubstr("OMPI_COMM_WORLD_SIZE is 2"));
  unsetenv("OMPI_COMM_WORLD_SIZE");
}

TEST_F(Quirk31, instances_of_poprun_and_pals_are_refused_instead_of_training_alone) {
  for (const char* const variable : {"POPDIST_NUM_TOTAL_REPLICAS", "PALS_RANKID", "PMI_SIZE"}) {
    setenv(variable, "4", 1);
    EXPECT_THAT(told("several", "run.distributed=true"),
                HasSubstr(std::string(variable) + " is 4"));
    EXPECT_THAT(
        run("train", std::string("alone") + variable, {"run.distributed=false"}).errors,
        HasSubstr(std::string("note: ") + variable + " is 4, but this process works alone"));
    unsetenv(variable);
  }
}

TEST_F(Quirk32, framework_seed_gives_the_first_weights) {
  run("train", "a", {"framework.seed=5"});
  run("train", "b", {"framework.seed=5"});
  run("train", "c", {"framework.seed=6"});
  EXPECT_EQ(bits("a"), bits("b"));
  EXPECT_NE(bits("a"), bits("c"));
}

// channels_last is the default, as in the reference.
TEST_F(Quirk34, the_place_of_channels_changes_nothing_and_is_said_to) {
  run("train", "last", {"data.data_format=channels_last"});
  EXPECT_THAT(run("train", "first", {"data.data_format=channels_first"}).errors,
              HasSubstr("data.data_format"));
  EXPECT_EQ(bits("last"), bits("first"));
}

TEST_F(Quirk35, there_is_one_framework_and_it_is_not_tensorflow) {
  EXPECT_EQ(settings().framework.name, config::Framework::torch);
  EXPECT_EQ(settings().output_dir, "output/torch/uresnet/1/");
  EXPECT_EQ(settings({"run.id=1", "framework=tensorflow"}).output_dir,
            "output/tensorflow/uresnet/1/");
}

TEST_F(Quirk35, the_name_of_the_framework_changes_no_bit_of_a_run) {
  run("train", "unnamed");
  run("train", "torch", {"framework=torch"});
  run("train", "tensorflow", {"framework=tensorflow"});
  EXPECT_EQ(bits("unnamed"), bits("torch"));
  EXPECT_EQ(bits("unnamed"), bits("tensorflow"));
}

/// The three files that the reference's settings name, so that a run without data.file and
/// data.aux_file takes its pick. Only two may be opened: the third is none that could be read.
class DefaultFiles : public TrainingDefect {
 protected:
  DefaultFiles() {
    write_events("cosmic_tagging_train.h5", events(6));
    std::vector<data::SparseEvent> unseen = events(10);
    unseen.erase(unseen.begin(), unseen.begin() + 6);
    write_events("cosmic_tagging_val.h5", unseen);
    std::ofstream(folder_ / "cosmic_tagging_test.h5") << "opening the test set is an error";
  }

  Printed train_on_default_files(const std::string& id) const {
    std::vector<std::string> words = tiny_run(id);
    words.insert(words.end(), {"run.iterations=3", "run.aux_iterations=1",
                               "data.order=serial_access", "run.saver=false"});
    return run_words("train", words);
  }
};

using Quirk37 = DefaultFiles;

TEST_F(Quirk37, validation_is_on_the_validation_set_and_the_test_set_stays_closed) {
  EXPECT_EQ(settings().data.aux_file, std::vector<std::string>{"cosmic_tagging_val.h5"});
  train_on_default_files("defaults");
  run("train", "spelled_out",
      {"data.file=cosmic_tagging_train.h5", "data.aux_file=cosmic_tagging_val.h5",
       "run.aux_iterations=1"});
  EXPECT_EQ(column("defaults", "loss", "test_metrics.csv").size(), 2U);
  EXPECT_EQ(column("defaults", "loss", "test_metrics.csv"),
            column("spelled_out", "loss", "test_metrics.csv"));
  run("train", "on_training_set",
      {"data.file=cosmic_tagging_train.h5", "data.aux_file=cosmic_tagging_train.h5",
       "run.aux_iterations=1"});
  EXPECT_NE(column("defaults", "loss", "test_metrics.csv"),
            column("on_training_set", "loss", "test_metrics.csv"));
}

TEST_F(Quirk37, a_missing_validation_set_is_named_and_not_replaced_by_the_test_set) {
  std::filesystem::remove(folder_ / "cosmic_tagging_val.h5");
  const Printed printed = train_on_default_files("none");
  EXPECT_THAT(printed.output + printed.errors,
              AllOf(HasSubstr("cosmic_tagging_val.h5"), HasSubstr("no validation")));
  EXPECT_EQ(newest("none").step, 3);
}

TEST_F(Quirk38, pictures_come_with_every_25th_entry_of_the_curves) {
  const auto steps_with = [&](const std::string& id, const std::string& tag) {
    std::vector<std::int64_t> steps;
    for (const BoardEvent& event : board_events(folder_ / id / "train")) {
      if (event.has(tag)) {
        steps.push_back(event.step);
      }
    }
    return steps;
  };
  const std::vector<std::string> words{"mode.no_summary_images=false", "run.iterations=52",
                                       "mode.checkpoint_iteration=100"};
  for (const std::int64_t between : {1, 2}) {
    const std::string id = "every" + std::to_string(between);
    std::vector<std::string> all = words;
    all.push_back("mode.summary_iteration=" + std::to_string(between));
    run("train", id, all);
    std::vector<std::int64_t> entries;
    std::vector<std::int64_t> pictures;
    for (std::int64_t step = 0; step < 52; ++step) {
      if (step % between == 0) {
        entries.push_back(step);
      }
      if (step % (25 * between) == 0) {
        pictures.push_back(step);
      }
    }
    EXPECT_EQ(steps_with(id, "Average/mIoU"), entries) << id;
    for (const char* const picture : {"prediction/plane_0", "label/plane_2"}) {
      EXPECT_EQ(steps_with(id, picture), pictures) << id;
    }
  }
  run("train", "none", {"run.iterations=2"});
  EXPECT_THAT(steps_with("none", "prediction/plane_0"), IsEmpty());
}

// Eight epochs of two updates, the last five of them decay: up for three updates, down for three.
TEST_F(Quirk41, one_cycle_trains_with_a_rate_that_goes_up_and_down_and_decays) {
  run("train", "cycle",
      {"mode.optimizer.schedule=one_cycle", "run.length=8", "run.units=epoch", "run.iterations=0",
       "run.minibatch_size=3", "mode.optimizer.learning_rate=4e-4",
       "mode.optimizer.minimum_learning_rate=1e-4", "mode.optimizer.floor_learning_rate=5e-5"});
  EXPECT_EQ(newest("cycle").step, 16);
  std::vector<float> rates;
  for (const BoardEvent& event : board_events(folder_ / "cycle" / "train")) {
    if (const std::optional<float> rate = event.value("learning_rate")) {
      rates.push_back(*rate);
    }
  }
  ASSERT_EQ(rates.size(), 16U);
  const std::vector<float> up_and_down{1e-4F, 2e-4F, 3e-4F, 4e-4F, 3e-4F, 2e-4F};
  for (std::size_t step = 0; step < up_and_down.size(); ++step) {
    EXPECT_NEAR(rates[step], up_and_down[step], 1e-9) << "step " << step;
  }
  for (std::size_t step = 6; step < rates.size(); ++step) {
    const double decayed = 5e-5 + 5e-5 * std::exp(-0.01 * static_cast<double>(step - 6));
    EXPECT_NEAR(rates[step], decayed, 1e-9) << "step " << step;
  }
  run("train", "flat",
      {"mode.optimizer.schedule=flat", "run.length=8", "run.units=epoch", "run.iterations=0",
       "run.minibatch_size=3", "mode.optimizer.learning_rate=4e-4"});
  EXPECT_NE(bits("cycle"), bits("flat"));
}

TEST_F(Quirk41, networks_with_block_concat_and_in_3d_learn_and_tag) {
  write_events("one.h5", events(1));
  for (const std::string setting : {"network.block_concat=true", "network.conv_mode=conv_3D"}) {
    const std::string id = setting.substr(setting.find('=') + 1);
    run("train", id,
        {setting, "data.file=one.h5", "run.minibatch_size=1", "run.iterations=60",
         "mode.optimizer.schedule=flat", "mode.optimizer.learning_rate=0.01",
         "mode.checkpoint_iteration=100", "run.saver=false"});
    const std::vector<double> losses = column(id, "loss");
    ASSERT_EQ(losses.size(), 60U) << setting;
    // One event of random labels over and over; other networks of this size get there too.
    EXPECT_LT(losses.back(), 0.9 * losses.front()) << setting;
    run("infer", id, {setting, "run.minibatch_size=1"});
    data::larcv::ReadWarnings warnings;
    EXPECT_EQ(data::larcv::EventFile(folder_ / id / "predictions.h5", warnings).size(), kEvents);
  }
}

class Quirk41OnDefaultFiles : public DefaultFiles {};

TEST_F(Quirk41OnDefaultFiles, training_is_on_the_training_set) {
  EXPECT_EQ(settings().data.file, std::vector<std::string>{"cosmic_tagging_train.h5"});
  train_on_default_files("defaults");
  const auto fingerprint = [&](const std::string& file) {
    const config::Configuration on_file =
        settings({"run.id=1", "data.data_directory=" + folder_.path().string(), "data.file=" + file,
                  "data.downsample=0", "run.minibatch_size=1"});
    return run::open_run_data(on_file, run::Stream::training, std::nullopt, {})->fingerprint();
  };
  const std::string trained_on = newest("defaults").run.data_fingerprint;
  EXPECT_EQ(trained_on, fingerprint("cosmic_tagging_train.h5"));
  EXPECT_NE(trained_on, fingerprint("cosmic_tagging_val.h5"));
}

}  // namespace
}  // namespace cosmic
