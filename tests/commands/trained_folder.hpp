// A folder with a few events and a trained network, in which the program itself is run.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <string>

#include "run_command.hpp"
#include "scratch_folder.hpp"

namespace cosmic {

inline constexpr int kHung = 124;  // what timeout(1) ends with

/// Settings of a run that takes a moment.
inline const std::string kMoment =
    " network=a21 network.depth=2 network.n_initial_filters=2 network.bottleneck_deepest=3"
    " network.blocks_deepest_layer=1 network.blocks_per_layer=1 data.downsample=6 run.threads=1"
    " run.id=1 run.distributed=false run.minibatch_size=2 data.data_directory=. "
    "data.file=events.h5";

class TrainedFolder {
 public:
  TrainedFolder() {
    run("generate --events 3 --threads 1 --output events.h5");
    run(training("trained"));
    EXPECT_TRUE(std::filesystem::exists(folder_ / "trained/checkpoints/model-4.safetensors"));
  }

  static std::string training(const std::string& output) {
    return "train" + kMoment +
           " data.aux_file=events.h5 run.seed=7 run.units=iteration run.length=4 "
           "mode.checkpoint_iteration=2 output_dir=" +
           output;
  }
  static std::string tagging(const std::string& output) {
    return "infer" + kMoment + " mode.weights_location=trained/checkpoints output_dir=" + output;
  }

  /// `cosmictagger WORDS` as a shell runs it; words may redirect. The status is what the shell
  /// sees: 128 and more for a signal, kHung if it does not end.
  CommandResult run(const std::string& words, const std::string& before = "") const {
    return shell(before + " timeout -k 5 60 " + COSMICTAGGER_PROGRAM + " " + words);
  }

  /// Any command line, in the folder.
  CommandResult shell(const std::string& line) const {
    CommandResult result =
        run_command("cd '" + folder_.path().string() + "' && export XDG_RUNTIME_DIR='" +
                    folder_.path().string() + "' && { " + line + "; } </dev/null");
    result.status =
        WIFEXITED(result.status) ? WEXITSTATUS(result.status) : 128 + WTERMSIG(result.status);
    return result;
  }

  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

 private:
  ScratchFolder folder_{"program"};
};

}  // namespace cosmic
