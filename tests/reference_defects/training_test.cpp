// Defects of the reference's training (docs/reference-defects.md).
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <sstream>

#include "config/parse.hpp"
#include "core/error.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "reference_defects/program.hpp"
#include "session/model.hpp"
#include "train/run_outputs.hpp"

namespace cosmic {
namespace {

using testing::HasSubstr;

config::Configuration settings(const std::vector<std::string>& words = {"run.id=1"}) {
  return config::parse(words, {.mode = config::Mode::train}).configuration;
}

class TrainingDefect : public ProgramTest {
 protected:
  /// A column of train_metrics.csv.
  std::vector<double> column(const std::string& id, const std::string& name) const {
    std::istringstream file(content_of(folder_ / id / "train_metrics.csv"));
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

using Quirk12 = TrainingDefect;
using Quirk13 = TrainingDefect;
using Quirk27 = TrainingDefect;
using Quirk28 = TrainingDefect;
using Quirk31 = TrainingDefect;
using Quirk32 = TrainingDefect;
using Quirk34 = TrainingDefect;
using Quirk38 = TrainingDefect;
using Quirk41 = TrainingDefect;

// A run in float16 either is none, or says so, or computes something else than float32.
TEST_F(Quirk12, float16_is_never_float32_in_silence) {
  for (const char* const setting : {"run.precision=float16", "run.precision=3"}) {
    const std::string id = setting;
    if (told(id, setting).find("float16") == std::string::npos) {
      run("train", "plain");
      EXPECT_NE(bits(id), bits("plain")) << setting;
    }
  }
}

TEST_F(Quirk13, mixed_trains_or_is_refused_by_name) {
  const std::string said = told("mixed", "run.precision=mixed");
  if (std::filesystem::exists(folder_ / "mixed" / "train_metrics.csv")) {
    const std::vector<double> losses = column("mixed", "loss");
    ASSERT_EQ(losses.size(), 3U);
    EXPECT_TRUE(std::isfinite(losses.back()));
  } else {
    EXPECT_THAT(said, HasSubstr("mixed"));
  }
}

TEST_F(Quirk27, step_time_is_the_time_of_the_step) {
  run("train", "timed");
  const std::vector<double> steps = column("timed", "step_time");
  ASSERT_EQ(steps.size(), 3U);
  for (const double seconds : steps) {
    EXPECT_GT(seconds, 0);
  }
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

TEST(Quirk35, there_is_one_framework_and_it_is_not_tensorflow) {
  EXPECT_EQ(settings().framework.name, config::Framework::torch);
}

TEST(Quirk37, validation_is_not_on_the_test_set) {
  EXPECT_EQ(settings().data.aux_file, std::vector<std::string>{"cosmic_tagging_val.h5"});
}

TEST_F(Quirk38, pictures_come_with_every_25th_entry_of_the_curves) {
  const config::Configuration configuration =
      settings({"run.id=1", "mode.no_summary_images=false", "mode.summary_iteration=2"});
  output::RunLog log({}, [](const std::string&) {});
  std::filesystem::create_directories(folder_ / "run");
  const train::RunOutputs outputs(configuration, folder_ / "run", 0, Provenance::measured, log);
  EXPECT_TRUE(outputs.wants_images(0));
  EXPECT_FALSE(outputs.wants_images(25));
  EXPECT_TRUE(outputs.wants_images(50));
}

TEST_F(Quirk41, one_cycle_trains) {
  run("train", "cycle",
      {"mode.optimizer.schedule=one_cycle", "run.length=20", "run.units=epoch", "run.iterations=0",
       "run.minibatch_size=6"});
  EXPECT_EQ(newest("cycle").step, 20);
}

TEST_F(Quirk41, networks_with_block_concat_and_in_3d_train) {
  run("train", "concat", {"network.block_concat=true"});
  EXPECT_EQ(newest("concat").step, 3);
  run("train", "3d", {"network.conv_mode=conv_3D"});
  EXPECT_EQ(newest("3d").step, 3);
}

TEST_F(Quirk41, training_is_on_the_training_set) {
  EXPECT_EQ(settings().data.file, std::vector<std::string>{"cosmic_tagging_train.h5"});
}

}  // namespace
}  // namespace cosmic
