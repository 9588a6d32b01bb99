#include "train/training.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "checkpoint/checkpoint_file.hpp"
#include "checkpoint/checkpoint_folder.hpp"
#include "core/error.hpp"
#include "train/tiny_run.hpp"

namespace cosmic::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kTarget = "cpu";

class Training : public testing::Test {
 protected:
  Training() {
    write_random_events(folder() / "train.h5", 9, 1);
    write_random_events(folder() / "test.h5", 4, 2);
  }

  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path out() const { return folder() / "out"; }
  config::Configuration configuration(const std::vector<std::string>& words = {}) const {
    return tiny_configuration(folder(), config::Mode::train, words);
  }
  TrainingSummary run(const std::vector<std::string>& words = {}, const TrainingHooks& hooks = {}) {
    return train(configuration(words), kTarget, log_.log(), hooks);
  }
  /// Stops after so many updates of this start.
  static TrainingHooks stop_after(std::int64_t updates) {
    TrainingHooks hooks;
    hooks.stop_requested = [left = updates]() mutable { return --left <= 0; };
    return hooks;
  }
  checkpoint::Checkpoint newest(const std::string& of = "out") const {
    return checkpoint::load_newest(folder() / of / "checkpoints").checkpoint;
  }
  std::string error_of(const std::vector<std::string>& words) {
    try {
      run(words);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  const KeptLog& log() const { return log_; }

 private:
  RunFolder folder_;
  KeptLog log_;
};

std::map<std::string, std::vector<std::byte>> bytes_of(const checkpoint::Checkpoint& checkpoint) {
  std::map<std::string, std::vector<std::byte>> result;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    result[name] = tensor.bytes;
  }
  return result;
}

/// Columns of a CSV file that do not tell the time.
std::vector<std::string> rows_without_times(const std::filesystem::path& path) {
  constexpr int kColumns = 1 + 1 + 20;  // step, loss, scores
  std::ifstream file(path);
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream columns(line);
    std::string row;
    std::string column;
    for (int i = 0; i < kColumns && std::getline(columns, column, ','); ++i) {
      row += column + ",";
    }
    rows.push_back(row);
  }
  return rows;
}

TEST_F(Training, runs_to_its_end_and_leaves_a_checkpoint_the_metrics_and_the_settings) {
  const TrainingSummary summary = run();
  EXPECT_EQ(summary.ending, Ending::complete);
  EXPECT_EQ(summary.steps, 6);
  EXPECT_EQ(newest().step, 6);
  EXPECT_EQ(summary.checkpoint, out() / "checkpoints" / "model-6.safetensors");
  EXPECT_EQ(rows_without_times(out() / "train_metrics.csv").size(), 1U + 6U);
  EXPECT_EQ(rows_without_times(out() / "test_metrics.csv").size(), 1U + 2U);  // steps 2 and 4
  std::ifstream yaml(out() / "config.yaml");
  std::stringstream text;
  text << yaml.rdbuf();
  EXPECT_EQ(config::from_yaml(text.str(), "config.yaml").run.minibatch_size, 2);
}

TEST_F(Training, that_was_stopped_at_any_step_goes_on_with_the_same_bits) {
  run({"output_dir=" + (folder() / "whole").string()});
  const auto whole = bytes_of(newest("whole"));
  for (std::int64_t first = 1; first < 6; ++first) {
    std::filesystem::remove_all(out());
    EXPECT_EQ(run({}, stop_after(first)).ending, Ending::stopped);
    EXPECT_EQ(newest().step, first);
    EXPECT_EQ(run().first_step, first);
    EXPECT_EQ(bytes_of(newest()), whole) << "stopped after " << first;
    for (const char* const file : {"train_metrics.csv", "test_metrics.csv"}) {
      EXPECT_EQ(rows_without_times(out() / file), rows_without_times(folder() / "whole" / file));
    }
  }
}

TEST_F(Training, in_a_shuffled_order_with_flips_goes_on_with_the_same_bits) {
  const std::vector<std::string> words{"data.order=shuffled", "data.augment=flips",
                                       "mode.optimizer.gradient_accumulation=2"};
  std::vector<std::string> elsewhere = words;
  elsewhere.push_back("output_dir=" + (folder() / "whole").string());
  run(elsewhere);
  run(words, stop_after(3));
  run(words);
  EXPECT_EQ(bytes_of(newest()), bytes_of(newest("whole")));
}

class TrainingIn : public Training,
                   public testing::WithParamInterface<std::pair<const char*, const char*>> {
 protected:
  /// The settings of the parameter, besides others.
  std::vector<std::string> in_format(std::vector<std::string> words = {}) const {
    std::istringstream settings(GetParam().second);
    for (std::string word; settings >> word;) {
      words.push_back(word);
    }
    return words;
  }
};

TEST_P(TrainingIn, goes_on_with_the_same_bits_and_is_not_float32) {
  const std::string whole = (folder() / "whole").string();
  run(in_format({"output_dir=" + whole}));
  run({"output_dir=" + (folder() / "float32").string()});
  run(in_format(), stop_after(3));
  run(in_format());
  EXPECT_EQ(bytes_of(newest()), bytes_of(newest("whole")));
  EXPECT_EQ(rows_without_times(out() / "test_metrics.csv"),
            rows_without_times(folder() / "whole" / "test_metrics.csv"));
  EXPECT_NE(rows_without_times(folder() / "float32" / "train_metrics.csv"),
            rows_without_times(folder() / "whole" / "train_metrics.csv"));
}

TEST_P(TrainingIn, is_not_taken_up_in_float32) {
  run(in_format());
  EXPECT_THAT(error_of({"run.length=8"}), HasSubstr("run.precision"));
}

INSTANTIATE_TEST_SUITE_P(
    Formats, TrainingIn,
    testing::Values(
        std::pair("bfloat16", "run.precision=bfloat16"),
        std::pair("pure_bfloat16", "run.precision=2 run.master_weights=false"),
        std::pair("stochastic_bfloat16", "run.precision=bfloat16 run.rounding=stochastic"),
        std::pair("accumulated_bfloat16",
                  "run.precision=bfloat16 run.master_weights=false run.rounding=stochastic "
                  "mode.optimizer.gradient_accumulation=2"),
        std::pair("float16", "run.precision=3")),
    [](const auto& instance) { return instance.param.first; });

TEST_F(Training, in_mixed_precision_is_refused_with_a_reason_where_there_is_no_loss_scale) {
  EXPECT_THAT(error_of({"run.precision=mixed"}),
              AllOf(HasSubstr("run.precision=mixed"), HasSubstr("loss scaling"),
                    HasSubstr("run.precision=bfloat16")));
}

TEST_F(Training, with_half_partials_is_refused_with_a_reason_where_sums_are_float32) {
  EXPECT_THAT(error_of({"run.precision=float16", "run.partials=float16"}),
              AllOf(HasSubstr("partials"), HasSubstr("float32")));
}

TEST_F(Training, whose_newest_checkpoint_is_damaged_goes_on_from_the_one_before_and_says_so) {
  run({"mode.checkpoint_iteration=2"});
  const auto whole = bytes_of(newest());
  std::filesystem::resize_file(out() / "checkpoints" / "model-6.safetensors", 1000);
  EXPECT_EQ(run({"mode.checkpoint_iteration=2"}).first_step, 4);
  EXPECT_THAT(log().text(), HasSubstr("WARNING"));
  EXPECT_THAT(log().text(), HasSubstr("model-6.safetensors"));
  EXPECT_EQ(bytes_of(newest()), whole);
}

TEST_F(Training, is_not_taken_up_with_another_network) {
  run();
  const std::string error = error_of({"network.n_initial_filters=3"});
  EXPECT_THAT(error, HasSubstr("network.n_initial_filters"));
  EXPECT_THAT(error, HasSubstr("2"));
  EXPECT_THAT(error, HasSubstr("3"));
}

TEST_F(Training, is_not_taken_up_with_other_events) {
  run();
  std::filesystem::remove(folder() / "train.h5");
  write_random_events(folder() / "train.h5", 9, 99);
  EXPECT_THAT(error_of({"run.length=8"}), HasSubstr("are not those that the run"));
}

TEST_F(Training, whose_loss_is_no_number_stops_with_step_events_and_the_state_before) {
  const std::string error =
      error_of({"mode.optimizer.schedule=flat", "mode.optimizer.learning_rate=1e30",
                "mode.optimizer.name=sgd", "run.length=20"});
  EXPECT_THAT(error, HasSubstr("the loss of step"));
  EXPECT_THAT(error, HasSubstr("events "));
  EXPECT_THAT(error, HasSubstr("before_lost_loss.safetensors"));
  const checkpoint::Checkpoint before =
      checkpoint::load_checkpoint(out() / "before_lost_loss.safetensors");
  EXPECT_GT(before.step, 0);
  EXPECT_FALSE(before.tensors.empty());
}

TEST_F(Training, ends_when_validation_does_not_become_better) {
  const TrainingSummary summary =
      run({"mode.early_stopping_patience=2", "run.aux_iterations=1", "run.length=500",
           "mode.optimizer.schedule=flat", "mode.optimizer.learning_rate=0.1"});
  EXPECT_EQ(summary.ending, Ending::no_improvement);
  EXPECT_LT(summary.steps, 500);
}

TEST_F(Training, keeps_the_best_checkpoint_besides) {
  run({"mode.keep_best=true", "run.aux_iterations=1"});
  EXPECT_GT(checkpoint::load_newest(folder() / "out" / "best").checkpoint.step, 0);
}

TEST_F(Training, ends_before_its_time_is_up) {
  const TrainingSummary summary = run({"run.max_time=0.2s", "run.length=1000000"});
  EXPECT_EQ(summary.ending, Ending::out_of_time);
  EXPECT_EQ(newest().step, summary.steps);
}

TEST_F(Training, without_a_validation_file_says_so_and_trains) {
  std::filesystem::remove(folder() / "test.h5");
  EXPECT_EQ(run().steps, 6);
  EXPECT_THAT(log().text(), HasSubstr("no validation"));
}

TEST_F(Training, of_a_number_of_iterations_adds_as_many_when_it_is_started_again) {
  run({"run.length=0", "run.iterations=2"});
  EXPECT_EQ(run({"run.length=0", "run.iterations=2"}).steps, 4);
}

TEST_F(Training, on_synthetic_data_needs_no_file_and_goes_on_with_the_same_bits) {
  const std::vector<std::string> words{"data=synthetic", "data.downsample=6", "run.length=4"};
  std::vector<std::string> elsewhere = words;
  elsewhere.push_back("output_dir=" + (folder() / "whole").string());
  run(elsewhere);
  run(words, stop_after(2));
  run(words);
  EXPECT_EQ(bytes_of(newest()), bytes_of(newest("whole")));
}

TEST_F(Training, starts_from_the_weights_of_another_run) {
  run();
  const std::string elsewhere = (folder() / "second").string();
  run({"output_dir=" + elsewhere, "mode.weights_location=" + (out() / "checkpoints").string(),
       "run.length=7"});
  EXPECT_EQ(newest("second").step, 7);
}

}  // namespace
}  // namespace cosmic::train
