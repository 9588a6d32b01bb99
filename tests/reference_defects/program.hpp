// The program as people start it, in a folder of its own, with a network that takes a moment.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_folder.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/sparse_events.hpp"
#include "scratch_folder.hpp"

namespace cosmic {

class ProgramTest : public testing::Test {
 protected:
  static constexpr std::int64_t kEvents = 6;

  struct Printed {
    std::string output;
    std::string errors;
  };

  ProgramTest() { write_events("events.h5", events()); }

  /// Random ones on 8 x 16 pixels, with their number as id.
  static std::vector<data::SparseEvent> events(std::int64_t count = kEvents) {
    std::vector<data::SparseEvent> result;
    for (std::int64_t number = 0; number < count; ++number) {
      result.push_back(data::random_event(data::grid_of(8, 16), 0.3, 1, number));
    }
    return result;
  }

  void write_events(const std::string& name, const std::vector<data::SparseEvent>& events) const {
    data::larcv::EventFileWriter writer(folder_ / name);
    for (const data::SparseEvent& event : events) {
      writer.begin_event(event.id);
      writer.write_sparse("sbndwire", event.image);
      writer.write_sparse("sbnd_cosmicseg", event.labels);
    }
    writer.commit();
  }

  /// The settings of every run, without its data: a network that takes a moment, and the folder of
  /// its files, which is named by its id.
  std::vector<std::string> tiny_run(const std::string& id) const {
    return {"network=a21",
            "network.depth=1",
            "network.n_initial_filters=2",
            "network.bottleneck_deepest=4",
            "network.blocks_deepest_layer=1",
            "network.blocks_per_layer=1",
            "run.id=" + id,
            "run.minibatch_size=2",
            "run.threads=1",
            "run.seed=7",
            "data.downsample=0",
            "data.data_directory=" + folder_.path().string(),
            "output_dir=" + (folder_ / id).string()};
  }

  /// `cosmictagger COMMAND WORDS...` on events.h5.
  Printed run(const std::string& command, const std::string& id,
              const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = tiny_run(id);
    words.push_back("data.file=events.h5");
    if (command == "train") {
      words.insert(words.end(), {"run.iterations=3", "data.aux_file=", "data.order=serial_access"});
    }
    words.insert(words.end(), more.begin(), more.end());
    return run_words(command, words);
  }

  /// `cosmictagger COMMAND WORDS...`
  static Printed run_words(const std::string& command, std::vector<std::string> words) {
    words.insert(words.begin(), command);
    cli::Command app;
    cli::add_train(app);
    cli::add_infer(app);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    try {
      app.parse(words);
    } catch (...) {
      testing::internal::GetCapturedStdout();
      testing::internal::GetCapturedStderr();
      throw;
    }
    Printed printed;
    printed.output = testing::internal::GetCapturedStdout();
    printed.errors = testing::internal::GetCapturedStderr();
    return printed;
  }

  checkpoint::Checkpoint newest(const std::string& id) const {
    return checkpoint::load_newest(folder_ / id / "checkpoints").checkpoint;
  }
  /// The bits of everything that a run keeps.
  std::map<std::string, std::vector<std::byte>> bits(const std::string& id) const {
    std::map<std::string, std::vector<std::byte>> result;
    for (const auto& [name, tensor] : newest(id).tensors) {
      result[name] = tensor.bytes;
    }
    return result;
  }

  ScratchFolder folder_{"reference_defects"};
};

}  // namespace cosmic
