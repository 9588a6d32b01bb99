// Runs on machines that are not here, from their settings to their files: one option chooses the
// machine, and no time of theirs can be taken for a measurement.
#include <gmock/gmock.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "checkpoint/checkpoint_file.hpp"
#include "infer/inference.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::train {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class ModelledRun : public testing::TestWithParam<const char*> {
 protected:
  ModelledRun() {
    write_random_events(folder_.path() / "train.h5", 12, 1);
    write_random_events(folder_.path() / "test.h5", 6, 2);
  }

  config::Configuration configuration(const std::string& output,
                                      std::vector<std::string> words = {}) const {
    words.push_back("output_dir=" + (folder_.path() / output).string());
    return tiny_configuration(folder_.path(), config::Mode::train, words);
  }

  std::string train_log(const config::Configuration& configuration, const std::string& target) {
    KeptLog log;
    summary_ = train(configuration, target, log.log());
    return log.text();
  }

  /// What the newest checkpoint holds, without what describes the run.
  std::string weights() const {
    const checkpoint::Checkpoint checkpoint = checkpoint::load_checkpoint(summary_.checkpoint);
    std::string bytes;
    for (const auto& [name, tensor] : checkpoint.tensors) {
      bytes += name;
      bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    }
    return bytes;
  }

  RunFolder folder_;
  TrainingSummary summary_;
};

INSTANTIATE_TEST_SUITE_P(, ModelledRun, testing::Values("ipu", "hpu", "rdu"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(ModelledRun, ends_with_the_weights_of_the_host) {
  train_log(configuration("here"), "cpu");
  const std::string here = weights();
  train_log(configuration("there"), GetParam());
  EXPECT_EQ(weights(), here);
}

TEST_P(ModelledRun, that_was_stopped_goes_on_with_the_same_bits) {
  train_log(configuration("whole"), GetParam());
  const std::string whole = weights();
  train_log(configuration("parts", {"run.length=3"}), GetParam());
  train_log(configuration("parts"), GetParam());
  EXPECT_EQ(summary_.first_step, 3);
  EXPECT_EQ(weights(), whole);
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Lines of a log that say how long something took or how fast it was.
std::vector<std::string> lines_about_time(const std::string& log) {
  // "3.2 ms", "0.5 s;", "12 events/s", "0.1 IOs", "(Step)(s)", and sums without a unit.
  const std::regex time(R"([0-9] ?(ns|us|ms|s|min|h)\b|/s\b|IOs|\(s\)|[Tt]ime to|throughput:)");
  std::vector<std::string> found;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, time)) {
      found.push_back(line);
    }
  }
  return found;
}

/// Text that a TensorBoard file or a table has for its curves.
std::vector<std::string> timing_names(const std::string& text) {
  const std::regex name(
      R"((global_step_per_sec|images_per_second|io_fetch_time|step_time)( \([a-z ]*\))?)");
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) {
    found.push_back(at->str());
  }
  return found;
}

std::string tensorboard_text(const std::filesystem::path& folder) {
  std::string text;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    text += text_of(entry.path());
  }
  return text;
}

TEST_P(ModelledRun, marks_every_time_in_its_log_and_in_its_files) {
  const std::string log = train_log(configuration("out", {"run.profile=true"}), GetParam());
  const std::vector<std::string> lines = lines_about_time(log);
  EXPECT_GE(lines.size(), 8U) << log;
  for (const std::string& line : lines) {
    EXPECT_THAT(line, HasSubstr("modelled"));
  }
  EXPECT_THAT(log, ContainsRegex("would take [^\n]*\\(modelled, [^\n]*events/s \\(modelled\\)"));
  EXPECT_THAT(log, ContainsRegex("Where the time went \\([^\n]*modelled"));

  const std::filesystem::path out = folder_.path() / "out";
  for (const std::string& text :
       {text_of(out / "train_metrics.csv"), tensorboard_text(out / "train")}) {
    const std::vector<std::string> names = timing_names(text);
    EXPECT_GE(names.size(), 4U);
    for (const std::string& name : names) {
      EXPECT_THAT(name, HasSubstr("modelled"));
    }
  }
}

TEST_P(ModelledRun, marks_the_times_of_an_inference) {
  train_log(configuration("out"), GetParam());
  const config::Configuration inference =
      tiny_configuration(folder_.path(), config::Mode::inference,
                         {"run.profile=true", "output_dir=" + (folder_.path() / "out").string()});
  KeptLog log;
  const infer::InferenceSummary summary = infer::infer(inference, GetParam(), log.log());
  EXPECT_EQ(summary.provenance, Provenance::modelled);
  for (const std::string& line : lines_about_time(log.text())) {
    EXPECT_THAT(line, HasSubstr("modelled"));
  }
  EXPECT_THAT(text_of(summary.report), ContainsRegex("\"provenance\": \"[^\"]*modelled"));
  const std::filesystem::path profiles = folder_.path() / "out" / "profiles";
  EXPECT_TRUE(std::filesystem::exists(profiles / "modelled_inference_profile.html"));
  EXPECT_FALSE(std::filesystem::exists(profiles / "inference_profile.html"));
}

TEST_F(ModelledRun, does_not_mark_anything_where_the_machine_is_the_host) {
  const std::string log = train_log(configuration("out", {"run.profile=true"}), "cpu");
  const std::filesystem::path out = folder_.path() / "out";
  EXPECT_GE(lines_about_time(log).size(), 8U);
  EXPECT_GE(timing_names(text_of(out / "train_metrics.csv")).size(), 4U);
  // The configuration and the page's list of what there is may say the word.
  for (const std::string& line : lines_about_time(log)) {
    EXPECT_THAT(line, Not(HasSubstr("modelled")));
  }
  for (const char* file : {"train_metrics.csv", "test_metrics.csv", "profiles/timeline.json",
                           "profiles/profile.json", "profiles/profile.html"}) {
    EXPECT_THAT(text_of(out / file), Not(HasSubstr("modelled"))) << file;
  }
  EXPECT_THAT(tensorboard_text(out / "train"), Not(HasSubstr("modelled")));
}

}  // namespace
}  // namespace cosmic::train
