// Runs that take a moment: a tiny network on a tiny file of random events, in a folder of their
// own.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "config/parse.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/sparse_events.hpp"
#include "output/run_log.hpp"

namespace cosmic {

/// A folder that is gone with the test.
class RunFolder {
 public:
  RunFolder() {
    const testing::TestInfo* const info = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = "cosmic_" + std::string(info->test_suite_name()) + "_" + info->name() + "_" +
                       std::to_string(::getpid());
    std::replace(name.begin(), name.end(), '/', '_');  // of a test with parameters
    path_ = std::filesystem::temp_directory_path() / name;
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~RunFolder() { std::filesystem::remove_all(path_); }
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A file of random events on a grid of 16 x 32 pixels.
inline void write_random_events(const std::filesystem::path& path, std::int64_t events,
                                std::uint64_t seed) {
  data::larcv::EventFileWriter writer(path);
  for (std::int64_t i = 0; i < events; ++i) {
    const data::SparseEvent event = data::random_event(data::grid_of(16, 32), 0.2, seed, i);
    writer.begin_event(event.id);
    writer.write_sparse("sbndwire", event.image);
    writer.write_sparse("sbnd_cosmicseg", event.labels);
  }
  writer.commit();
}

/// A network that takes images of 16 x 32 pixels and a few milliseconds.
inline const std::vector<std::string> kTinyNetwork{"network=a21",
                                                   "network.n_initial_filters=2",
                                                   "network.depth=2",
                                                   "network.bottleneck_deepest=3",
                                                   "network.blocks_deepest_layer=1",
                                                   "network.blocks_final=1",
                                                   "data.downsample=0",
                                                   "run.threads=1"};

/// Settings of a run on `folder`/train.h5, in `folder`/out; later words win.
inline config::Configuration tiny_configuration(const std::filesystem::path& folder,
                                                config::Mode mode,
                                                const std::vector<std::string>& words = {}) {
  std::vector<std::string> all = kTinyNetwork;
  all.insert(all.end(), {"run.id=tiny", "run.minibatch_size=2", "run.seed=7",
                         "output_dir=" + (folder / "out").string()});
  const bool files = std::none_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "data=synthetic" || word == "data=detector";
  });
  if (files) {
    all.insert(all.end(), {"data.data_directory=" + folder.string(), "data.file=train.h5"});
  }
  if (files && mode == config::Mode::train) {
    all.push_back("data.aux_file=test.h5");
  }
  if (mode == config::Mode::train) {
    all.insert(all.end(), {"run.units=iteration", "run.length=6", "run.aux_iterations=2",
                           "mode.checkpoint_iteration=100"});
  }
  all.insert(all.end(), words.begin(), words.end());
  return config::parse(all, {.mode = mode}).configuration;
}

/// A log that keeps its lines.
class KeptLog {
 public:
  KeptLog() : log_({}, [this](const std::string& line) { text_ += line + "\n"; }) {}
  output::RunLog& log() { return log_; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  output::RunLog log_;
};

}  // namespace cosmic
