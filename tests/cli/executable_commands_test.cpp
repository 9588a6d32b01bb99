// `compile`, `run`, `test`, `measure-performance` and `targets`, from the command line's words to
// files and text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.hpp"
#include "cli/run_command.hpp"
#include "compile/artifact/artifact_file.hpp"
#include "core/error.hpp"
#include "run/measure_performance.hpp"
#include "run/target_test.hpp"
#include "scratch_folder.hpp"
#include "session/safetensors.hpp"
#include "target/registry.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

void add_commands(Command& app) {
  add_compile(app);
  add_measure_performance(app);
  add_run(app);
  add_targets(app);
  add_test(app);
}

/// What `cosmictagger WORDS...` prints.
std::string run(const std::vector<std::string>& words) {
  return printed_by([&] { run_command(add_commands, words); });
}

class ExecutableCommands : public testing::Test {
 protected:
  ExecutableCommands() {
    write_random_events(folder_ / "train.h5", 5, 1);
    write_random_events(folder_ / "test.h5", 4, 2);
  }

  std::vector<std::string> words(const std::string& command,
                                 const std::vector<std::string>& more) const {
    std::vector<std::string> all{command};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::vector<std::string> compile_words(const std::string& mode) const {
    std::vector<std::string> all = words("compile", kTinyNetwork);
    all.insert(all.end(), {"mode=" + mode, "data.data_directory=" + folder_.path().string(),
                           "data.file=train.h5", "--output", artifact().string()});
    if (mode == "train") {
      all.push_back("data.aux_file=test.h5");
    }
    return all;
  }
  std::string run_artifact(const std::vector<std::string>& more) const {
    std::vector<std::string> all = words("run", {"--artifact", artifact().string()});
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  }
  std::string train_artifact(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"run.id=tiny",         "run.seed=7",   "output_dir=" + out(),
                                 "run.units=iteration", "run.length=3", "run.aux_iterations=2"};
    all.insert(all.end(), more.begin(), more.end());
    return run_artifact(all);
  }
  std::filesystem::path artifact() const { return folder_ / "tiny.cosmicx"; }
  std::string out() const { return (folder_ / "out").string(); }

  ScratchFolder folder_{"executable_commands"};
};

TEST_F(ExecutableCommands, compile_writes_what_run_trains_with_and_infers_with) {
  EXPECT_THAT(run(compile_words("train")),
              AllOf(HasSubstr("Compiled  mode=train"), HasSubstr("2 events of 16 x 32"),
                    HasSubstr("2 programs")));
  EXPECT_THAT(train_artifact(),
              AllOf(HasSubstr("Found the training step compiled in " + artifact().string()),
                    HasSubstr("Found the validation compiled in " + artifact().string()),
                    HasSubstr("complete after 3 steps")));
  std::filesystem::remove(artifact());
  run(compile_words("inference"));
  EXPECT_THAT(run_artifact({"run.id=tiny", "output_dir=" + out()}),
              AllOf(HasSubstr("Found the inference compiled in " + artifact().string()),
                    HasSubstr("Tagged 5 events")));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "out" / "predictions.h5"));
}

TEST_F(ExecutableCommands, run_is_a_training_run_like_any_other) {
  run(compile_words("train"));
  train_artifact();
  const std::string with_artifact =
      content_of(folder_ / "out" / "checkpoints" / "model-3.safetensors");
  std::filesystem::remove_all(folder_ / "out");
  KeptLog log;
  std::vector<std::string> all = kTinyNetwork;
  all.insert(all.end(), {"run.id=tiny", "run.seed=7", "output_dir=" + out(), "run.units=iteration",
                         "run.length=3", "run.aux_iterations=2", "data.aux_file=test.h5",
                         "data.data_directory=" + folder_.path().string(), "data.file=train.h5"});
  train::train(config::parse(all, {.mode = config::Mode::train}).configuration, "cpu", log.log());
  EXPECT_THAT(log.text(), HasSubstr("Compiled the training step in"));
  const session::TensorFile a =
      session::load_tensors(folder_ / "out" / "checkpoints" / "model-3.safetensors");
  std::ofstream(folder_ / "other.safetensors", std::ios::binary) << with_artifact;
  const session::TensorFile b = session::load_tensors(folder_ / "other.safetensors");
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const auto& [name, tensor] : a.tensors) {
    EXPECT_EQ(tensor.bytes, b.tensors.at(name).bytes) << name;
  }
}

TEST_F(ExecutableCommands, run_refuses_settings_that_the_file_was_not_compiled_for) {
  run(compile_words("train"));
  EXPECT_THAT([&] { train_artifact({"run.minibatch_size=1"}); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("input image: there 'f32[2x3x16x32]', here 'f32[1x3x16x32]'"),
                        HasSubstr("compile it again"))));
  EXPECT_THAT([&] { train_artifact({"network.n_initial_filters=3"}); },
              ThrowsMessage<DataError>(HasSubstr("program: there '")));
  EXPECT_THAT(
      [&] { train_artifact({"mode.optimizer.beta1=0.5"}); },
      ThrowsMessage<DataError>(AllOf(HasSubstr("pass apply-optimizer: there 'adam beta1=0.9"),
                                     HasSubstr("here 'adam beta1=0.5"))));
  EXPECT_THAT([&] { train_artifact({"mode=inference"}); },
              ThrowsMessage<UserError>(HasSubstr("mode=inference")));
}

TEST_F(ExecutableCommands, run_refuses_a_file_that_is_no_executable) {
  EXPECT_THAT(
      [&] {
        run({"run", "--artifact", (folder_ / "train.h5").string(), "run.id=1"});
      },
      ThrowsMessage<DataError>(HasSubstr("is not an executable of this program")));
}

TEST_F(ExecutableCommands, compile_replaces_nothing_unless_asked) {
  run(compile_words("inference"));
  EXPECT_THAT([&] { run(compile_words("inference")); },
              ThrowsMessage<UserError>(HasSubstr("already exists")));
  std::vector<std::string> again = compile_words("inference");
  again.push_back("--overwrite");
  EXPECT_NO_THROW(run(again));
}

TEST_F(ExecutableCommands, compile_needs_no_events) {
  std::vector<std::string> all = words("compile", kTinyNetwork);
  all.insert(all.end(), {"mode=inference", "run.minibatch_size=1", "--rows", "32", "--columns",
                         "16", "--output", artifact().string()});
  EXPECT_THAT(run(all), HasSubstr("1 events of 32 x 16"));
  const compile::artifact::Artifact written = compile::artifact::load_artifact(artifact());
  ASSERT_EQ(written.programs.size(), 1);
  EXPECT_EQ(*compile::artifact::find_fact(written.programs[0].made_from, "input image"),
            "f32[1x3x32x16]");
}

TEST_F(ExecutableCommands, compile_for_a_mode_without_a_target_says_so) {
  std::vector<std::string> all = compile_words("train");
  all.push_back("run.compute_mode=XPU");
  EXPECT_THAT([&] { run(all); },
              ThrowsMessage<TargetError>(HasSubstr("no target for run.compute_mode=XPU")));
  EXPECT_FALSE(std::filesystem::exists(artifact()));
}

TEST_F(ExecutableCommands, training_finds_its_programs_in_the_cache_the_second_time) {
  const std::vector<std::string> cached{"run.executable_cache=" + (folder_ / "cache").string(),
                                        "data.aux_file=test.h5"};
  KeptLog first;
  train::train(tiny_configuration(folder_.path(), config::Mode::train, cached), "cpu", first.log());
  EXPECT_THAT(first.text(), HasSubstr("The executable cache had 0 of 1 programs."));
  std::filesystem::remove_all(folder_ / "out");
  KeptLog second;
  train::train(tiny_configuration(folder_.path(), config::Mode::train, cached), "cpu",
               second.log());
  EXPECT_THAT(
      second.text(),
      AllOf(HasSubstr("Found the training step compiled in " + (folder_ / "cache").string()),
            HasSubstr("Found the validation compiled in"),
            HasSubstr("The executable cache had 1 of 1 programs."), Not(HasSubstr("Compiled"))));
}

TEST_F(ExecutableCommands, test_compares_every_value_with_the_reference_target) {
  std::vector<std::string> all = words("test", kTinyNetwork);
  all.insert(all.end(), {"--rows", "16", "--columns", "32", "run.precision=bfloat16"});
  EXPECT_THAT(run(all), AllOf(HasSubstr("\ninitial_convolution.conv "),
                              HasSubstr("Target cpu against reference, value by value"),
                              HasSubstr("bf16, master weights"), HasSubstr("WRONG          0;"),
                              HasSubstr("proves nothing 0\n"), HasSubstr("the same bits")));
  all.push_back("--all");
  EXPECT_THAT(run(all), HasSubstr("conv_kernel_gradient"));
}

TEST_F(ExecutableCommands, test_takes_events_from_a_file) {
  const config::Configuration configuration =
      tiny_configuration(folder_.path(), config::Mode::train);
  const run::TargetTest test = run::test_target(configuration, *target::make_target("cpu"), {16, 32});
  EXPECT_TRUE(test.passed()) << test.worst().layer << ' ' << test.worst().share();
  EXPECT_THAT(test.events_from, HasSubstr("train.h5"));
}

TEST_F(ExecutableCommands, measure_performance_counts_only_the_calls_after_the_first_ones) {
  for (const char* mode : {"train", "inference"}) {
    std::vector<std::string> all = words("measure-performance", kTinyNetwork);
    all.insert(all.end(), {std::string("mode=") + mode, "run.minibatch_size=3", "--rows", "16",
                           "--columns", "32", "--calls", "4", "--calls-before", "1", "--json"});
    const auto json = nlohmann::json::parse(run(all));
    EXPECT_EQ(json["mode"], mode);
    EXPECT_EQ(json["kind"], "measured");
    EXPECT_EQ(json["target"], "cpu");
    EXPECT_EQ(json["calls"], 4);
    EXPECT_EQ(json["events_per_call"], 3);
    const double least = json["latency_seconds"]["least"];
    const double median = json["latency_seconds"]["median"];
    const double most = json["latency_seconds"]["most"];
    EXPECT_GT(least, 0);
    EXPECT_LE(least, median);
    EXPECT_LE(median, most);
    EXPECT_LE(json["events_per_second"], 3 / least);
    EXPECT_GE(json["events_per_second"], 3 / most);
    EXPECT_GT(json["program_bytes"], 0);
    EXPECT_GE(json["peak_resident_bytes"], json["program_bytes"]);
  }
}

TEST_F(ExecutableCommands, measure_performance_prints_text_that_says_measured) {
  std::vector<std::string> all = words("measure-performance", kTinyNetwork);
  all.insert(all.end(), {"mode=inference", "--rows", "16", "--columns", "32", "--calls", "2"});
  EXPECT_THAT(run(all), AllOf(HasSubstr("events/s (measured)"), HasSubstr("median"),
                              HasSubstr("MB for the program")));
}

TEST(Performance, has_the_median_of_odd_and_even_numbers_of_calls) {
  run::Performance performance;
  performance.events_per_call = 2;
  performance.seconds = {4, 1, 3};
  EXPECT_EQ(performance.median_seconds(), 3);
  performance.seconds = {4, 1, 3, 2};
  EXPECT_EQ(performance.median_seconds(), 2.5);
  EXPECT_EQ(performance.events_per_second(), 0.8);
}

TEST(TargetsCommand, lists_targets_and_every_mode_without_one) {
  const std::string text = run({"targets"});
  EXPECT_THAT(text, AllOf(HasSubstr("cpu "), HasSubstr("reference "), HasSubstr("measured"),
                          HasSubstr("(default)"), HasSubstr("ipu "), HasSubstr("GC200, modelled")));
  const auto json = nlohmann::json::parse(run({"targets", "--json"}));
  std::set<std::string> modes;
  for (const auto& entry : json) {
    modes.insert(entry["compute_mode"]);
    EXPECT_EQ(entry["available"].get<bool>(), entry["reason"].get<std::string>().empty());
    EXPECT_TRUE(!entry["available"].get<bool>() || !entry["target"].get<std::string>().empty());
  }
  for (const char* mode : {"CPU", "GPU", "XPU", "HPU", "IPU", "RDU"}) {
    EXPECT_TRUE(modes.contains(mode)) << mode;
  }
}

}  // namespace
}  // namespace cosmic::cli
