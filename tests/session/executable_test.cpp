// Executables: what was compiled once runs again without compiling, with the same bits; and nothing
// runs that was compiled for something else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "compile/artifact/artifact_file.hpp"
#include "core/error.hpp"
#include "scratch_folder.hpp"
#include "session/small_model.hpp"

namespace cosmic::session {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::ThrowsMessage;

class ExecutableFile : public testing::Test {
 protected:
  ExecutableFile() : file_(folder_ / "small.cosmicx") {}

  Options loading(Options options = options_for("cpu")) const {
    options.executable = file_;
    return options;
  }

  ScratchFolder folder_{"executable"};
  std::filesystem::path file_;
};

/// Losses of a few steps, and the weights after them.
std::pair<std::vector<double>, NamedTensors> trained(TrainingModel& training,
                                                     std::int64_t accumulation = 1) {
  std::vector<double> losses;
  for (const char* stream : {"first", "second", "third"}) {
    const Batch batch = small_batch(stream, accumulation);
    losses.push_back(training(batch.image, batch.label, 1e-2).loss);
  }
  return {losses, training.state()->read_all()};
}

void expect_same(const NamedTensors& a, const NamedTensors& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) {
    EXPECT_EQ(tensor.bytes, b.at(name).bytes) << name;
  }
}

TEST_F(ExecutableFile, trains_with_the_bits_of_the_model_that_wrote_it) {
  for (const std::int64_t accumulation : {1, 2}) {
    Options options = options_for("cpu");
    options.gradient_accumulation = accumulation;
    TrainingModel compiled = compiled_training(options);
    compiled.export_executable(file_, Existing::replace);
    TrainingModel loaded = compiled_training(loading(options));
    EXPECT_THAT(loaded.report().passes, IsEmpty());
    EXPECT_THAT(loaded.report().found_in, AllOf(SizeIs(accumulation), Each(file_.string())));
    EXPECT_EQ(loaded.report().arena_bytes, compiled.report().arena_bytes);
    const auto [losses, state] = trained(compiled, accumulation);
    const auto [losses_again, state_again] = trained(loaded, accumulation);
    EXPECT_EQ(losses, losses_again);
    expect_same(state, state_again);
  }
}

TEST_F(ExecutableFile, infers_with_the_bits_of_the_model_that_wrote_it) {
  const Batch batch = small_batch("first");
  InferenceModel compiled = compiled_inference(options_for("cpu"));
  compiled.export_executable(file_);
  InferenceModel loaded = compiled_inference(loading());
  const std::span<const float> logits = compiled(batch.image);
  const std::span<const float> again = loaded(batch.image);
  EXPECT_EQ(std::vector(logits.begin(), logits.end()), std::vector(again.begin(), again.end()));
}

TEST_F(ExecutableFile, takes_the_threads_and_the_seed_of_who_runs_it) {
  compiled_training(options_for("cpu", 2)).export_executable(file_);
  Options options = options_for("cpu", 1);
  options.seed = 99;
  TrainingModel plain = compiled_training(options);
  TrainingModel loaded = compiled_training(loading(options));
  EXPECT_EQ(trained(plain).first, trained(loaded).first);
}

TEST_F(ExecutableFile, is_refused_on_another_target_with_both_names) {
  compiled_training(options_for("reference")).export_executable(file_);
  EXPECT_THAT([&] { compiled_training(loading()); },
              ThrowsMessage<DataError>(AllOf(HasSubstr(file_.string()),
                                             HasSubstr("target: there 'reference', here 'cpu'"),
                                             HasSubstr("compile it again"))));
}

TEST_F(ExecutableFile, is_refused_on_a_machine_with_other_features) {
  TrainingModel training = compiled_training(options_for("cpu"));
  // The same plan, as a machine with other vectors would have written it.
  compile::Plan plan = *training.plans().front();
  for (compile::Fact& fact : plan.origin.made_from) {
    fact.value = fact.name == "machine" ? "RVV vectors, blocks of 8 channels" : fact.value;
  }
  const compile::Plan* const plans[] = {&plan};
  compile::artifact::save_artifact(file_, plans, Existing::refuse);
  EXPECT_THAT([&] { compiled_training(loading()); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("machine: there 'RVV vectors"),
                                             HasSubstr("here '"), Not(HasSubstr("target:")))));
}

TEST_F(ExecutableFile, is_refused_for_another_network) {
  compiled_training(options_for("cpu")).export_executable(file_);
  model::UResNetOptions deeper = small_network();
  deeper.n_initial_filters = 6;
  EXPECT_THAT([&] { compiled_training(loading(), compile::Sgd{0.9}, deeper); },
              ThrowsMessage<DataError>(HasSubstr("program: there '")));
}

TEST_F(ExecutableFile, is_refused_for_another_optimizer_with_both_settings) {
  compiled_training(options_for("cpu")).export_executable(file_);
  EXPECT_THAT([&] { compiled_training(loading(), compile::Sgd{0.5}); },
              ThrowsMessage<DataError>(HasSubstr(
                  "pass apply-optimizer: there 'sgd momentum=0.9', here 'sgd momentum=0.5'")));
}

TEST_F(ExecutableFile, is_refused_for_other_options) {
  compiled_training(options_for("cpu")).export_executable(file_);
  Options accumulating = options_for("cpu");
  accumulating.gradient_accumulation = 3;
  EXPECT_THAT([&] { compiled_training(loading(accumulating)); },
              ThrowsMessage<DataError>(HasSubstr("gradient_accumulation: there '1', here '3'")));
  Options without_pass = options_for("cpu");
  without_pass.disabled_passes = {"drop-dead-nodes"};
  EXPECT_THAT([&] { compiled_training(loading(without_pass)); },
              ThrowsMessage<DataError>(HasSubstr("disabled_passes: there '', here")));
}

TEST_F(ExecutableFile, is_refused_for_another_batch_with_both_shapes) {
  compiled_inference(options_for("cpu")).export_executable(file_);
  const model::UResNet network(small_network());
  InferenceModel loaded(network, loading());
  EXPECT_THAT(
      [&] {
        loaded.compile({graph::DType::f32, {1, 3, 32, 48}});
      },
      ThrowsMessage<DataError>(
          HasSubstr("input image: there 'f32[2x3x32x48]', here 'f32[1x3x32x48]'")));
}

TEST_F(ExecutableFile, of_inference_does_not_train) {
  compiled_inference(options_for("cpu")).export_executable(file_);
  EXPECT_THAT([&] { compiled_training(loading()); },
              ThrowsMessage<DataError>(HasSubstr("input label: there (nothing)")));
}

TEST_F(ExecutableFile, before_compiling_is_an_error) {
  const model::UResNet network(small_network());
  const InferenceModel model(network, options_for("cpu"));
  EXPECT_THAT([&] { model.export_executable(file_); },
              ThrowsMessage<UserError>(HasSubstr("not been compiled")));
}

class ExecutableCache : public testing::Test {
 protected:
  ExecutableCache() {
    unsetenv("COSMIC_CACHE_DIR");
    unsetenv("POPTORCH_CACHE_DIR");
    unsetenv("POPDIST_EXECUTABLE_CACHE_PATH");
  }
  ~ExecutableCache() override {
    unsetenv("COSMIC_CACHE_DIR");
    unsetenv("POPTORCH_CACHE_DIR");
    unsetenv("POPDIST_EXECUTABLE_CACHE_PATH");
  }

  Options cached(const std::string& target = "cpu") const {
    Options options = options_for(target);
    options.executable_cache = folder_.path();
    return options;
  }
  static void expect_hits(const CompileReport& report, std::int64_t hits, std::int64_t misses) {
    EXPECT_EQ(report.cache_hits, hits);
    EXPECT_EQ(report.cache_misses, misses);
    EXPECT_EQ(report.passes.empty(), misses == 0);
  }

  ScratchFolder folder_{"cache"};
};

TEST_F(ExecutableCache, skips_passes_and_planning_at_the_second_start) {
  TrainingModel first = compiled_training(cached());
  expect_hits(first.report(), 0, 1);
  EXPECT_THAT(first.report().found_in, IsEmpty());
  TrainingModel second = compiled_training(cached());
  expect_hits(second.report(), 1, 0);
  EXPECT_THAT(second.report().found_in, ElementsAre(HasSubstr(folder_.path().string())));
  EXPECT_EQ(trained(first).first, trained(second).first);
}

TEST_F(ExecutableCache, misses_after_any_change) {
  compiled_training(cached());
  std::vector<Options> others(4, cached());
  others[0].gradient_accumulation = 2;
  others[1].outputs.logits = true;
  others[2].outputs.gradients = true;
  others[3].disabled_passes = {"drop-dead-nodes"};
  for (const Options& options : others) {
    EXPECT_EQ(compiled_training(options).report().cache_hits, 0);
  }
  EXPECT_EQ(compiled_training(cached("reference")).report().cache_hits, 0);
  EXPECT_EQ(compiled_training(cached(), compile::Adam{}).report().cache_hits, 0);
  EXPECT_EQ(compiled_training(cached(), compile::Sgd{0.8}).report().cache_hits, 0);
  model::UResNetOptions network = small_network();
  network.n_initial_filters = 2;
  EXPECT_EQ(compiled_training(cached(), compile::Sgd{0.9}, network).report().cache_hits, 0);
  expect_hits(compiled_training(cached()).report(), 1, 0);
}

TEST_F(ExecutableCache, is_for_all_kinds_of_models) {
  TrainingModel training = compiled_training(cached());
  compiled_inference(cached());
  InferenceModel inference = compiled_inference(cached(), training.state());
  expect_hits(inference.report(), 1, 0);
}

TEST_F(ExecutableCache, compiles_again_and_says_so_where_a_file_is_damaged) {
  TrainingModel first = compiled_training(cached());
  const std::filesystem::path file = folder_.path() / folder_.names().front();
  std::string bytes = content_of(file);
  bytes.resize(bytes.size() / 2);
  std::ofstream(file, std::ios::binary) << bytes;
  TrainingModel second = compiled_training(cached());
  expect_hits(second.report(), 0, 1);
  EXPECT_THAT(second.report().warnings, ElementsAre(HasSubstr("cut short")));
  EXPECT_EQ(trained(first).first, trained(second).first);
  expect_hits(compiled_training(cached()).report(), 1, 0);
}

TEST_F(ExecutableCache, that_cannot_be_written_is_a_warning) {
  std::ofstream(folder_ / "file") << "not a folder";
  Options options = cached();
  options.executable_cache = folder_ / "file" / "cache";
  TrainingModel training = compiled_training(options);
  expect_hits(training.report(), 0, 1);
  EXPECT_THAT(training.report().warnings, ElementsAre(HasSubstr("cannot be made")));
  trained(training);
}

TEST_F(ExecutableCache, that_others_can_write_is_a_warning_and_not_used) {
  compiled_training(cached());
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0777));
  TrainingModel training = compiled_training(cached());
  expect_hits(training.report(), 0, 1);
  EXPECT_THAT(training.report().warnings, ElementsAre(HasSubstr("can be written by others")));
  trained(training);
}

TEST_F(ExecutableCache, is_named_by_the_environment) {
  setenv("COSMIC_CACHE_DIR", folder_.path().c_str(), 1);
  compiled_training(options_for("cpu"));
  TrainingModel second = compiled_training(options_for("cpu"));
  expect_hits(second.report(), 1, 0);
  EXPECT_THAT(second.report().notes, IsEmpty());
}

TEST_F(ExecutableCache, honours_the_variable_of_poptorch_with_a_note) {
  setenv("POPTORCH_CACHE_DIR", folder_.path().c_str(), 1);
  TrainingModel first = compiled_training(options_for("cpu"));
  EXPECT_THAT(first.report().notes, ElementsAre(HasSubstr("as POPTORCH_CACHE_DIR says")));
  expect_hits(compiled_training(options_for("cpu")).report(), 1, 0);
}

TEST_F(ExecutableCache, of_poprun_was_not_used) {
  setenv("POPDIST_EXECUTABLE_CACHE_PATH", folder_.path().c_str(), 1);
  TrainingModel first = compiled_training(options_for("cpu"));
  EXPECT_THAT(first.report().notes,
              ElementsAre(HasSubstr("as POPDIST_EXECUTABLE_CACHE_PATH says")));
  expect_hits(compiled_training(options_for("cpu")).report(), 1, 0);
}

TEST_F(ExecutableCache, of_the_options_comes_before_that_of_the_environment) {
  const ScratchFolder other("other");
  setenv("COSMIC_CACHE_DIR", other.path().c_str(), 1);
  setenv("POPTORCH_CACHE_DIR", other.path().c_str(), 1);
  compiled_training(cached());
  EXPECT_THAT(other.names(), IsEmpty());
  EXPECT_THAT(folder_.names(), SizeIs(1));
}

TEST_F(ExecutableCache, keeps_the_size_that_the_options_allow) {
  compiled_training(cached());
  const std::uint64_t one = std::filesystem::file_size(folder_.path() / folder_.names().front());
  Options options = cached();
  options.executable_cache_bytes = one + one / 2;
  compiled_training(options, compile::Sgd{0.8});
  EXPECT_THAT(folder_.names(), SizeIs(1));
}

TEST_F(ExecutableCache, is_left_alone_where_somebody_wants_to_see_the_passes) {
  compiled_training(cached());
  Options options = cached();
  int dumps = 0;
  options.dump = [&](const std::string&, const graph::Graph&) { ++dumps; };
  compiled_training(options);
  EXPECT_GT(dumps, 0);
}

TEST_F(ExecutableCache, does_not_hide_an_unknown_pass) {
  compiled_training(cached());
  Options options = cached();
  options.disabled_passes = {"drop-everything"};
  EXPECT_THAT([&] { compiled_training(options); },
              ThrowsMessage<UserError>(HasSubstr("'drop-everything'")));
}

}  // namespace
}  // namespace cosmic::session
