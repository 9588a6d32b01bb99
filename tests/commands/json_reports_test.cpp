// Every command that reports something prints it as one JSON object with --json, and nothing else
// on standard output.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "commands/listed_commands.hpp"
#include "commands/trained_folder.hpp"

namespace cosmic {
namespace {

using nlohmann::json;

struct Report {
  std::string command;
  std::string words;
  std::string pointer;  ///< to a part of the answer
  json expected;        ///< what is there; null for anything that is not null
  int status = 0;
};

const std::vector<Report>& reports() {
  static const std::vector<Report> list{
      {"calibrate", "record.json --machine zen4-2core", "/changes", {}},
      {"checkpoint", "show trained/checkpoints", "/step", 4},
      {"checkpoint", "show trained/checkpoints --tensors", "/tensors/0/mean", {}},
      {"checkpoint", "diff trained/checkpoints trained/checkpoints", "/identical", true},
      {"checkpoint",
       "diff trained/checkpoints/model-2.safetensors trained/checkpoints/model-4.safetensors",
       "/step/a", 2, 1},
      {"compare", "trained trained --data events.h5", "/runs/1/events/2/entry", 2},
      {"config", "run.id=1 run.minibatch_size=3", "/run.minibatch_size", 3},
      {"data", "list events.h5", "/files/0/events", 3},
      {"data", "check events.h5", "/files/0/verdict", "good"},
      {"data", "check missing.h5", "", {}, 3},
      {"evaluate", kMoment + " mode.weights_location=trained/checkpoints output_dir=evaluated",
       "/per_event/2/entry", 2},
      {"explain", kMoment + " run.compute_mode=CPU", "/machine", {}},
      {"find-learning-rate", kMoment + " --updates 5", "/points/4/rate", 1},
      {"graph", "a21 --rows 64 --columns 64", "/memory_bytes", {}},
      {"infer", kMoment + " mode.weights_location=trained/checkpoints output_dir=inferred",
       "/events", 3},
      {"iotest", "events.h5 --batch 1 --events 3", "/events", 3},
      {"measure-performance", kMoment + " --calls 2 --calls-before 1", "/network", {}},
      {"monitor", "", "", {}},
      {"tag", "events.h5 --weights trained/checkpoints", "/files/0/events", 3},
      {"targets", "", "/0/target", "cpu"},
      {"test", kMoment, "/passed", true},
      {"train", kMoment + " run.iterations=2 output_dir=again", "/steps", 2},
      {"train", kMoment + " run.iterations=2 output_dir=dry --dry-run", "/fits", true},
  };
  return list;
}

/// They do something, and what they say is that it is done.
const std::set<std::string> kActions{"compile", "completion", "export", "generate", "launch",
                                     "manual",  "run",        "serve",  "view"};

class JsonReports : public testing::Test {
 protected:
  JsonReports() {
    folder_.run("measure-performance" + kMoment +
                " --record record.json --calls 2 --calls-before 1");
  }
  TrainedFolder folder_;
};

TEST_F(JsonReports, of_every_command_that_has_something_to_report_are_one_object) {
  for (const Report& report : reports()) {
    SCOPED_TRACE(report.command + " " + report.words);
    const CommandResult result =
        folder_.run(report.command + " " + report.words + " --json 2>errors.txt");
    EXPECT_EQ(result.status, report.status) << result.output;
    const json answer = json::parse(result.output, nullptr, false);
    if (report.pointer.empty()) {
      EXPECT_FALSE(answer.is_discarded()) << result.output;
      continue;
    }
    const json::json_pointer place(report.pointer);
    if (!answer.is_structured() || !answer.contains(place)) {
      ADD_FAILURE() << result.output.substr(0, 500);
      continue;
    }
    if (report.expected.is_null()) {
      EXPECT_FALSE(answer.at(place).is_null());
    } else {
      EXPECT_EQ(answer.at(place), report.expected);
    }
  }
}

TEST_F(JsonReports, are_there_for_every_command_that_is_not_a_mere_action) {
  std::set<std::string> known = kActions;
  for (const Report& report : reports()) {
    known.insert(report.command);
  }
  std::set<std::string> commands = commands_in_manual(folder_.run("manual").output);
  std::erase_if(commands,
                [](const std::string& name) { return name.find(' ') != std::string::npos; });
  EXPECT_GT(commands.size(), 20U);
  EXPECT_EQ(commands, known);
}

}  // namespace
}  // namespace cosmic
