// What the program says and does not say: quiet runs, looks without touching, help, completion, and
// answers to words that other programs have.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "commands/work_folder.hpp"

namespace cosmic {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::StartsWith;

constexpr int kRefused = 2;

class TerminalComfort : public testing::Test {
 protected:
  TerminalComfort() { folder_.make_events("events.h5"); }
  static std::string training(const std::string& more = "") {
    return " data.file=events.h5 data.aux_file=events.h5 run.aux_iterations=1" + kTinySettings +
           more;
  }
  Ended expect(int status, const std::string& words) const {
    Ended ended = folder_.run(words);
    EXPECT_EQ(ended.status, status) << words << "\n" << ended.output;
    return ended;
  }

  WorkFolder folder_;
};

TEST_F(TerminalComfort, a_quiet_training_says_nothing_and_logs_everything) {
  const Ended ended = expect(0, "train --quiet run.iterations=2 output_dir=run" + training());
  EXPECT_EQ(ended.output, "");
  EXPECT_THAT(content_of(folder_ / "run/process.log"),
              AllOf(HasSubstr("train Step 0 metrics"), HasSubstr("train Step 1 metrics")));
}

TEST_F(TerminalComfort, a_dry_run_checks_everything_says_what_it_needs_and_writes_nothing) {
  const auto before = folder_.content();
  const Ended ended = expect(0, "train --dry-run run.iterations=2 output_dir=run" + training());
  EXPECT_THAT(ended.output, AllOf(HasSubstr("Nothing was written"), HasSubstr("updates 0 to 2"),
                                  HasSubstr("GB that this host has free")));
  EXPECT_EQ(folder_.content(), before);
  expect(3, "train --dry-run output_dir=run" + training(" data.file=missing.h5"));
  EXPECT_EQ(folder_.content(), before);
}

TEST_F(TerminalComfort, what_this_host_has_no_memory_for_is_refused_before_it_is_taken) {
  const auto before = folder_.content();
  for (const std::string train : {"train --dry-run", "train"}) {
    const Ended ended =
        expect(6, train + " run.iterations=1 output_dir=run" + kTinySettings +
                      " data=synthetic data.downsample=0 run.minibatch_size=100000");
    EXPECT_THAT(ended.output, AllOf(HasSubstr("GB of memory, and this host has "),
                                    HasSubstr("The largest batch that fits: run.minibatch_size=")));
    EXPECT_EQ(folder_.content(), before);
  }
  EXPECT_THAT(expect(6, "tag events.h5 --network fast run.minibatch_size=100000").output,
              AllOf(HasSubstr("a step of 100000 events would take "),
                    HasSubstr("The largest batch that fits: run.minibatch_size=")));
  EXPECT_EQ(folder_.content(), before);
}

TEST_F(TerminalComfort, the_help_is_short_and_that_of_all_has_every_key) {
  const Ended brief = expect(0, "help train");
  EXPECT_THAT(brief.output, AllOf(HasSubstr("--help-all"), HasSubstr("run.iterations"),
                                  Not(HasSubstr("run.horovod_num_groups"))));
  EXPECT_THAT(expect(0, "train --help-all").output, HasSubstr("run.horovod_num_groups"));
}

TEST_F(TerminalComfort, quiet_tagging_says_nothing_of_what_it_found) {
  expect(0, "generate --events 1 --seed 1 --output " + (folder_ / "one.h5").string());
  const std::string words =
      "tag " + (folder_ / "one.h5").string() + " --network fast --overwrite run.distributed=false";
  EXPECT_THAT(expect(0, words).output,
              AllOf(HasSubstr("tagging with the network 'fast' that comes with the program"),
                    Not(HasSubstr("network.depth")), HasSubstr("one.tagged.h5: 1 events")));
  EXPECT_THAT(expect(0, words + " --quiet").output,
              AllOf(Not(HasSubstr("1 events")), Not(HasSubstr("compiling"))));
}

TEST_F(TerminalComfort, a_command_without_its_words_is_told_where_its_options_are) {
  EXPECT_THAT(expect(kRefused, "tag").output,
              AllOf(HasSubstr("FILE is required"), HasSubstr("`cosmictagger help tag`")));
  EXPECT_THAT(expect(kRefused, "").output, HasSubstr("`cosmictagger --help`"));
}

TEST_F(TerminalComfort, the_first_commands_it_suggests_work_as_they_are_written) {
  const Ended ended = expect(kRefused, "");
  std::istringstream lines(ended.output);
  std::vector<std::string> commands;
  const std::string program = "  cosmictagger ";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(program)) {
      const std::string words = line.substr(program.size());
      commands.push_back(words.substr(0, words.find("   ")));
    }
  }
  ASSERT_EQ(commands.size(), 3U) << ended.output;
  expect(0, commands[0] + " --overwrite");  // there are events of that name already
  expect(0, commands[1]);
  EXPECT_THAT(commands[2], AllOf(StartsWith("view"), HasSubstr("events.tagged.h5")));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "events.tagged.h5"));
}

TEST_F(TerminalComfort, the_help_begins_with_what_most_people_want) {
  const std::string help = expect(0, "--help").output;
  const auto at = [&](const std::string& text) { return help.find(text); };
  EXPECT_LT(at("Tag and look:"), at("  tag "));
  EXPECT_LT(at("  tag "), at("Train:"));
  EXPECT_LT(at("Train:"), at("  calibrate "));
  EXPECT_NE(at("  calibrate "), std::string::npos);
}

TEST_F(TerminalComfort, names_what_is_meant_by_words_of_other_programs) {
  EXPECT_THAT(expect(kRefused, "eval").output, HasSubstr("did you mean 'evaluate'"));
  EXPECT_THAT(expect(kRefused, "train ~run.id" + training()).output, HasSubstr("leave it out"));
  EXPECT_THAT(expect(kRefused, "infer -m run.id=1,2").output, HasSubstr("sweeps are trainings"));
  EXPECT_THAT(expect(kRefused, "train --cfg job" + training()).output,
              HasSubstr("cosmictagger config"));
  EXPECT_THAT(expect(kRefused, "train netwrk=a21" + training()).output,
              HasSubstr("did you mean 'network'"));
}

TEST_F(TerminalComfort, names_the_option_that_is_meant_or_the_setting_that_others_have_as_one) {
  EXPECT_THAT(expect(kRefused, "tag events.h5 --wieghts x").output,
              AllOf(HasSubstr("'--wieghts'"), HasSubstr("did you mean '--weights'?"),
                    HasSubstr("`cosmictagger help tag`")));
  EXPECT_THAT(expect(kRefused, "data show events.h5 --prob").output,
              HasSubstr("did you mean '--probabilities'?"));
  EXPECT_THAT(expect(kRefused, "train --lr 0.1" + training()).output,
              HasSubstr("it is a setting here: mode.optimizer.learning_rate=..."));
  EXPECT_THAT(expect(kRefused, "train --gpu" + training()).output,
              HasSubstr("it is a setting here: run.compute_mode=..."));
  EXPECT_THAT(expect(kRefused, "train --minibatch-size=4" + training()).output,
              HasSubstr("run.minibatch_size=..."));
  EXPECT_THAT(expect(kRefused, "data list events.h5 --lr 3").output, HasSubstr("leave it out"));
  EXPECT_THAT(expect(kRefused, "hlep").output, HasSubstr("did you mean 'help'?"));
  EXPECT_THAT(expect(kRefused, "data").output, HasSubstr("list, check, merge, show"));
  EXPECT_THAT(expect(0, "help help").output, HasSubstr("Usage: cosmictagger"));
}

TEST_F(TerminalComfort, completion_is_a_script_that_bash_takes_and_that_knows_commands_and_keys) {
  const Ended script = expect(0, "completion bash");
  std::ofstream(folder_ / "complete.sh")
      << script.output
      << "complete_line() { COMP_LINE=\"$1\" COMP_POINT=${#1}; _cosmictagger 2>/dev/null;"
         " echo \"${COMPREPLY[@]}\"; }\n"
         "complete_line 'cosmictagger eval'\n"
         "complete_line 'cosmictagger data sho'\n"
         "complete_line 'cosmictagger train run.minib'\n"
         "complete_line 'cosmictagger train --dry'\n"
         "complete_line 'cosmictagger train network=a'\n"
         // The value of an option is no command, and what follows it is completed too.
         "complete_line 'cosmictagger tag events.h5 --network f'\n"
         "complete_line 'cosmictagger tag --network fast --wei'\n"
         "complete_line 'cosmictagger train --config-name bes'\n"
         "complete_line 'cosmictagger train --config-name best run.minib'\n"
         // Nothing, so that bash completes the names of files.
         "complete_line 'cosmictagger tag '\n"
         "complete_line 'cosmictagger tag --output '\n"
         "complete_line 'cosmictagger help eval'\n";
  const CommandResult result =
      run_command("bash '" + (folder_ / "complete.sh").string() + "' 2>&1");
  EXPECT_EQ(result.output,
            "evaluate\nshow\nrun.minibatch_size=\n--dry-run\na21\n"
            "fast\n--weights\nbest best-a21\nrun.minibatch_size=\n\n\nevaluate\n");
  EXPECT_THAT(expect(0, "completion fish").output, HasSubstr("-a evaluate"));
  EXPECT_THAT(expect(kRefused, "completion tcsh").output, HasSubstr("fish"));
}

// Outside of a completion nobody leaves out what does not begin like the last word.
TEST_F(TerminalComfort, completion_runs_in_zsh_too) {
  if (run_command("command -v zsh").status != 0) {
    GTEST_SKIP() << "needs zsh (package zsh)";
  }
  std::ofstream(folder_ / "complete.zsh")
      << "compdef() { }\n"
      << expect(0, "completion zsh").output
      << "complete_line() { emulate -L sh; local -a COMPREPLY; COMP_LINE=\"$1\"; COMP_POINT=${#1};"
         " _cosmictagger; echo \"${COMPREPLY[@]}\"; }\n"
         "complete_line 'cosmictagger tag --network '\n"
         "complete_line 'cosmictagger data s'\n"
         "complete_line 'cosmictagger train --config-name best network=a'\n";
  const CommandResult result =
      run_command("zsh -f '" + (folder_ / "complete.zsh").string() + "' 2>&1");
  EXPECT_THAT(result.output, AllOf(StartsWith("fast best\nlist check merge show "),
                                   HasSubstr(" network=a21 "), Not(HasSubstr("_cosmictagger:"))));
}

TEST_F(TerminalComfort, the_manual_page_has_every_command_and_every_key) {
  EXPECT_THAT(expect(0, "manual").output,
              AllOf(StartsWith(".TH COSMICTAGGER 1"), HasSubstr(".SS checkpoint rewind"),
                    HasSubstr("run.minibatch_size"), HasSubstr("EXIT STATUS")));
}

TEST_F(TerminalComfort, the_finder_of_learning_rates_draws_a_page_and_suggests_one) {
  const Ended ended = expect(0, "find-learning-rate --updates 12 --output rate.html" + training());
  EXPECT_THAT(ended.output, HasSubstr("Suggested learning rate"));
  EXPECT_THAT(content_of(folder_ / "rate.html"), AllOf(HasSubstr("<svg"), HasSubstr("</html>")));
  EXPECT_THAT(expect(kRefused, "find-learning-rate --from 1 --to 0.1" + training()).output,
              HasSubstr("--from 1e-6 --to 1"));
}

TEST_F(TerminalComfort, a_sweep_makes_every_training_and_compare_puts_them_on_one_page) {
  expect(0, "train -m run.iterations=2 output_dir=runs mode.optimizer.learning_rate=1e-3,1e-4" +
                training());
  const Ended ended = expect(0, "compare runs/0 runs/1 --data events.h5 --output both.html");
  EXPECT_THAT(ended.output, AllOf(HasSubstr("runs/1: 2 updates"), HasSubstr("wrote both.html")));
  EXPECT_THAT(content_of(folder_ / "both.html"),
              AllOf(HasSubstr("mode.optimizer.learning_rate"), HasSubstr("0.0001"),
                    HasSubstr("neutrino efficiency"), HasSubstr("event 2"),
                    HasSubstr("where they differ most"), HasSubstr("aria-label=\"Plane 2")));
  EXPECT_THAT(expect(0, "compare runs/0 runs/1 --json").output,
              HasSubstr("\"mode.optimizer.learning_rate\""));
  EXPECT_THAT(expect(kRefused, "compare runs/0 runs").output, HasSubstr("no config.yaml"));
}

TEST_F(TerminalComfort, tagging_uses_the_average_of_weights_says_so_and_can_do_without) {
  expect(0, "train run.iterations=3 mode.weights_average=0.9 output_dir=run" + training());
  const std::string tagging =
      " data.file=events.h5 mode.weights_location=run/checkpoints" + kTinySettings + "output_dir=";
  EXPECT_THAT(expect(0, "infer" + tagging + "averaged").output, HasSubstr("their moving average"));
  EXPECT_THAT(expect(0, "infer mode.averaged_weights=false" + tagging + "last").output,
              Not(HasSubstr("moving average")));
  EXPECT_NE(content_of(folder_ / "averaged/ana_metrics.csv"),
            content_of(folder_ / "last/ana_metrics.csv"));
  EXPECT_THAT(expect(0, "checkpoint show run/checkpoints/model-3.safetensors").output,
              HasSubstr("average     "));
}

TEST_F(TerminalComfort, explain_of_a_cpu_is_about_this_host_unless_a_machine_is_named) {
  EXPECT_THAT(expect(0, "explain mode=train run.compute_mode=CPU" + kTinySettings).output,
              HasSubstr("this-host"));
  EXPECT_THAT(
      expect(0, "explain mode=train run.compute_mode=CPU run.machine=zen4-2core" + kTinySettings)
          .output,
      Not(HasSubstr("this-host")));
  EXPECT_THAT(expect(0, "explain mode=train run.compute_mode=GPU network=a21 --json").output,
              StartsWith("{"));
}

TEST_F(TerminalComfort, options_of_explain_that_would_do_nothing_are_refused) {
  for (const std::string words : {"--all --profile page.html", "--make-it-fit --profile page.html",
                                  "--all --scaling", "--all --make-it-fit"}) {
    expect(kRefused, "explain mode=train run.compute_mode=GPU " + words + kTinySettings);
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "page.html"));
}

}  // namespace
}  // namespace cosmic
