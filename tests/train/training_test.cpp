#include "train/training.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>

#include "checkpoint/checkpoint_file.hpp"
#include "checkpoint/checkpoint_folder.hpp"
#include "core/error.hpp"
#include "data/larcv/larcv_source.hpp"
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

TEST_F(Training, with_an_average_of_weights_goes_on_with_the_same_bits) {
  const std::vector<std::string> words{"mode.weights_average=0.9"};
  std::vector<std::string> elsewhere = words;
  elsewhere.push_back("output_dir=" + (folder() / "whole").string());
  run(elsewhere);
  run(words, stop_after(3));
  run(words);
  EXPECT_TRUE(checkpoint::has_averages(newest()));
  EXPECT_EQ(bytes_of(newest()), bytes_of(newest("whole")));
  EXPECT_EQ(rows_without_times(out() / "test_metrics.csv"),
            rows_without_times(folder() / "whole" / "test_metrics.csv"));
  EXPECT_THAT(log().text(), HasSubstr("A moving average of the weights is kept"));
}

TEST_F(Training, validates_the_average_of_weights_and_trains_the_weights) {
  run();
  const auto updates = rows_without_times(out() / "train_metrics.csv");
  const auto validations = rows_without_times(out() / "test_metrics.csv");
  std::filesystem::remove_all(out());
  run({"mode.weights_average=0.9"});
  EXPECT_EQ(rows_without_times(out() / "train_metrics.csv"), updates);
  EXPECT_NE(rows_without_times(out() / "test_metrics.csv"), validations);
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
        std::pair("float16", "run.precision=3"), std::pair("mixed", "run.precision=mixed"),
        std::pair("accumulated_mixed", "run.precision=1 mode.optimizer.gradient_accumulation=2")),
    [](const auto& instance) { return instance.param.first; });

TEST_F(Training, in_mixed_precision_shows_the_loss_scale_and_keeps_it_in_its_checkpoints) {
  run({"run.precision=mixed"});
  EXPECT_THAT(log().text(), HasSubstr("the scale after step 0 is 65536."));
  std::ifstream file(out() / "train_metrics.csv");
  std::string row;
  std::getline(file, row);
  EXPECT_THAT(row, HasSubstr(",loss_scale,"));
  while (std::getline(file, row)) {
    EXPECT_THAT(row, HasSubstr(",65536"));
  }
  const checkpoint::Checkpoint saved = newest();
  EXPECT_EQ(saved.tensors.at("optimizer/loss_scale").as<float>()[0], 65536.0F);
  EXPECT_EQ(saved.tensors.at("optimizer/good_steps").as<std::int64_t>()[0], 6);
  EXPECT_THAT(saved.run.configuration, HasSubstr("precision: mixed"));
}

/// The scale of its newest checkpoint is set to what no float16 gradient survives.
TEST_F(Training, in_mixed_precision_says_which_steps_are_skipped_and_goes_on) {
  run({"run.precision=mixed", "run.length=3"});
  checkpoint::Checkpoint saved = newest();
  ASSERT_EQ(saved.step, 3);
  const session::Tensor weight = saved.tensors.at("initial_convolution.conv.weight");
  saved.tensors.at("optimizer/loss_scale").as<float>()[0] = 0x1p60F;
  checkpoint::CheckpointFolder(out() / "checkpoints", 5).save(saved);
  run({"run.precision=mixed", "run.length=5"});
  EXPECT_THAT(log().text(), AllOf(HasSubstr("Step 3 was skipped"), HasSubstr("Step 4 was skipped"),
                                  HasSubstr("not finite")));
  EXPECT_EQ(newest().tensors.at("optimizer/loss_scale").as<float>()[0], 0x1p58F);
  EXPECT_EQ(newest().tensors.at("initial_convolution.conv.weight").bytes, weight.bytes);
  EXPECT_EQ(newest().tensors.at("optimizer/step").as<std::int64_t>()[0], 3);
  EXPECT_EQ(newest().step, 5);
}

TEST_F(Training, in_mixed_precision_starts_from_weights_that_were_trained_without_a_loss_scale) {
  run({"output_dir=" + (folder() / "float32").string()});
  run({"run.precision=mixed", "run.length=8",
       "mode.weights_location=" + (folder() / "float32" / "checkpoints").string()});
  EXPECT_EQ(newest().step, 8);
  EXPECT_EQ(newest().tensors.at("optimizer/good_steps").as<std::int64_t>()[0], 2);
  const std::string mixed = (out() / "checkpoints").string();
  run({"output_dir=" + (folder() / "back").string(), "run.length=9",
       "mode.weights_location=" + mixed});
  EXPECT_EQ(newest("back").step, 9);
}

TEST_F(Training, with_tf32_is_refused_with_a_reason_where_there_is_none) {
  EXPECT_THAT(error_of({"run.tf32=true"}), AllOf(HasSubstr("tf32"), HasSubstr("as they are")));
  EXPECT_THAT(error_of({"run.tf32=true", "run.precision=bfloat16"}),
              AllOf(HasSubstr("run.tf32 = true"), HasSubstr("run.precision=float32")));
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

TEST_F(Training, from_a_checkpoint_copied_over_another_says_so_and_keeps_the_metrics_aside) {
  const std::vector<std::string> words{"mode.checkpoint_iteration=2", "run.length=10"};
  run(words);
  const auto whole = bytes_of(newest());
  const auto rows = rows_without_times(out() / "train_metrics.csv");
  const std::filesystem::path folder_of_them = out() / "checkpoints";
  std::filesystem::copy_file(folder_of_them / "model-4.safetensors",
                             folder_of_them / "model-10.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(run(words).first_step, 4);
  EXPECT_THAT(log().text(),
              AllOf(HasSubstr("is the checkpoint of step 4, although its name says 10"),
                    HasSubstr("train_metrics.aside-1.csv")));
  EXPECT_EQ(rows_without_times(out() / "train_metrics.aside-1.csv"), rows);
  EXPECT_EQ(rows_without_times(out() / "test_metrics.aside-1.csv"),
            rows_without_times(out() / "test_metrics.csv"));
  EXPECT_EQ(rows_without_times(out() / "train_metrics.csv"), rows);
  EXPECT_EQ(bytes_of(newest()), whole);
}

TEST_F(Training, goes_back_to_an_older_checkpoint_and_on_with_the_same_bits) {
  const std::vector<std::string> words{"mode.checkpoint_iteration=2", "run.length=10"};
  run(words);
  const auto whole = bytes_of(newest());
  const auto rows = rows_without_times(out() / "train_metrics.csv");
  checkpoint::rewind(out() / "checkpoints", 4);
  EXPECT_EQ(run(words, stop_after(1)).steps, 5);
  EXPECT_EQ(newest().step, 5) << "not one of those that it went back from";
  EXPECT_EQ(run(words).first_step, 5);
  EXPECT_EQ(bytes_of(newest()), whole);
  EXPECT_EQ(rows_without_times(out() / "train_metrics.csv"), rows);
  EXPECT_EQ(rows_without_times(out() / "train_metrics.aside-1.csv"), rows);
}

TEST_F(Training, that_was_killed_before_the_index_lists_its_checkpoint_and_says_so) {
  run({"mode.checkpoint_iteration=2"});
  std::ofstream(out() / "checkpoints" / "checkpoint")
      << "latest: model-4.safetensors\n4: model-4.safetensors\n2: model-2.safetensors\n";
  const auto long_ago =
      std::filesystem::last_write_time(out() / "checkpoints" / "model-6.safetensors") -
      std::chrono::seconds(1);
  std::filesystem::last_write_time(out() / "checkpoints" / "checkpoint", long_ago);
  EXPECT_EQ(run({"run.length=8"}).first_step, 6);
  EXPECT_THAT(log().text(), AllOf(HasSubstr("model-6.safetensors: was not in the index"),
                                  HasSubstr("it is listed now")));
  EXPECT_FALSE(std::filesystem::exists(out() / "train_metrics.aside-1.csv"));
}

TEST_F(Training, with_weights_that_do_not_exist_is_an_error_even_with_checkpoints_of_its_own) {
  run();
  EXPECT_THAT(error_of({"mode.weights_location=" + (folder() / "none").string(), "run.length=8"}),
              AllOf(HasSubstr("mode.weights_location="), HasSubstr("names no weights")));
  EXPECT_EQ(newest().step, 6);
}

TEST_F(Training, from_weights_of_other_settings_is_refused_unless_they_are_insisted_on) {
  run();
  const std::vector<std::string> words{"output_dir=" + (folder() / "second").string(),
                                       "mode.weights_location=" + (out() / "checkpoints").string(),
                                       "data.img_transform=true", "run.length=8"};
  EXPECT_THAT(error_of(words), AllOf(HasSubstr("data.img_transform=True, theirs is False"),
                                     HasSubstr("mode.insist_on_settings=true")));
  EXPECT_FALSE(std::filesystem::exists(folder() / "second" / "checkpoints"));
  std::vector<std::string> insisting = words;
  insisting.push_back("mode.insist_on_settings=true");
  EXPECT_EQ(run(insisting).steps, 8);
  EXPECT_THAT(log().text(), HasSubstr("are used all the same (mode.insist_on_settings=true): "
                                      "data.img_transform=True, theirs is False"));
}

class BlindTraining : public Training {
 protected:
  /// A checkpoint whose first layer makes images that overflow when they are squared: their
  /// variance is infinite, and what is divided by it is zero, which has a loss.
  BlindTraining() {
    run({"data.aux_file=", "run.length=2"});
    checkpoint::Checkpoint huge = checkpoint::load_checkpoint(file());
    for (float& weight : huge.tensors.at("initial_convolution.conv.weight").as<float>()) {
      weight = 1e30F;
    }
    checkpoint::save_checkpoint(file(), huge);
  }

  std::filesystem::path file() const { return out() / "checkpoints" / "model-2.safetensors"; }
  NonFiniteState blinded(std::vector<std::string> more = {}) {
    more.insert(more.end(), {"data.aux_file=", "run.length=6", "mode.checkpoint_iteration=2"});
    try {
      run(more);
    } catch (const NonFiniteState& error) {
      return error;
    }
    throw std::runtime_error("the state stayed finite");
  }
};

TEST_F(BlindTraining, ends_before_the_checkpoint_and_names_the_tensor) {
  const NonFiniteState error = blinded();
  EXPECT_EQ(error.step, 4);
  EXPECT_GT(error.found.count, 0);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("after step 3 '" + error.found.tensor + "' has "),
                                  HasSubstr("not finite"), HasSubstr("was not saved"),
                                  HasSubstr("the newest checkpoint is " + file().string())));
  EXPECT_THAT(log().text(), AllOf(HasSubstr("ERROR - after step 3"), HasSubstr("Step 3 metrics")));
  EXPECT_EQ(exit_status(error), 3);
}

TEST_F(BlindTraining, keeps_the_last_finite_checkpoint_as_the_newest) {
  EXPECT_EQ(blinded().newest, file());
  EXPECT_FALSE(std::filesystem::exists(out() / "checkpoints" / "model-4.safetensors"));
  EXPECT_EQ(newest().step, 2);
  EXPECT_EQ(blinded().step, 4) << "the same command goes on from there";
}

TEST_F(BlindTraining, without_a_checkpoint_says_so) {
  const std::filesystem::path second = folder() / "second";
  const NonFiniteState error =
      blinded({"mode.weights_location=" + file().string(), "output_dir=" + second.string()});
  EXPECT_THAT(error.what(), HasSubstr("there is no checkpoint yet"));
  std::vector<checkpoint::Warning> warnings;
  EXPECT_TRUE(checkpoint::find_checkpoints(second / "checkpoints", warnings).empty());
}

TEST_F(Training, whose_newest_checkpoint_is_not_finite_goes_on_from_the_newest_that_is) {
  run({"mode.checkpoint_iteration=2"});
  const auto whole = bytes_of(newest());
  const std::filesystem::path file = out() / "checkpoints" / "model-6.safetensors";
  checkpoint::Checkpoint blind = checkpoint::load_checkpoint(file);
  const std::string name = blind.tensors.begin()->first;
  blind.tensors.begin()->second.as<float>()[0] = INFINITY;
  checkpoint::save_checkpoint(file, blind, system_files(), checkpoint::Numbers::any);
  EXPECT_EQ(run({"mode.checkpoint_iteration=2"}).first_step, 4);
  EXPECT_THAT(
      log().text(),
      AllOf(HasSubstr("model-6.safetensors: '" + name + "' has 1 number that is not finite"),
            HasSubstr("model-4.safetensors: of step 4, the newest checkpoint that is "
                      "complete and finite, is used instead")));
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

/// How `change(event)` leaves a copy of train.h5.
template <class Change>
void write_changed_events(const std::filesystem::path& path, const Change& change,
                          const data::larcv::EventFileWriterOptions& options = {}) {
  data::larcv::EventFileWriter writer(path, options);
  for (std::int64_t i = 0; i < 9; ++i) {
    data::SparseEvent event = data::random_event(data::grid_of(16, 32), 0.2, 1, i);
    change(event);
    writer.begin_event(event.id);
    writer.write_sparse("sbndwire", event.image);
    writer.write_sparse("sbnd_cosmicseg", event.labels);
  }
  writer.commit();
}

TEST_F(Training, is_not_taken_up_with_inverted_labels) {
  run();
  std::filesystem::remove(folder() / "train.h5");
  write_changed_events(folder() / "train.h5", [](data::SparseEvent& event) {
    for (data::SparsePlane& plane : event.labels) {
      for (float& label : plane.values) {
        label = label == 0 ? 0 : 3 - label;
      }
    }
  });
  EXPECT_THAT(error_of({"run.length=8"}), HasSubstr("are not those that the run"));
}

TEST_F(Training, that_is_taken_up_with_other_validation_events_says_so) {
  run();
  EXPECT_EQ(error_of({"run.length=8"}), "");
  EXPECT_THAT(log().text(), testing::Not(HasSubstr("was validated on before")));
  std::filesystem::remove(folder() / "test.h5");
  write_random_events(folder() / "test.h5", 4, 3);
  EXPECT_EQ(error_of({"run.length=10"}), "");
  EXPECT_THAT(log().text(), HasSubstr("are not those that the run was validated on before"));
}

// Of an event that is neither the first nor the last nor in the middle.
TEST_F(Training, is_not_taken_up_with_one_label_changed) {
  run();
  std::filesystem::remove(folder() / "train.h5");
  write_changed_events(folder() / "train.h5", [](data::SparseEvent& event) {
    float& label = event.labels[1].values[5];
    if (event.id.event == 6) {
      label = label == 2 ? 0 : label + 1;
    }
  });
  const data::larcv::LarcvSource changed({.files = {folder() / "train.h5"}});
  EXPECT_NE(changed.fingerprint(), newest().run.data_fingerprint);
  EXPECT_THAT(error_of({"run.length=8"}), HasSubstr("are not those that the run"));
}

TEST_F(Training, is_taken_up_with_the_same_events_in_a_file_that_was_packed_again) {
  run();
  std::filesystem::remove(folder() / "train.h5");
  write_changed_events(folder() / "train.h5", [](data::SparseEvent&) {}, {.deflate_level = 9});
  EXPECT_EQ(error_of({"run.length=8"}), "");
}

TEST_F(Training, cannot_compare_its_events_with_the_fingerprint_of_an_earlier_version_and_says_so) {
  run();
  checkpoint::Checkpoint earlier = newest();
  earlier.run.data_fingerprint = "4af9c1";
  std::filesystem::remove_all(out() / "checkpoints");
  checkpoint::CheckpointFolder(out() / "checkpoints", 1).save(earlier);
  EXPECT_EQ(error_of({"run.length=8"}), "");
  EXPECT_THAT(log().text(),
              HasSubstr("WARNING - The checkpoint was written by an earlier version"));
}

TEST_F(Training, says_once_and_at_its_end_what_was_odd_in_its_events) {
  std::filesystem::remove(folder() / "train.h5");
  write_changed_events(folder() / "train.h5", [](data::SparseEvent& event) {
    event.image[1].ids.pop_back();  // its label stays
    event.image[1].values.pop_back();
  });
  run({"run.length=20"});
  const std::string text = log().text();
  const auto count = [&](const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count("labels without a pixel (dropped); the first: " + folder().string()), 2U) << text;
  EXPECT_EQ(count("Reading found, in all, "), 1U) << text;
  EXPECT_THAT(text, AllOf(HasSubstr("train.h5: sparse2d_sbnd_cosmicseg, event "),
                          HasSubstr("(training; counted each time an event is read)")));
}

TEST_F(Training, on_a_file_without_a_single_pixel_is_an_error) {
  std::filesystem::remove(folder() / "train.h5");
  write_changed_events(folder() / "train.h5", [](data::SparseEvent& event) {
    for (data::SparseImage* const image : {&event.image, &event.labels}) {
      for (data::SparsePlane& plane : *image) {
        plane.ids.clear();
        plane.values.clear();
      }
    }
  });
  EXPECT_THAT(error_of({"data.order=serial_access"}),
              AllOf(HasSubstr("train.h5: the 9 events that were read have no pixel"),
                    HasSubstr("producer")));
  // Also where the run ends before it has read the whole file.
  EXPECT_THAT(error_of({"data.order=serial_access", "run.length=1", "data.threads=1"}),
              HasSubstr("events that were read have no pixel"));
}

// The labels of one plane lie on pixels of another one, which leaves all of them without a pixel.
TEST_F(Training, on_a_file_whose_labels_belong_to_no_pixel_is_an_error) {
  std::filesystem::remove(folder() / "train.h5");
  write_changed_events(folder() / "train.h5", [](data::SparseEvent& event) {
    for (std::size_t plane = 0; plane < event.image.size(); ++plane) {
      for (std::uint64_t& id : event.image[plane].ids) {
        id = id / 2 * 2;
      }
      for (std::uint64_t& id : event.labels[plane].ids) {
        id = id / 2 * 2 + 1;
      }
      for (data::SparsePlane* const one : {&event.image[plane], &event.labels[plane]}) {
        const auto end = std::unique(one->ids.begin(), one->ids.end());
        one->ids.erase(end, one->ids.end());
        one->values.resize(one->ids.size());
      }
    }
  });
  EXPECT_THAT(error_of({"data.order=serial_access"}),
              AllOf(HasSubstr("train.h5: none of the "), HasSubstr("has a label"),
                    HasSubstr("producer of the labels")));
}

TEST_F(Training,
       on_three_pixels_of_3e38_is_refused_with_their_file_event_producer_plane_and_place) {
  std::filesystem::remove(folder() / "train.h5");
  write_changed_events(folder() / "train.h5", [](data::SparseEvent& event) {
    if (event.id.event == 5) {
      std::fill_n(event.image[1].values.begin() + 2, 3, 3e38F);
    }
  });
  const data::SparsePlane plane = data::random_event(data::grid_of(16, 32), 0.2, 1, 5).image[1];
  const std::uint64_t id = plane.ids[2];
  EXPECT_THAT(error_of({"data.order=serial_access"}),
              AllOf(HasSubstr("train.h5: sparse2d_sbndwire, event 5, plane 1: id " +
                              std::to_string(id) + " (wire " + std::to_string(id / 16) + ", tick " +
                              std::to_string(id % 16) + ") has the charge 3e+38"),
                    HasSubstr("65504")));
}

/// A file of as many events as train.h5, of one of which no logarithm can be taken.
void write_events_with_a_negative_one(const std::filesystem::path& path, std::int64_t negative) {
  write_changed_events(path, [&](data::SparseEvent& event) {
    for (data::SparsePlane& plane : event.image) {
      std::fill(plane.values.begin(), plane.values.end(),
                event.id.event == negative ? -5.0F : plane.values[0]);
    }
  });
}

class LostLoss : public Training {
 protected:
  /// Two files in order; the fourth batch of two has the event whose image is not finite, 1 of the
  /// second file.
  LostLoss() {
    write_random_events(folder() / "a.h5", 6, 1);
    write_events_with_a_negative_one(folder() / "b.h5", 1);
  }

  NonFiniteLoss lost(const std::vector<std::string>& more = {}) {
    try {
      run(in_order(more));
    } catch (const NonFiniteLoss& error) {
      return error;
    }
    throw std::runtime_error("the loss stayed a number");
  }

  static std::vector<std::string> in_order(const std::vector<std::string>& more) {
    std::vector<std::string> words{"data.file=[a.h5,b.h5]", "data.order=serial_access",
                                   "data.img_transform=true", "data.aux_file="};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(LostLoss, in_a_validation_is_said_and_ends_no_training) {
  run({"data.file=a.h5", "data.aux_file=b.h5", "data.img_transform=true", "run.aux_iterations=1"});
  EXPECT_THAT(log().text(),
              AllOf(HasSubstr("The validation loss is"), HasSubstr("no best checkpoint")));
  EXPECT_EQ(checkpoint::load_newest(out() / "checkpoints").checkpoint.step, 6);
}

TEST_F(LostLoss, names_the_events_of_its_batch) {
  const NonFiniteLoss error = lost();
  EXPECT_EQ(error.step, 3);
  EXPECT_FALSE(std::isfinite(error.loss));
  ASSERT_EQ(error.events.size(), 2U);
  for (std::int64_t i = 0; i < 2; ++i) {
    const BatchEvent& event = error.events[static_cast<std::size_t>(i)];
    EXPECT_EQ(event.file, (folder() / "b.h5").string());
    EXPECT_EQ(event.entry, i);
    EXPECT_EQ(event.id, (data::EventId{1, 2, i}));
  }
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("the loss of step 3 is "),
                    HasSubstr("b.h5: events 0 (run 1, subrun 2, event 0), "
                              "1 (run 1, subrun 2, event 1)"),
                    HasSubstr("the update was not made"), HasSubstr("before_lost_loss.safetensors"),
                    HasSubstr("mode.weights_location=")));
  EXPECT_EQ(exit_status(error), 3);
  EXPECT_THAT(log().text(), HasSubstr("ERROR - the loss of step 3"));
}

TEST_F(LostLoss, names_the_events_of_all_batches_of_an_update) {
  const NonFiniteLoss error = lost({"mode.optimizer.gradient_accumulation=2"});
  EXPECT_EQ(error.step, 1);
  ASSERT_EQ(error.events.size(), 4U);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("a.h5: events 4 ("), HasSubstr("b.h5: events 0 (")));
}

TEST_F(LostLoss, leaves_a_checkpoint_of_the_state_before_it) {
  const NonFiniteLoss error = lost();
  EXPECT_EQ(error.checkpoint, out() / "before_lost_loss.safetensors");
  const checkpoint::Checkpoint before = checkpoint::load_checkpoint(error.checkpoint);
  EXPECT_EQ(before.step, 3);
  // As a run that ends there leaves it, with the same batch next.
  const std::string elsewhere = (folder() / "short").string();
  run(in_order({"run.length=3", "output_dir=" + elsewhere}));
  const checkpoint::Checkpoint expected = newest("short");
  EXPECT_EQ(bytes_of(before), bytes_of(expected));
  EXPECT_EQ(before.run.loader, expected.run.loader);
}

TEST_F(LostLoss, can_be_gone_on_from_what_was_left) {
  const std::string left = lost().checkpoint.string();
  const TrainingSummary summary = run({"mode.weights_location=" + left, "data.img_transform=true",
                                       "output_dir=" + (folder() / "second").string()});
  EXPECT_EQ(summary.first_step, 3);
  EXPECT_EQ(summary.ending, Ending::complete);
}

TEST_F(LostLoss, of_noise_says_so) {
  EXPECT_THAT(
      error_of({"data=synthetic", "data.downsample=6", "mode.optimizer.schedule=flat",
                "mode.optimizer.learning_rate=1e30", "mode.optimizer.name=sgd", "run.length=20"}),
      AllOf(HasSubstr("the loss of step"), HasSubstr("synthetic data (uniform noise): "
                                                     "events ")));
}

class ManyFiles : public Training {
 protected:
  /// The nine events of train.h5 in three files, and the four of test.h5 in two.
  ManyFiles() {
    split("train.h5", {{"runs/1.h5", 4}, {"runs/2.h5", 0}, {"runs/3.h5", 5}});
    split("test.h5", {{"val/a.h5", 1}, {"val/b.h5", 3}});
  }

  void split(const std::string& from, const std::vector<std::pair<std::string, int>>& parts) const {
    const data::larcv::LarcvSource source({.files = {folder() / from}});
    data::SparseEvent event;
    std::int64_t entry = 0;
    for (const auto& [name, events] : parts) {
      std::filesystem::create_directories((folder() / name).parent_path());
      data::larcv::EventFileWriter writer(folder() / name);
      for (int i = 0; i < events; ++i) {
        source.reader()->read(entry++, event);
        writer.begin_event(event.id);
        writer.write_sparse("sbndwire", event.image);
        writer.write_sparse("sbnd_cosmicseg", event.labels);
      }
      writer.commit();
    }
  }
};

TEST_F(ManyFiles, train_as_one_file_of_the_same_events_does_bit_for_bit) {
  for (const std::string order : {"random_blocks", "shuffled", "serial_access"}) {
    std::filesystem::remove_all(folder() / "whole");
    run({"data.order=" + order, "output_dir=" + (folder() / "whole").string()});
    for (const std::string files : {"[runs/1.h5,runs/2.h5,runs/3.h5]", "runs/*.h5"}) {
      std::filesystem::remove_all(out());
      const std::vector<std::string> words{"data.order=" + order, "data.file=" + files,
                                           "data.aux_file=val/*.h5"};
      run(words, stop_after(3));
      run(words);
      EXPECT_EQ(bytes_of(newest()), bytes_of(newest("whole"))) << order << " " << files;
      EXPECT_EQ(rows_without_times(out() / "test_metrics.csv"),
                rows_without_times(folder() / "whole" / "test_metrics.csv"));
    }
  }
  EXPECT_THAT(log().text(), AllOf(HasSubstr("runs/1.h5: 4 events"), HasSubstr("3.h5: 5 events")));
}

TEST_F(ManyFiles, in_another_order_are_not_the_same_run) {
  run({"data.file=[runs/1.h5,runs/3.h5]"});
  EXPECT_THAT(error_of({"data.file=[runs/3.h5,runs/1.h5]", "run.length=8"}),
              HasSubstr("are not those that the run"));
}

TEST_F(ManyFiles, of_which_one_is_bad_are_an_error_that_names_it) {
  EXPECT_THAT(error_of({"data.file=[runs/1.h5,runs/4.h5]"}),
              AllOf(HasSubstr("runs/4.h5"), HasSubstr("cannot be opened")));
  EXPECT_THAT(error_of({"data.file=other/*.h5"}),
              AllOf(HasSubstr("data.file"), HasSubstr("other/*.h5"), HasSubstr("no file")));
  EXPECT_THAT(error_of({"data.file=runs/*.h5", "data.aux_file=[val/a.h5,val/c.h5]"}),
              HasSubstr("val/c.h5"));
  EXPECT_THAT(error_of({"data.file=[runs/1.h5,runs/../runs/1.h5]"}), HasSubstr("twice"));
}

TEST_F(Training, without_validation_says_which_settings_wait_for_one_in_vain) {
  run({"data.aux_file=none*.h5", "mode.keep_best=true", "mode.early_stopping_patience=3"});
  EXPECT_THAT(log().text(), AllOf(HasSubstr("no validation"),
                                  HasSubstr("mode.keep_best and mode.early_stopping_patience")));
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

TEST_F(Training, of_a_number_of_iterations_comes_to_an_end_however_often_it_is_started) {
  run({"run.length=0", "run.iterations=4"}, stop_after(2));
  EXPECT_EQ(run({"run.length=0", "run.iterations=4"}).steps, 4);
  const auto complete = bytes_of(newest());
  const TrainingSummary again = run({"run.length=0", "run.iterations=4"});
  EXPECT_EQ(again.ending, Ending::complete);
  EXPECT_EQ(again.first_step, 4);
  EXPECT_EQ(again.steps, 4);
  EXPECT_EQ(bytes_of(newest()), complete);
  EXPECT_THAT(log().text(), HasSubstr("all of its 4 updates; nothing is left to do"));
}

TEST_F(Training, adds_as_many_iterations_when_it_is_started_again_if_asked_to) {
  run({"run.length=0", "run.iterations=2"});
  EXPECT_EQ(run({"run.length=0", "run.iterations=2", "run.restart=again"}).steps, 4);
}

TEST_F(Training, counts_iterations_from_the_weights_of_another_run_it_began_with) {
  run();
  const std::vector<std::string> words{"run.length=0", "run.iterations=4",
                                       "output_dir=" + (folder() / "second").string(),
                                       "mode.weights_location=" + (out() / "checkpoints").string()};
  EXPECT_EQ(run(words, stop_after(1)).steps, 7);
  EXPECT_EQ(run(words).steps, 10);
}

TEST_F(Training, writes_the_learning_rate_of_each_update_into_its_table) {
  run({"mode.optimizer.schedule=cosine", "mode.optimizer.learning_rate=3e-4"});
  std::ifstream table(out() / "train_metrics.csv");
  std::vector<std::string> rates;
  for (std::string line; std::getline(table, line);) {
    rates.push_back(line.substr(line.rfind(',') + 1));
  }
  EXPECT_THAT(rates, testing::ElementsAre("learning_rate", "0.0003", "0.000271353", "0.000196353",
                                          "0.000103647", "2.86475e-05", "0"));
}

TEST_F(Training, goes_on_with_a_table_that_an_earlier_version_began_without_a_rate) {
  run({}, stop_after(3));
  const std::filesystem::path path = out() / "train_metrics.csv";
  std::stringstream earlier;
  {
    std::ifstream table(path);
    for (std::string line; std::getline(table, line);) {
      earlier << line.substr(0, line.rfind(',')) << "\n";
    }
  }
  std::ofstream(path) << earlier.str();
  run();
  EXPECT_EQ(rows_without_times(path).size(), 1U + 6U);
}

TEST_F(Training, with_every_augmentation_goes_on_with_the_same_bits) {
  const std::vector<std::string> words{"data.order=shuffled", "data.augment=flips",
                                       "data.augment_charge=0.2", "data.augment_noise=0.5",
                                       "data.augment_dead_wires=0.1"};
  std::vector<std::string> elsewhere = words;
  elsewhere.push_back("output_dir=" + (folder() / "whole").string());
  run(elsewhere);
  run(words, stop_after(3));
  run(words);
  EXPECT_EQ(bytes_of(newest()), bytes_of(newest("whole")));
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
