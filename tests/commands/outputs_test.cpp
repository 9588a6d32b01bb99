// The rule for every file that a command writes, for every command: what exists is replaced only
// with --overwrite, an input never, nothing goes through a link, and what a command did not finish
// does not stay.
#include <gmock/gmock.h>

#include <fstream>
#include <set>

#include "commands/listed_commands.hpp"
#include "commands/work_folder.hpp"

namespace cosmic {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int kRefused = 2;

/// A command line that writes files.
struct Writing {
  std::string name;
  std::string command;  ///< as in the help
  std::string words;
  std::vector<std::string> outputs;
  std::vector<std::string> inputs;  ///< files that it reads
};

std::ostream& operator<<(std::ostream& out, const Writing& writing) {
  return out << writing.name;
}

const std::string kInference =
    "mode.weights_location=weights.safetensors data.file=events.h5 output_dir=tagged ";

std::vector<Writing> all_writings() {
  const std::vector<std::string> of_inference{"out.h5",
                                              "tagged/inference.json",
                                              "tagged/ana_metrics.csv",
                                              "tagged/profiles/inference_timeline.json",
                                              "tagged/profiles/inference_profile.json",
                                              "tagged/profiles/inference_profile.html"};
  return {
      {"calibrate",
       "calibrate",
       "--machine mine.machine.yaml record.json --output out.yaml",
       {"out.yaml"},
       {"record.json", "mine.machine.yaml"}},
      {"calibrate_as_record",
       "calibrate",
       "record.json --as-record out.json",
       {"out.json"},
       {"record.json"}},
      {"checkpoint_convert",
       "checkpoint convert",
       "weights.safetensors out.safetensors",
       {"out.safetensors"},
       {"weights.safetensors"}},
      {"checkpoint_convert_of_a_folder",
       "checkpoint convert",
       "trained/checkpoints out.safetensors",
       {"out.safetensors"},
       {"trained/checkpoints/model-2.safetensors", "trained/checkpoints/checkpoint"}},
      {"compare",
       "compare",
       "trained trained --data events.h5 --output out.html",
       {"out.html"},
       {"events.h5", "trained/config.yaml", "trained/train_metrics.csv"}},
      {"checkpoint_publish",
       "checkpoint publish",
       "trained/checkpoints --calibrate-on others.h5 --output out.safetensors run.threads=1",
       {"out.safetensors", "out.md"},
       {"trained/checkpoints/model-2.safetensors", "others.h5"}},
      {"compile",
       "compile",
       "--output out.cosmicx mode=inference data.file=events.h5 --config-name mine.yaml" +
           kTinySettings,
       {"out.cosmicx"},
       {"events.h5", "mine.yaml"}},
      {"data_show",
       "data show",
       "events.h5 --event 1 --output out.png",
       {"out.png"},
       {"events.h5"}},
      {"data_show_without_a_name",
       "data show",
       "events.h5 --event 1",
       {"events_event1.png"},
       {"events.h5"}},
      {"evaluate",
       "evaluate",
       "mode.output_file=out.html " + kInference + kTinySettings,
       {"out.json", "out.html"},
       {"events.h5", "weights.safetensors"}},
      {"evaluate_without_a_name",
       "evaluate",
       kInference + kTinySettings,
       {"tagged/evaluation.json", "tagged/evaluation.html"},
       {"events.h5"}},
      {"explain_all",
       "explain",
       "--all --output out.html --config-dir . --config-name mine" + kTinySettings,
       {"out.html"},
       {"mine.yaml"}},
      {"explain_profile",
       "explain",
       "run.compute_mode=IPU --profile out.html --config-name=mine.yaml" + kTinySettings,
       {"out.json", "out.html"},
       {"mine.yaml"}},
      {"export",
       "export",
       "--weights weights.safetensors --output out.onnx --rows 64 --columns 64" + kTinySettings,
       {"out.onnx"},
       {"weights.safetensors"}},
      {"export_of_a_folder",
       "export",
       "--weights trained/checkpoints --output out.onnx --rows 64 --columns 64",
       {"out.onnx"},
       {"trained/checkpoints/model-2.safetensors"}},
      {"export_of_a_training_step",
       "export",
       "--step training --weights weights.safetensors --output out.onnx --rows 64 --columns 64" +
           kTinySettings,
       {"out.onnx", "out.safetensors"},
       {"weights.safetensors"}},
      {"export_of_a_port_kit",
       "export",
       "--for torch --weights weights.safetensors --output out --rows 64 --columns 64" +
           kTinySettings,
       {"out/README.md", "out/events.py", "out/loop.py", "out/loss.py", "out/network.py",
        "out/on_torch.py", "out/record.py", "out/schedule.py", "out/settings.json",
        "out/weights.py", "out/weights.safetensors"},
       {"weights.safetensors"}},
      {"find_learning_rate",
       "find-learning-rate",
       "--updates 3 --output out.html data.file=events.h5 data.aux_file= --config-name mine.yaml" +
           kTinySettings,
       {"out.html"},
       {"events.h5", "mine.yaml"}},
      {"data_merge", "data merge", "events.h5 --output out.h5", {"out.h5"}, {"events.h5"}},
      {"generate", "generate", "--events 1 --seed 3 --output out.h5", {"out.h5"}, {}},
      {"infer",
       "infer",
       "mode.output_file=out.h5 run.profile=true " + kInference + kTinySettings,
       of_inference,
       {"events.h5", "weights.safetensors"}},
      {"measure_performance",
       "measure-performance",
       "--record out.json --calls 1 --calls-before 0 --rows 64 --columns 64" + kTinySettings,
       {"out.json"},
       {}},
      {"tag",
       "tag",
       "events.h5 --weights weights.safetensors --output out.h5" + kTinySettings,
       {"out.h5"},
       {"events.h5", "weights.safetensors"}},
      {"view_export",
       "view",
       "events.h5 --events 0 --export out.html",
       {"out.html"},
       {"events.h5"}},
      {"run",
       "run",
       "--artifact tags.cosmicx mode.output_file=out.h5 " + kInference +
           "run.id=tiny run.distributed=false",
       {"out.h5", "tagged/inference.json", "tagged/ana_metrics.csv"},
       {"tags.cosmicx", "events.h5"}},
  };
}

/// What writes nothing, or only into the folder of its own run, which is locked: `train`.
const std::map<std::string, std::string>& not_writing() {
  static const std::map<std::string, std::string> words{
      {"checkpoint show", "trained/checkpoints"},
      {"checkpoint diff", "weights.safetensors weights.safetensors"},
      {"completion", "bash"},
      {"config", "--yaml run.id=1"},
      {"data list", "events.h5"},
      {"data check", "events.h5"},
      {"graph", "a21 --rows 128 --columns 128"},
      {"iotest", "events.h5 --events 3"},
      {"launch", "--dry-run --num-instances 2 -- train data.file=events.h5"},
      {"manual", ""},
      {"monitor", "--json"},
      {"targets", ""},
      {"test", kTinySettings},
      {"train", ""}};
  return words;
}

class Outputs : public testing::TestWithParam<Writing> {
 protected:
  Outputs() {
    folder_.make_events("events.h5");
    folder_.train("trained");
    expect_success("generate --events 1 --seed 9 --output others.h5");
    expect_success("checkpoint convert trained/checkpoints weights.safetensors");
    expect_success("compile --output tags.cosmicx mode=inference data.file=events.h5" +
                   kTinySettings);
    std::ofstream(folder_ / "mine.yaml") << "run:\n  minibatch_size: 1\n";
    std::ofstream(folder_ / "record.json")
        << R"({"format": "cosmictagger record 1", "step": {"seconds": 0.1},
               "settings": ["network=a21", "mode=train", "run.compute_mode=CPU"]})";
    std::filesystem::copy_file("machines/zen4-2core.yaml", folder_ / "mine.machine.yaml");
  }

  void expect_success(const std::string& words) const {
    const Ended ended = folder_.run(words);
    ASSERT_EQ(ended.status, 0) << words << "\n" << ended.output;
  }

  static std::string words(const std::string& more = "") {
    return GetParam().command + " " + GetParam().words + more;
  }

  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }

  /// The command is refused for what is at `output`, and changes nothing.
  void expect_refused(const std::string& more, const std::string& output,
                      const std::vector<std::string>& because) const {
    const auto before = folder_.content();
    const Ended ended = folder_.run(words(more));
    EXPECT_EQ(ended.status, kRefused) << words(more) << "\n" << ended.output;
    EXPECT_THAT(ended.output, HasSubstr(output));
    for (const std::string& words : because) {
      EXPECT_THAT(ended.output, HasSubstr(words));
    }
    EXPECT_EQ(folder_.content(), before) << words(more) << " has changed something";
  }

  WorkFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Of, Outputs, testing::ValuesIn(all_writings()),
                         [](const auto& test) { return test.param.name; });

TEST_P(Outputs, are_replaced_only_with_an_option_that_the_command_has) {
  expect_success(words());
  for (const std::string& output : GetParam().outputs) {
    EXPECT_TRUE(std::filesystem::exists(folder_ / output)) << output;
  }
  EXPECT_THAT(folder_.unfinished_files(), IsEmpty());
  for (const std::string& output : GetParam().outputs) {
    for (const std::string& other : GetParam().outputs) {
      std::filesystem::remove(folder_ / other);
    }
    put(output, "mine");
    expect_refused("", output, {"already exists", "--overwrite"});
  }
  for (const std::string& output : GetParam().outputs) {
    put(output, "mine");
  }
  expect_success(words(" --overwrite"));
  for (const std::string& output : GetParam().outputs) {
    EXPECT_NE(content_of(folder_ / output), "mine") << output;
  }
  EXPECT_THAT(folder_.unfinished_files(), IsEmpty());
}

TEST_P(Outputs, are_never_an_input_nor_behind_a_link) {
  for (const std::string& output : GetParam().outputs) {
    std::filesystem::create_directories((folder_ / output).parent_path());
    for (const std::string more : {"", " --overwrite"}) {
      for (const std::string& input : GetParam().inputs) {
        std::filesystem::create_hard_link(folder_ / input, folder_ / output);
        expect_refused(more, output, {"is the same file as", input});
        std::filesystem::remove(folder_ / output);
      }
      for (const std::string target : {"nowhere", "weights.safetensors"}) {
        std::filesystem::create_symlink(folder_ / target, folder_ / output);
        expect_refused(more, output, {"is a link to '", target});
        std::filesystem::remove(folder_ / output);
      }
    }
  }
}

/// Those that do something: `data show`, and not `data`, which only has others below it.
std::set<std::string> working_commands() {
  std::set<std::string> names = commands_in_manual(WorkFolder().run("manual").output);
  std::erase_if(names, [&](const std::string& name) {
    const auto next = names.upper_bound(name + " ");
    return next != names.end() && next->starts_with(name + " ");
  });
  return names;
}

TEST(EveryCommand, is_in_the_table_of_those_that_write_or_of_those_that_do_not) {
  std::set<std::string> known;
  for (const Writing& writing : all_writings()) {
    known.insert(writing.command);
  }
  for (const auto& [command, words] : not_writing()) {
    EXPECT_FALSE(known.contains(command)) << command;
    known.insert(command);
  }
  known.insert("checkpoint rewind");  // changes a line of a run's own index, under the run's lock
  known.insert("serve");              // has no end; of files, only its log grows
  EXPECT_EQ(working_commands(), known);
}

class OtherCommands : public Outputs {};

TEST_F(OtherCommands, write_nothing) {
  const auto before = folder_.content();
  for (const auto& [command, words] : not_writing()) {
    if (command == "train") {
      continue;
    }
    expect_success(command + " " + words);
    EXPECT_EQ(folder_.content(), before) << command;
  }
}

TEST_F(OtherCommands, evaluate_onto_an_input_is_refused_and_the_input_keeps_every_bit) {
  const std::string before = content_of(folder_ / "events.h5");
  for (const std::string more : {"", " --overwrite"}) {
    const Ended ended =
        folder_.run("evaluate mode.output_file=events.h5 " + kInference + kTinySettings + more);
    EXPECT_EQ(ended.status, kRefused) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr("events.h5: is the same file as"));
    EXPECT_EQ(content_of(folder_ / "events.h5"), before);
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "tagged"));
}

TEST_F(OtherCommands, infer_into_the_folder_of_its_inputs_is_refused) {
  const std::string before = content_of(folder_ / "events.h5");
  for (const std::string more : {"", " --overwrite"}) {
    const Ended ended =
        folder_.run("infer mode.output_file=. " + kInference + kTinySettings + more);
    EXPECT_EQ(ended.status, kRefused) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr("is the same file as"));
  }
  EXPECT_EQ(content_of(folder_ / "events.h5"), before);
}

TEST_F(OtherCommands, a_log_that_is_a_link_is_not_followed) {
  std::filesystem::create_directories(folder_ / "tagged");
  std::filesystem::create_symlink(folder_ / "mine.yaml", folder_ / "tagged" / "process.log");
  const std::string before = content_of(folder_ / "mine.yaml");
  for (const std::string command : {"infer ", "evaluate "}) {
    const Ended ended = folder_.run(command + kInference + kTinySettings);
    EXPECT_EQ(ended.status, kRefused) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr("process.log: is a link to"));
  }
  EXPECT_EQ(content_of(folder_ / "mine.yaml"), before);
}

TEST_F(OtherCommands, that_are_refused_make_no_folder) {
  const auto before = folder_.content();
  for (const std::string words :
       {"train data.file=missing.h5 output_dir=new", "infer data.file=events.h5 output_dir=new",
        "evaluate data.file=events.h5 output_dir=new",
        "infer data.file=missing.h5 output_dir=new"}) {
    const Ended ended = folder_.run(words + kTinySettings);
    EXPECT_THAT(ended.status, AnyOf(2, 3)) << ended.output;
    EXPECT_EQ(folder_.content(), before) << words;
  }
}

// Long enough to be caught in the act.
const std::string kLongWriting = "generate --events 100000 --output out.h5";

class Interrupted : public testing::TestWithParam<int> {
 protected:
  bool wait_until_writing() const {
    return comes_true([&] { return !folder_.unfinished_files().empty(); });
  }

  WorkFolder folder_;
};

std::string name_of(const testing::TestParamInfo<int>& test) {
  static const std::map<int, std::string> names{
      {SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}, {SIGXCPU, "SIGXCPU"}};
  return names.at(test.param);
}

INSTANTIATE_TEST_SUITE_P(By, Interrupted, testing::Values(SIGINT, SIGTERM, SIGHUP, SIGXCPU),
                         name_of);

TEST_P(Interrupted, generate_leaves_no_unfinished_file) {
  BackgroundProgram program = folder_.start(kLongWriting);
  ASSERT_TRUE(wait_until_writing()) << folder_.printed();
  EXPECT_NE(program.end(GetParam()), 0);
  EXPECT_THAT(folder_.content(), IsEmpty());
}

TEST_P(Interrupted, infer_leaves_no_unfinished_file) {
  folder_.make_events("events.h5");
  folder_.train("trained");
  BackgroundProgram program = folder_.start(
      "infer data.file=events.h5 mode.output_file=out.h5 mode.weights_location=trained/"
      "checkpoints output_dir=tagged" +
      kTinySettings);
  ASSERT_TRUE(wait_until_writing()) << folder_.printed();
  program.end(GetParam());
  EXPECT_THAT(folder_.unfinished_files(), IsEmpty());
}

class TwoWriters : public Interrupted {};

TEST_F(TwoWriters, the_second_is_refused_while_the_first_writes) {
  BackgroundProgram first = folder_.start(kLongWriting);
  ASSERT_TRUE(wait_until_writing()) << folder_.printed();
  for (const std::string more : {"", " --overwrite"}) {
    const Ended second = folder_.run("generate --events 1 --output out.h5" + more);
    EXPECT_EQ(second.status, kRefused);
    EXPECT_THAT(second.output, HasSubstr("out.h5: is being written by another process"));
  }
  EXPECT_THAT(folder_.unfinished_files(), SizeIs(1));
}

TEST_F(TwoWriters, leftovers_of_a_killed_one_are_removed_by_the_next) {
  BackgroundProgram first = folder_.start(kLongWriting);
  ASSERT_TRUE(wait_until_writing()) << folder_.printed();
  first.end(SIGKILL);
  EXPECT_THAT(folder_.unfinished_files(), SizeIs(1));
  const Ended second = folder_.run("generate --events 1 --output out.h5");
  EXPECT_EQ(second.status, 0) << second.output;
  EXPECT_THAT(folder_.content(), SizeIs(1));
}

TEST_F(TwoWriters, of_one_output_exactly_one_succeeds) {
  constexpr int kRounds = 24;
  for (int round = 0; round < kRounds; ++round) {
    int first_status = 0;
    int second_status = 0;
    {
      BackgroundProgram first = folder_.start("generate --events 1 --seed 1 --output out.h5");
      second_status = folder_.run("generate --events 1 --seed 2 --output out.h5").status;
      first_status = first.end();
    }
    EXPECT_THAT(std::vector({first_status, second_status}),
                AnyOf(ElementsAre(0, kRefused), ElementsAre(kRefused, 0)))
        << "round " << round;
    EXPECT_THAT(folder_.content(), SizeIs(1));
    EXPECT_EQ(folder_.run("data check out.h5").status, 0);
    std::filesystem::remove(folder_ / "out.h5");
  }
}

TEST_F(TwoWriters, of_predictions_into_one_file_exactly_one_succeeds) {
  constexpr int kRounds = 12;
  folder_.make_events("events.h5");
  folder_.train("trained");
  for (int round = 0; round < kRounds; ++round) {
    const auto words = [](const std::string& id) {
      return "infer data.file=events.h5 mode.output_file=out.h5 "
             "mode.weights_location=trained/checkpoints output_dir=" +
             id + kTinySettings;
    };
    BackgroundProgram first = folder_.start(words("first"));
    const Ended second = folder_.run(words("second"));
    EXPECT_THAT(std::vector({first.end(), second.status}),
                AnyOf(ElementsAre(0, kRefused), ElementsAre(kRefused, 0)))
        << "round " << round << "\n"
        << second.output;
    EXPECT_EQ(folder_.run("data check out.h5").status, 0);
    EXPECT_THAT(folder_.unfinished_files(), IsEmpty());
    for (const char* const name : {"out.h5", "first", "second"}) {
      std::filesystem::remove_all(folder_ / name);
    }
  }
}

}  // namespace
}  // namespace cosmic
