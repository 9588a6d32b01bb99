// Every command on a machine that is not here: no time, rate or amount of memory in what it prints
// or writes can be taken for the machine's if it is the host's, or for measured if it is modelled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/published_job.hpp"
#include "cli/run_command.hpp"
#include "monitor/job_publisher.hpp"
#include "target/registry.hpp"
#include "train/tiny_run.hpp"

namespace cosmic::cli {
namespace {

using nlohmann::json;
using testing::AnyOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

void add_commands(Command& app) {
  add_compile(app);
  add_evaluate(app);
  add_explain(app);
  add_graph(app);
  add_infer(app);
  add_measure_performance(app);
  add_monitor(app);
  add_run(app);
  add_targets(app);
  add_test(app);
  add_train(app);
}

std::string run(const Words& words) {
  return printed_by([&] { run_command(add_commands, words); });
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Lines that say how long something took, how fast it was or how much memory it needs.
Words lines_with_figures(const std::string& text) {
  const std::regex figure(
      R"([0-9] ?(ns|us|ms|s|min|h)\b|/s\b|IOs|\(s\)|[Tt]ime to|throughput:|[0-9] (kB|MB|GB)\b)");
  Words found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, figure)) {
      found.push_back(line);
    }
  }
  return found;
}

/// A figure is marked by itself or by the heading of its table, in the words of both origins.
void expect_marked(const std::string& text, std::size_t at_least) {
  const Words lines = lines_with_figures(text);
  EXPECT_GE(lines.size(), at_least) << text;
  for (const std::string& line : lines) {
    EXPECT_THAT(line, HasSubstr("modelled"));
  }
}

bool is_figure(const std::string& key) {
  static const std::regex figure("seconds?$|_ms$|_us$|latency|throughput|bytes");
  return std::regex_search(key, figure);
}

/// Calls visit(path, number) for every number whose key, or that of an object around it, says that
/// it is a figure. The path is made of keys, from the outermost in.
void for_each_figure(const json& value, const Words& path, bool inside,
                     const std::function<void(const Words&, double)>& visit) {
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) {
      Words longer = path;
      longer.push_back(key);
      for_each_figure(item, longer, inside || is_figure(key), visit);
    }
  } else if (value.is_array()) {
    for (const json& item : value) {
      for_each_figure(item, path, inside, visit);
    }
  } else if (value.is_number() && inside) {
    visit(path, value.get<double>());
  }
}

/// Each stands under a key that says whose it is: the host's or the machine's.
void expect_origins(const json& value, std::size_t at_least) {
  std::size_t figures = 0;
  for_each_figure(value, {}, false, [&](const Words& path, double) {
    ++figures;
    EXPECT_THAT(path, Contains(AnyOf(HasSubstr("modelled"), HasSubstr("host"))))
        << testing::PrintToString(path);
  });
  EXPECT_GE(figures, at_least) << value.dump(1);
}

/// compute mode, target, machine
struct Modelled {
  const char* mode;
  const char* target;
  const char* machine;
};

class EveryCommand : public testing::TestWithParam<Modelled> {
 protected:
  EveryCommand() {
    setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);
    write_random_events(folder_.path() / "train.h5", 6, 1);
    write_random_events(folder_.path() / "test.h5", 4, 2);
  }

  std::string out() const { return (folder_.path() / "out").string(); }

  Words words(const std::string& command, const Words& more = {}) const {
    Words all{command};
    all.insert(all.end(), kTinyNetwork.begin(), kTinyNetwork.end());
    all.push_back(std::string("run.compute_mode=") + GetParam().mode);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// Of a run on files.
  Words run_words(const std::string& command, const Words& more = {}) const {
    Words all =
        words(command, {"run.id=tiny", "run.seed=7", "run.distributed=false", "output_dir=" + out(),
                        "data.file=train.h5", "data.data_directory=" + folder_.path().string()});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string train() const {
    return run(run_words("train", {"data.aux_file=test.h5", "run.units=iteration", "run.length=3",
                                   "run.aux_iterations=1", "run.minibatch_size=2"}));
  }

  RunFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(, EveryCommand,
                         testing::Values(Modelled{"IPU", "ipu", "GC200"},
                                         Modelled{"HPU", "hpu", "Gaudi1"},
                                         Modelled{"RDU", "rdu", "SN30"}),
                         [](const auto& test) { return std::string(test.param.target); });

TEST_P(EveryCommand, train_marks_every_figure_that_it_prints) {
  expect_marked(train(), 8);
}

TEST_P(EveryCommand, infer_and_evaluate_mark_every_figure_that_they_print_or_write) {
  train();
  expect_marked(run(run_words("infer", {"mode=inference"})), 3);
  const std::filesystem::path folder = out();
  const json inference = json::parse(content_of(folder / "inference.json"));
  EXPECT_THAT(inference.at("provenance").get<std::string>(), HasSubstr("modelled"));

  expect_marked(run(run_words("evaluate", {"mode=inference"})), 2);
  for_each_figure(json::parse(content_of(folder / "evaluation.json")), {}, false,
                  [](const Words& path, double) {
                    ADD_FAILURE() << "a figure says nothing of its origin: "
                                  << testing::PrintToString(path);
                  });
  EXPECT_THAT(content_of(folder / "evaluation.html"), Not(HasSubstr("events/s")));
}

TEST_P(EveryCommand, compile_and_run_mark_every_figure_that_they_print) {
  const std::string artifact = (folder_.path() / "tiny.cosmicx").string();
  expect_marked(run(run_words("compile", {"mode=train", "data.aux_file=test.h5",
                                          "run.minibatch_size=2", "--output", artifact})),
                2);
  expect_marked(
      run({"run", "--artifact", artifact, "run.id=tiny", "run.seed=7", "output_dir=" + out(),
           "run.units=iteration", "run.length=2", "run.aux_iterations=1", "run.distributed=false"}),
      5);
}

TEST_P(EveryCommand, graph_marks_times_and_memory_of_the_host) {
  const std::string text = run({"graph", "a21", "--target", GetParam().target, "--rows", "128",
                                "--columns", "128", "--mode", "train"});
  const std::string report = text.substr(text.rfind("\npass "));
  expect_marked(report, 4);
  EXPECT_THAT(report, ContainsRegex("pass +ms +nodes \\(host clock of a modelled run\\)"));
}

TEST_P(EveryCommand, measure_performance_keeps_prediction_and_host_apart) {
  for (const char* mode : {"mode=train", "mode=inference"}) {
    const Words all =
        words("measure-performance", {mode, "--rows", "16", "--columns", "32", "--calls", "2"});
    expect_marked(run(all), 6);
    Words with_json = all;
    with_json.push_back("--json");
    const json printed = json::parse(run(with_json));
    EXPECT_EQ(printed.at("kind"), "modelled");
    EXPECT_EQ(printed.at("modelled").at("machine"), GetParam().machine);
    expect_origins(printed, 10);
  }
}

TEST_P(EveryCommand, explain_marks_every_figure_as_modelled) {
  const std::string text = run(words("explain", {"run.minibatch_size=1"}));
  EXPECT_GE(lines_with_figures(text).size(), 3U) << text;
  // Said once, of all of them; nothing else may speak of measuring.
  const std::string promise = "Every figure below is modelled, none is measured.";
  ASSERT_THAT(text, HasSubstr(promise));
  std::string rest = text;
  rest.erase(rest.find(promise), promise.size());
  EXPECT_THAT(rest, HasSubstr("modelled"));
  EXPECT_THAT(rest, Not(HasSubstr("measured")));
}

TEST_P(EveryCommand, targets_says_which_kind_it_is) {
  EXPECT_THAT(run({"targets"}),
              ContainsRegex(std::string(GetParam().target) + " +" + GetParam().mode +
                            " +modelled +yes, machine: " + GetParam().machine + ", modelled"));
  for (const json& entry : json::parse(run({"targets", "--json"}))) {
    if (entry.at("target") == GetParam().target) {
      EXPECT_EQ(entry.at("kind"), "modelled");
      EXPECT_THAT(entry.at("machine").get<std::string>(), HasSubstr("modelled"));
    }
  }
}

TEST_P(EveryCommand, test_says_nothing_about_time_or_memory) {
  const std::string text = run(words("test", {"--rows", "16", "--columns", "32"}));
  EXPECT_TRUE(lines_with_figures(text).empty()) << testing::PrintToString(lines_with_figures(text));
  EXPECT_THAT(text, HasSubstr(std::string("Target ") + GetParam().target + " against reference"));
}

TEST_P(EveryCommand, monitor_shows_whose_rate_it_is_and_the_machine) {
  monitor::JobDescription description = job_on(GetParam().target, "");
  EXPECT_EQ(description.machine, GetParam().machine);
  EXPECT_EQ(description.provenance, "modelled");
  description.command = "train";
  monitor::JobPublisher job(description);
  job.update({.state = monitor::JobState::running,
              .done = 3,
              .host_events_per_second = 17,
              .modelled = {{763, 587, 992}}});
  const json printed = json::parse(run({"monitor", "--json"}));
  std::size_t shown = 0;
  for (const json& target : printed.at("targets")) {
    for (const json& one : target.at("jobs")) {
      ++shown;
      EXPECT_EQ(one.at("machine"), GetParam().machine);
      EXPECT_EQ(one.at("measured_on_host").at("events_per_second"), 17);
      EXPECT_EQ(one.at("modelled").at("events_per_second").at("best"), 763);
      expect_origins(one, 7);
    }
  }
  EXPECT_EQ(shown, 1U);
  const std::string text = run({"monitor", "--once"});
  EXPECT_THAT(text, ContainsRegex("HOST EVENTS/S +MODELLED EVENTS/S"));
  EXPECT_THAT(text, ContainsRegex(std::string(GetParam().machine) + ".* 17 +763 \\(587 to 992\\)"));
}

// --- who is shown ---

/// What `monitor` sees of a command that runs in another process, once it has done something.
json seen_while(const Words& words) {
  const pid_t child = fork();
  if (child == 0) {
    std::freopen("/dev/null", "w", stdout);
    std::freopen("/dev/null", "w", stderr);
    for (;;) {  // for as long as it is let
      run_command(add_commands, words);
    }
  }
  json found;
  for (int attempt = 0; attempt < 3000 && found.is_null(); ++attempt) {
    const json printed = json::parse(run({"monitor", "--json"}));
    for (const json& target : printed.at("targets")) {
      for (const json& job : target.at("jobs")) {
        found = job.at("state") == "running" ? job : found;
      }
    }
    usleep(10'000);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return found;
}

TEST_P(EveryCommand, test_and_measure_performance_publish_themselves_to_monitor) {
  const json testing = seen_while(words("test", {"--rows", "16", "--columns", "32"}));
  ASSERT_FALSE(testing.is_null());
  EXPECT_EQ(testing.at("command"), "test");
  EXPECT_EQ(testing.at("machine"), GetParam().machine);
  EXPECT_EQ(testing.at("unit"), "values");

  const json measuring = seen_while(words(
      "measure-performance", {"mode=train", "--rows", "16", "--columns", "32", "--calls", "1000"}));
  ASSERT_FALSE(measuring.is_null());
  EXPECT_EQ(measuring.at("command"), "measure-performance");
  EXPECT_EQ(measuring.at("machine"), GetParam().machine);
  EXPECT_EQ(measuring.at("unit"), "calls");
  EXPECT_GT(measuring.at("modelled").at("events_per_second").at("best"), 0);
  EXPECT_GT(measuring.at("measured_on_host").at("events_per_second"), 0);
}

TEST(EveryCommandHere, marks_nothing_where_the_machine_is_the_host) {
  Words all{"measure-performance"};
  all.insert(all.end(), kTinyNetwork.begin(), kTinyNetwork.end());
  all.insert(all.end(), {"mode=train", "--rows", "16", "--columns", "32", "--calls", "2"});
  const std::string text = run(all);
  EXPECT_GE(lines_with_figures(text).size(), 4U);
  EXPECT_THAT(text, Not(HasSubstr("modelled")));
  EXPECT_THAT(run({"graph", "a21", "--rows", "128", "--columns", "128"}),
              Not(HasSubstr("modelled")));
}

}  // namespace
}  // namespace cosmic::cli
