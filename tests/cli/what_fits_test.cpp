// What the command line answers to a run that does not fit its machine: settings that were tried.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/run_command.hpp"
#include "core/error.hpp"
#include "scratch_folder.hpp"
#include "train/tiny_run.hpp"

namespace cosmic::cli {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

using Words = std::vector<std::string>;

void add_commands(Command& app) {
  add_compile(app);
  add_evaluate(app);
  add_infer(app);
  add_measure_performance(app);
  add_test(app);
  add_train(app);
}

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Words words_in(const std::string& text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

/// Lines of settings in an answer.
std::vector<Words> offers_in(const std::string& answer) {
  std::vector<Words> offers;
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, std::regex("^  [a-z]+\\."))) {
      offers.push_back(words_in(line));
    }
  }
  return offers;
}

struct Refusal {
  std::string answer;
  std::string shown;  ///< meanwhile
};

class WhatFits : public testing::Test {
 protected:
  WhatFits() {
    write_random_events(folder_ / "train.h5", 20, 1);
    write_random_events(folder_ / "test.h5", 20, 2);
  }

  /// A machine that comes with the program, but for one figure.
  std::string machine_like(const std::string& name, const std::string& figure,
                           const std::string& value) const {
    std::ifstream file("machines/" + name + ".yaml");
    std::stringstream text;
    text << file.rdbuf();
    const std::regex line("( " + figure + ": +\\{value: )[0-9.]+(, unit: )[^,]+");
    const std::string path = (folder_ / (name + "-" + figure + ".yaml")).string();
    const std::string changed = std::regex_replace(
        std::regex_replace(text.str(), line, "$01" + value), std::regex("name: (G.*)"),
        "name: Small $1", std::regex_constants::format_first_only);
    EXPECT_THAT(changed, HasSubstr(value)) << name;
    std::ofstream(path) << changed;
    return path;
  }

  Words run_of(const std::string& command, const Words& more) const {
    const Words words = joined({command}, kTinyNetwork);
    return joined(
        joined(words, {"data.data_directory=" + folder_.path().string(), "data.file=train.h5"}),
        more);
  }

  Words training(const Words& more) const {
    return run_of("train", joined({"run.id=tiny", "data.aux_file=test.h5", "run.units=iteration",
                                   "run.length=1", "run.aux_iterations=1",
                                   "output_dir=" + (folder_ / "out").string()},
                                  more));
  }

  Words compiling(const std::string& mode, const Words& more) const {
    return run_of("compile", joined({"mode=" + mode, "--overwrite", "--output",
                                     (folder_ / "tiny.cosmicx").string()},
                                    more));
  }

  static std::string run(const Words& words) {
    return printed_by([&] { run_command(add_commands, words); });
  }

  static Refusal refusal_of(const Words& words) {
    testing::internal::CaptureStderr();
    try {
      run(words);
    } catch (const TargetError& error) {
      return {error.what(), testing::internal::GetCapturedStderr()};
    }
    testing::internal::GetCapturedStderr();
    ADD_FAILURE() << "it fits";
    return {};
  }

  ScratchFolder folder_{"what_fits"};
};

TEST_F(WhatFits, settings_of_a_refused_training_were_tried_and_train) {
  const Words words = training({"run.compute_mode=IPU", "run.minibatch_size=16",
                                "run.machine=" + machine_like("gc200", "tiles", "4, unit: count")});
  const Refusal refusal = refusal_of(words);
  EXPECT_THAT(refusal.shown, HasSubstr("looking for settings that would ..."));
  EXPECT_THAT(refusal.answer,
              AllOf(HasSubstr("does not fit Small GC200: the fullest of 4 tiles needs"),
                    HasSubstr("This would make it fit"),
                    ContainsRegex("per event \\(modelled|\\(modelled, [^)]*\\) per event"),
                    Not(HasSubstr("--stream-optimizer")), Not(HasSubstr("--make-it-fit"))));
  const std::vector<Words> offers = offers_in(refusal.answer);
  EXPECT_GE(offers.size(), 2U) << refusal.answer;
  EXPECT_LE(offers.size(), 3U);
  for (const Words& offer : offers) {
    SCOPED_TRACE(testing::PrintToString(offer));
    std::filesystem::remove_all(folder_ / "out");
    EXPECT_THAT(run(joined(words, offer)), HasSubstr("complete after 1 steps"));
  }
}

TEST_F(WhatFits, a_refused_inference_is_offered_nothing_that_only_training_has) {
  const Words words =
      compiling("inference", {"run.compute_mode=IPU", "run.minibatch_size=64",
                              "run.machine=" + machine_like("gc200", "tiles", "2, unit: count")});
  const std::string answer = refusal_of(words).answer;
  EXPECT_THAT(answer, AllOf(Not(HasSubstr("run.stages")), Not(HasSubstr("run.recompute")),
                            Not(HasSubstr("an update"))));
  const std::vector<Words> offers = offers_in(answer);
  EXPECT_FALSE(offers.empty()) << answer;
  for (const Words& offer : offers) {
    EXPECT_THAT(run(joined(words, offer)), HasSubstr("Compiled  mode=inference"));
  }
}

TEST_F(WhatFits, a_machine_of_the_family_is_named_where_nothing_else_helps) {
  const Words words =
      compiling("train", {"run.compute_mode=HPU",
                          "run.machine=" + machine_like("gaudi1", "memory", "50000, unit: B")});
  const std::string answer = refusal_of(words).answer;
  EXPECT_THAT(answer,
              AllOf(HasSubstr("the memory pool needs"),
                    ContainsRegex("None of the [0-9]+ ways that were tried fits Small Gaudi1"),
                    HasSubstr("\n  run.machine=gaudi1"), HasSubstr("\n  run.machine=gaudi2")));
  for (const Words& offer : offers_in(answer)) {
    EXPECT_THAT(run(joined(words, offer)), HasSubstr("Compiled  mode=train"));
  }
}

TEST_F(WhatFits, what_fits_no_machine_of_the_family_says_so) {
  const std::string answer =
      refusal_of(compiling("inference", {"run.compute_mode=HPU", "run.minibatch_size=1", "--rows",
                                         "65536", "--columns", "65536"}))
          .answer;
  EXPECT_THAT(answer, AllOf(HasSubstr("fits Gaudi1"), HasSubstr("nor Gaudi2"),
                            HasSubstr("data.downsample"), HasSubstr("explain --all")));
  EXPECT_TRUE(offers_in(answer).empty());
  // Bow has the memory of GC200, so it is not even tried.
  EXPECT_THAT(refusal_of(compiling("inference", {"run.compute_mode=IPU", "run.minibatch_size=1",
                                                 "--rows", "65536", "--columns", "65536"}))
                  .answer,
              AllOf(HasSubstr("no known machine of the same family"), Not(HasSubstr("Bow"))));
}

TEST_F(WhatFits, what_probably_does_not_fit_runs_with_a_warning) {
  std::string log;
  for (int tiles = 8; tiles > 4 && log.find("probably does not") == std::string::npos; --tiles) {
    std::filesystem::remove_all(folder_ / "out");
    const std::string machine =
        machine_like("gc200", "tiles", std::to_string(tiles) + ", unit: count");
    log = run(training({"run.compute_mode=IPU", "run.minibatch_size=8", "run.machine=" + machine}));
  }
  EXPECT_THAT(
      log, AllOf(ContainsRegex(
                     "WARNING[^\n]*It probably does not fit Small GC200: the fullest of . tiles "
                     "needs [^\n]*, with its error bar [^\n]* to [^\n]*, and has [^\n]*modelled"),
                 HasSubstr("complete after 1 steps")));
}

TEST_F(WhatFits, every_command_that_runs_a_network_answers) {
  const std::string machine = machine_like("gc200", "tiles", "2, unit: count");
  const Words small{"run.compute_mode=IPU", "run.machine=" + machine, "run.minibatch_size=64",
                    "run.id=tiny", "output_dir=" + (folder_ / "out").string()};
  for (const char* command : {"infer", "evaluate", "measure-performance"}) {
    SCOPED_TRACE(command);
    EXPECT_THAT(refusal_of(run_of(command, small)).answer, HasSubstr("This would make it fit"));
  }
  EXPECT_THAT(refusal_of(run_of("test", joined(small, {"--whole-events"}))).answer,
              HasSubstr("This would make it fit"));
}

}  // namespace
}  // namespace cosmic::cli
