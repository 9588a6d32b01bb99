// A folder in which the program itself is run: with a file of events and trained weights.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <map>
#include <string>
#include <vector>

#include "commands/background_program.hpp"
#include "run_command.hpp"
#include "scratch_folder.hpp"

namespace cosmic {

/// A network that takes a moment.
inline const std::string kTinySettings =
    " network=a21 network.depth=2 network.n_initial_filters=2 network.bottleneck_deepest=4 "
    "network.blocks_deepest_layer=1 network.blocks_per_layer=1 network.blocks_final=0 "
    "data.downsample=5 run.threads=1 run.minibatch_size=1 run.distributed=false run.id=tiny ";

struct Ended {
  int status = 0;
  std::string output;
};

class WorkFolder {
 public:
  /// `cosmictagger WORDS`, as a shell would run it there.
  Ended run(const std::string& words) const {
    const CommandResult result =
        run_command("cd '" + path().string() + "' && XDG_RUNTIME_DIR='" + runtime_.path().string() +
                    "' '" COSMICTAGGER_PROGRAM "' " + words + " </dev/null");
    return {WIFEXITED(result.status) ? WEXITSTATUS(result.status) : -WTERMSIG(result.status),
            result.output};
  }

  /// The same without waiting for it.
  BackgroundProgram start(const std::string& words) const {
    setenv("XDG_RUNTIME_DIR", runtime_.path().c_str(), 1);
    std::vector<std::string> split;
    std::istringstream text(words);
    for (std::string word; text >> word;) {
      split.push_back(word);
    }
    return {COSMICTAGGER_PROGRAM, path(), split, runtime_ / "printed"};
  }
  std::string printed() const { return content_of(runtime_ / "printed"); }

  void make_events(const std::string& name) const {
    const Ended made = run("generate --events 3 --seed 1 --output " + name);
    ASSERT_EQ(made.status, 0) << made.output;
  }

  void train(const std::string& folder) const {
    const Ended trained =
        run("train run.iterations=2 data.file=events.h5 data.aux_file= output_dir=" + folder +
            kTinySettings);
    ASSERT_EQ(trained.status, 0) << trained.output;
  }

  /// Every file by name, with its content.
  std::map<std::string, std::string> content() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path())) {
      const std::string name = entry.path().lexically_relative(path()).string();
      files[name] = entry.is_regular_file() ? content_of(entry.path()) : "";
    }
    return files;
  }

  /// What files are called before they are whole.
  std::vector<std::string> unfinished_files() const {
    std::vector<std::string> names;
    for (const auto& [name, text] : content()) {
      if (name.find(".partial-") != std::string::npos) {
        names.push_back(name);
      }
    }
    return names;
  }

  const std::filesystem::path& path() const { return folder_.path(); }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

 private:
  ScratchFolder folder_{"program"};
  ScratchFolder runtime_{"runtime"};  ///< where jobs show themselves, and what is printed
};

}  // namespace cosmic
