// Command lines that nobody can have meant. Each is answered soon, with a status and a sentence
// that names what is wrong; none is called a bug of the program, none waits, none ends by a signal.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "commands/trained_folder.hpp"

namespace cosmic {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kNumbers{"9223372036854775807",
                                        "9223372036854775800",
                                        "4611686018427387904",
                                        "9007199254740993",
                                        "4294967297",
                                        "2147483648",
                                        "-1",
                                        "18446744073709551616"};

const std::string kTinyTest =
    " --rows 16 --columns 16 network=a21 network.depth=1 network.n_initial_filters=2"
    " network.bottleneck_deepest=2 network.blocks_deepest_layer=0 network.blocks_per_layer=1"
    " run.threads=1 run.minibatch_size=1";

// No file system takes it.
const std::string kLongName(300, 'x');

class HostileCommands : public testing::Test {
 protected:
  HostileCommands() {
    EXPECT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
    std::filesystem::create_directories(folder_ / "folder");
    std::filesystem::create_symlink("loop", folder_ / "loop");
    std::ofstream(folder_ / "empty");
    std::filesystem::create_directories(folder_ / "of_pipes");
    for (const char* const name : {"of_pipes/checkpoint", "of_pipes/model-5.safetensors"}) {
      EXPECT_EQ(mkfifo((folder_ / name).c_str(), 0600), 0);
    }
  }

  /// The answer to a mistake of the user's.
  CommandResult expect_refused(const std::string& words, const std::string& before = "") const {
    CommandResult result = folder_.run(words, before);
    EXPECT_THAT(result.status, AllOf(testing::Ge(2), testing::Le(5)))
        << "cosmictagger " << words << "\n"
        << result.output;
    EXPECT_THAT(result.output,
                AllOf(HasSubstr("cosmictagger: error: "), Not(HasSubstr("a bug in this program"))))
        << words;
    return result;
  }
  /// A mistake or not: it must end, and not by a signal or a bug.
  CommandResult expect_an_end(const std::string& words, const std::string& before = "") const {
    CommandResult result = folder_.run(words, before);
    EXPECT_THAT(result.status, AnyOf(0, 1, 2, 3, 4, 5, 6)) << "cosmictagger " << words << "\n"
                                                        << result.output;
    EXPECT_THAT(result.output, Not(HasSubstr("a bug in this program"))) << words;
    return result;
  }

  TrainedFolder folder_;
};

TEST_F(HostileCommands, sizes_that_no_memory_holds_are_refused_by_name) {
  for (const std::string& number : kNumbers) {
    for (const char* const key :
         {"run.minibatch_size", "network.n_initial_filters", "network.depth",
          "network.bottleneck_deepest", "network.blocks_final", "network.blocks_per_layer",
          "network.blocks_deepest_layer", "data.downsample",
          "mode.optimizer.gradient_accumulation"}) {
      expect_refused(TrainedFolder::training("out") + " " + key + "=" + number);
    }
    if (number != "-1") {  // a device of the program's choice
      expect_refused(TrainedFolder::training("out") + " run.device=" + number);
    }
    for (const char* const key : {"run.minibatch_size", "mode.start_index", "data.downsample"}) {
      expect_refused(TrainedFolder::tagging("out") + " " + key + "=" + number);
    }
  }
}

TEST_F(HostileCommands, images_that_no_memory_holds_are_refused) {
  for (const std::string& number : kNumbers) {
    for (const std::string& size :
         {" --rows " + number + " --columns 64", " --rows 64 --columns " + number,
          " --rows " + number + " --columns " + number}) {
      expect_refused("graph a21" + size);
      expect_refused("test network=a21" + size);
      expect_refused("compile network=a21 --output out" + size);
      expect_refused("measure-performance network=a21" + size);
      expect_refused("export --weights trained/checkpoints --output out" + size);
    }
    expect_refused("graph a21 --rows 64 --columns 64 --batch " + number);
    expect_refused("measure-performance --rows 64 --columns 64 run.minibatch_size=" + number);
    expect_refused("iotest events.h5 --batch " + number);
    expect_refused("iotest events.h5 --downsample " + number);
    expect_refused("explain --replicas " + number);
    expect_refused("explain --pipeline " + number);
    expect_refused("explain run.minibatch_size=" + number);
    expect_refused("generate --output out.h5 --events " + number);
  }
  // Each of the two is a size that there is, but not their product.
  expect_refused("graph a21 --rows 1073741824 --columns 1073741824");
  expect_refused("compile network=a21 --output out --rows 104857600 --columns 104857600");
}

TEST_F(HostileCommands, lengths_that_run_over_are_refused_and_not_taken_for_no_length) {
  EXPECT_THAT(expect_refused("train" + kMoment + " run.length=4611686018427387904").output,
              AllOf(HasSubstr("run.length"), HasSubstr("at most")));
  EXPECT_THAT(expect_refused("train" + kMoment + " run.iterations=9223372036854775807").output,
              HasSubstr("run.iterations"));
  EXPECT_THAT(
      expect_refused(TrainedFolder::tagging("out") + " run.iterations=4611686018427387904").output,
      AllOf(HasSubstr("run.iterations"), HasSubstr("at most")));
  EXPECT_THAT(expect_refused("iotest" + kMoment + " run.iterations=4611686018427387904").output,
              HasSubstr("run.iterations"));
  expect_refused("train" + kMoment +
                 " run.length=4 mode.optimizer.schedule=one_cycle "
                 "mode.optimizer.decay_epochs=9223372036854775807");
}

TEST_F(HostileCommands, intervals_up_to_their_limit_are_as_good_as_never) {
  for (const char* const key :
       {"mode.checkpoint_iteration", "mode.summary_iteration", "mode.logging_iteration",
        "run.aux_iterations", "mode.early_stopping_patience", "mode.keep_checkpoints"}) {
    int number = 0;
    for (const char* const value : {"1000000", "1000000000000"}) {
      const std::string output = key + std::to_string(number++);
      const CommandResult result = folder_.run(
          TrainedFolder::training(output) + " mode.no_summary_images=false " + key + "=" + value);
      EXPECT_EQ(result.status, 0) << key << "=" << value << "\n" << result.output;
    }
    for (const char* const value : {"4611686018427387904", "9223372036854775807"}) {
      expect_refused(TrainedFolder::training("never") + " " + key + "=" + value);
    }
  }
}

TEST_F(HostileCommands, a_pipe_a_folder_a_device_or_a_circle_of_links_is_no_file_and_nobody_waits) {
  for (const std::string path : {"pipe", "folder", "loop", "/dev/zero", "/dev/full", "empty",
                                 "missing", "empty/x", "of_pipes"}) {
    for (const std::string& words :
         {"checkpoint show " + path, "checkpoint diff " + path + " trained/checkpoints",
          "checkpoint diff trained/checkpoints " + path, "checkpoint convert " + path + " out",
          "run --artifact " + path + kMoment, "data show " + path + " --output out.png",
          "data list " + path, "data check " + path, "iotest " + path,
          "export --output out --weights " + path,
          TrainedFolder::training("out") + " mode.weights_location=" + path,
          TrainedFolder::tagging("out") + " mode.weights_location=" + path,
          TrainedFolder::training("out") + " data.file=" + path,
          TrainedFolder::tagging("out") + " data.file=" + path,
          TrainedFolder::training("out") + " run.machine=" + path,
          TrainedFolder::training("out") + " run.executable=" + path,
          "evaluate" + kMoment + " output_dir=out mode.weights_location=" + path}) {
      expect_refused(words);
    }
    expect_an_end(TrainedFolder::training("aux") + " run.length=1 data.aux_file=" + path);
    // An empty recipe is one; the others are not.
    expect_an_end("config run.id=1 --config-name ./" + path + " --config-dir .");
  }
}

TEST_F(HostileCommands, an_output_folder_that_cannot_be_is_named) {
  for (const std::string path : {"pipe", "loop", "empty", "/dev/zero", "empty/x", "loop/x",
                                 "/proc/self/mem/x", "/proc/x", kLongName.c_str()}) {
    for (const std::string& words :
         {TrainedFolder::training(path), TrainedFolder::tagging(path),
          "evaluate" + kMoment + " mode.weights_location=trained/checkpoints output_dir=" + path}) {
      EXPECT_THAT(expect_refused(words).output, HasSubstr(path));
    }
    expect_refused(TrainedFolder::tagging("out") + " mode.output_file=" + path + "/x/y.h5");
    expect_refused("generate --events 1 --output " + path + "/x/y.h5");
    expect_an_end(TrainedFolder::training("cached") + " run.executable_cache=" + path);
  }
}

TEST_F(HostileCommands, an_environment_that_names_no_folder_ends_no_run) {
  for (const char* const variable :
       {"TMPDIR=/missing", "TMPDIR=empty", "TMPDIR=loop", "XDG_RUNTIME_DIR=pipe"}) {
    const std::string before = std::string("unset XDG_RUNTIME_DIR; export ") + variable + ";";
    const std::string output = std::string("out") + variable[0] + std::to_string(variable[7]);
    EXPECT_EQ(expect_an_end(TrainedFolder::training(output), before).status, 0) << variable;
    expect_an_end("monitor --once", before);
    expect_an_end("test" + kTinyTest, before);
  }
  expect_an_end(TrainedFolder::training("uncached"), "export COSMIC_CACHE_DIR=loop/x;");
}

TEST_F(HostileCommands, a_missing_temporary_folder_is_named_by_who_needs_it) {
  const CommandResult result =
      expect_refused("monitor --once", "unset XDG_RUNTIME_DIR; export TMPDIR=/missing;");
  EXPECT_THAT(result.output, AllOf(HasSubstr("TMPDIR"), HasSubstr("temporary")));
}

TEST_F(HostileCommands, help_lists_what_every_exit_status_means) {
  const std::string help = folder_.run("--help").output;
  for (const char* const line :
       {"  0   finished", "  1   finished", "  2   refused", "  3   failed", "  4   failed",
        "  5   failed", "  70  a bug", "  75  stopped"}) {
    EXPECT_THAT(help, HasSubstr(line));
  }
}

TEST_F(HostileCommands, each_kind_of_end_has_the_status_that_the_help_gives) {
  EXPECT_EQ(folder_.run("checkpoint diff trained/checkpoints trained/checkpoints").status, 0);
  EXPECT_EQ(folder_
                .run("checkpoint diff trained/checkpoints/model-2.safetensors "
                     "trained/checkpoints/model-4.safetensors")
                .status,
            1);
  EXPECT_EQ(folder_.run("trian").status, 2);
  EXPECT_EQ(folder_.run("config run.id=1 run.minibatch_size=0").status, 2);
  EXPECT_EQ(folder_.run("data list missing.h5").status, 3);
  EXPECT_EQ(folder_.run("train" + kMoment + " run.length=1000000 run.max_time=0.2s output_dir=out")
                .status,
            75);
}

}  // namespace
}  // namespace cosmic
