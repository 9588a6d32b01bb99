// Training on events that the simulated detector makes: those that `generate` writes, however many
// threads make them, and a run that stops goes on at the right one.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "checkpoint/checkpoint_folder.hpp"
#include "core/error.hpp"
#include "infer/inference.hpp"
#include "run/generate.hpp"
#include "run/run_data.hpp"
#include "run/some_events.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::train {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

class DetectorTraining : public testing::Test {
 protected:
  config::Configuration configuration(std::vector<std::string> words,
                                      const std::string& out = "out") const {
    words.insert(words.begin(), {"data.downsample=6", "data.seed=7", "run.length=4",
                                 "output_dir=" + (folder() / out).string()});
    return tiny_configuration(folder(), config::Mode::train, words);
  }
  TrainingSummary run(const std::vector<std::string>& words, const std::string& out = "out",
                      const TrainingHooks& hooks = {}) {
    return train(configuration(words, out), "cpu", log_.log(), hooks);
  }
  checkpoint::Checkpoint newest(const std::string& out = "out") const {
    return checkpoint::load_newest(folder() / out / "checkpoints").checkpoint;
  }
  std::map<std::string, std::vector<std::byte>> weights(const std::string& out = "out") const {
    std::map<std::string, std::vector<std::byte>> result;
    for (const auto& [name, tensor] : newest(out).tensors) {
      result[name] = tensor.bytes;
    }
    return result;
  }
  std::string error_of(const std::vector<std::string>& words) {
    try {
      run(words);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  static TrainingHooks stop_after(std::int64_t updates) {
    TrainingHooks hooks;
    hooks.stop_requested = [left = updates]() mutable { return --left <= 0; };
    return hooks;
  }

  const std::filesystem::path& folder() const { return folder_.path(); }
  const KeptLog& log() const { return log_; }

  RunFolder folder_;
  KeptLog log_;
};

TEST_F(DetectorTraining,
       sees_the_events_that_generate_writes_of_its_seed_and_validates_on_the_next) {
  run({"data=detector", "data.epoch_events=8"});  // as the file has, for the schedule
  EXPECT_THAT(log().text(), HasSubstr("Events come from the simulated detector (seed 7, every "
                                      "event new)"));
  run::generate({.events = 8, .seed = 7, .output = folder() / "train.h5", .threads = 2});
  run::generate({.events = 4, .seed = 8, .output = folder() / "test.h5", .threads = 2});
  run({"data.order=serial_access"}, "files");
  EXPECT_EQ(weights(), weights("files"));
  const auto validations = [&](const std::string& out) {
    std::ifstream file(folder() / out / "test_metrics.csv");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_NE(validations("out"), "");
  EXPECT_EQ(validations("out"), validations("files"));
}

TEST_F(DetectorTraining, has_the_same_bits_with_any_number_of_threads) {
  run({"data=detector", "data.threads=1"});
  run({"data=detector", "data.threads=3"}, "three");
  EXPECT_EQ(weights(), weights("three"));
}

TEST_F(DetectorTraining, that_stopped_goes_on_at_the_event_where_it_was) {
  run({"data=detector"}, "whole");
  EXPECT_EQ(run({"data=detector", "data.threads=2"}, "out", stop_after(2)).steps, 2);
  EXPECT_THAT(newest().run.loader, HasSubstr("next_sample=4"));
  EXPECT_EQ(run({"data=detector"}).first_step, 2);
  EXPECT_THAT(newest().run.loader, HasSubstr("next_sample=8"));
  EXPECT_EQ(weights(), weights("whole"));
}

TEST_F(DetectorTraining, is_not_taken_up_with_events_of_another_seed_or_of_a_file) {
  run({"data=detector"});
  EXPECT_THAT(error_of({"data=detector", "data.seed=9", "run.length=6"}),
              AnyOf(HasSubstr("are not those that the run"), HasSubstr("the saved state is")));
  write_random_events(folder() / "train.h5", 9, 1);
  EXPECT_NE(error_of({"data.downsample=6", "run.length=6"}), "");
}

TEST_F(DetectorTraining, begins_at_the_event_that_it_is_told_to) {
  const auto first_entry = [&](const std::vector<std::string>& words) {
    const auto data = run::open_run_data(configuration(words), run::Stream::training, {}, {});
    return data->next().entries.front();
  };
  EXPECT_EQ(first_entry({"data=detector"}), 0);
  EXPECT_EQ(first_entry({"data=detector", "mode.start_index=5"}), 5);
}

TEST_F(DetectorTraining, counts_epochs_of_as_many_events_as_it_is_told_to) {
  const TrainingSummary summary =
      run({"data=detector", "run.units=epoch", "run.length=2", "data.epoch_events=6"});
  EXPECT_EQ(summary.steps, 6) << "two epochs of six events, two in a batch";
}

TEST_F(DetectorTraining, is_measured_with_events_of_the_detector) {
  const run::SomeEvents events = run::some_events(configuration({"data=detector"}), {20, 32}, 2);
  EXPECT_THAT(events.origin, HasSubstr("the simulated detector"));
  EXPECT_EQ(events.images.size(), 2U * 3 * 20 * 32);
}

TEST_F(DetectorTraining, is_nothing_that_inference_could_go_through) {
  EXPECT_THAT(
      [&] {
        infer::infer(tiny_configuration(folder(), config::Mode::inference, {"data=detector"}),
                     "cpu", log_.log());
      },
      testing::ThrowsMessage<UserError>(
          AllOf(HasSubstr("data=detector"), HasSubstr("cosmictagger generate"))));
}

}  // namespace
}  // namespace cosmic::train
