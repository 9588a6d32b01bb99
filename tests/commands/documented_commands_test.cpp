// The commands that people copy: those of the README and of every page of the documentation, and
// those that the documentation of the reference and of its ports give (SPEC 12.4). They are run as
// they are written, in a folder that has what they name, by the program itself; only what makes
// them long is replaced: the network is tiny, the images are, and a handful of events and updates
// must do.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "run_command.hpp"
#include "scratch_folder.hpp"

namespace cosmic {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Of the file of events that every folder starts with: a moment to make, and more than one batch.
constexpr const char* kEvents = "3";

const std::string kTinyNetwork =
    "network.depth=2 network.n_initial_filters=2 network.bottleneck_deepest=4 "
    "network.blocks_deepest_layer=1 network.blocks_per_layer=1 network.blocks_final=0 "
    "data.downsample=5 run.threads=1";
const std::string kTinyTraining = kTinyNetwork + " run.minibatch_size=1 run.iterations=2";

std::string quoted(const std::filesystem::path& path) {
  return "'" + path.string() + "'";
}

/// A folder like a user's: files of events, a run that has been trained, its weights in a file.
class UsersFolder {
 public:
  explicit UsersFolder(const std::string& name) : folder_(name) {
    const std::filesystem::path files = folder_ / "files";
    std::filesystem::create_directories(files);
    std::filesystem::copy_file(some_events(), folder_ / "cosmic_tagging_light.h5");
    for (const char* const file :
         {"train.h5", "test.h5", "first.h5", "files/cosmic_tagging_train.h5",
          "files/cosmic_tagging_val.h5", "files/cosmic_tagging_test.h5",
          "files/cosmic_tagging_light.h5"}) {
      std::filesystem::create_symlink(folder_ / "cosmic_tagging_light.h5", folder_ / file);
    }
    std::filesystem::create_directories(folder_ / "runs" / "val");
    for (const char* const file : {"runs/a.h5", "runs/b.h5", "runs/val/c.h5"}) {
      std::filesystem::copy_file(some_events(), folder_ / file);  // one file may not be given twice
    }
  }

  /// The run that pages take up, 01, and its weights.
  void train_run() const {
    expect_success("train network=a21 run.id=01 data.data_directory=files/ " + kTinyTraining);
    expect_success("checkpoint convert " + checkpoints() + " weights.safetensors");
  }

  static std::string checkpoints() { return "output/torch/A21/01/checkpoints"; }

  /// `cosmictagger WORDS`, as a shell would run it in the folder.
  CommandResult run(const std::string& words) const {
    return run_command("cd " + quoted(folder_.path()) +
                       " && XDG_RUNTIME_DIR=" + quoted(folder_.path()) + " " +
                       quoted(COSMICTAGGER_PROGRAM) + " " + words + " </dev/null");
  }

  void expect_success(const std::string& words) const {
    const CommandResult result = run(words);
    EXPECT_EQ(result.status, 0) << "cosmictagger " << words << "\n" << result.output;
  }

  /// A file that a command is about to write is not in its way.
  void remove(const std::string& file) const { std::filesystem::remove(folder_ / file); }

  const ScratchFolder& folder() const { return folder_; }

 private:
  /// Made once for all folders.
  static const std::filesystem::path& some_events() {
    static const ScratchFolder folder("documented_events");
    static const std::filesystem::path file = folder / "events.h5";
    if (!std::filesystem::exists(file)) {
      const CommandResult made =
          run_command(quoted(COSMICTAGGER_PROGRAM) + std::string(" generate --events ") + kEvents +
                      " --seed 1 --output " + quoted(file));
      EXPECT_EQ(made.status, 0) << made.output;
    }
    return file;
  }

  ScratchFolder folder_;
};

/// Lines of the fenced blocks of a page, those that end with a backslash joined with the next.
std::vector<std::string> fenced_lines(const std::filesystem::path& page) {
  std::ifstream file(page);
  std::vector<std::string> lines;
  bool fenced = false;
  bool open = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      fenced = !fenced;
      open = false;
    } else if (fenced) {
      const bool goes_on = line.ends_with("\\");
      if (goes_on) {
        line.pop_back();
      }
      if (open) {
        lines.back() += " " + line;
      } else {
        lines.push_back(line);
      }
      open = goes_on;
    }
  }
  return lines;
}

/// The commands of a page, without the name of the program, comments and redirections.
std::vector<std::string> commands_of(const std::filesystem::path& page) {
  static const std::regex command(R"(^\s*(?:\$ )?(?:\./)?cosmictagger ([a-z-]+( .*|$)))");
  static const std::regex rest(R"(\s+(#|>).*$)");
  // A server has no end, and who asks one needs it: tests/serve/serve_command_test.cpp has both. The
  // networks in the box are trained on a GPU for minutes. To publish, one has to evaluate before:
  // tests/cli/publish_test.cpp.
  static const std::regex left_out(
      R"(^serve\b.*|.* --server .*|^train +--config-name (best|fast)\b.*|^checkpoint publish\b.*)");
  std::vector<std::string> commands;
  for (const std::string& line : fenced_lines(page)) {
    std::smatch match;
    if (std::regex_match(line, match, command) &&
        !std::regex_match(match[1].str(), left_out)) {
      commands.push_back(std::regex_replace(match[1].str(), rest, ""));
    }
  }
  return commands;
}

/// A command with the words of its page for "whatever you have" replaced by what the folder has.
std::string with_names(std::string command) {
  static const std::vector<std::pair<std::regex, std::string>> names{
      {std::regex(R"(\[(--[a-z-]+)\])"), "$1"},
      {std::regex(R"(<[^>]*checkpoints[^>]*>)"), UsersFolder::checkpoints()},
      {std::regex(R"(FILE\.\.\.)"), "cosmic_tagging_light.h5"},
      {std::regex(R"(\bFILE\b)"), "cosmic_tagging_light.h5"},
      {std::regex(R"(--event N\b)"), "--event 1"},
      {std::regex(R"(\bPATH\b)"), UsersFolder::checkpoints()},
      {std::regex(R"(\bA B\b)"), UsersFolder::checkpoints() + " " + UsersFolder::checkpoints()},
      {std::regex(R"(\bIN OUT\b)"), UsersFolder::checkpoints() + " plain.safetensors"},
      {std::regex(R"(\bCHECKPOINT\b)"), UsersFolder::checkpoints()},
      {std::regex(R"(--config-name (best|fast) )"), ""},
      {std::regex(R"(=weights/(best|fast)\.safetensors\b)"), "=" + UsersFolder::checkpoints()},
      {std::regex(R"(\$network)"), "network=a21"},
      // "and so on": whatever else such a run is given
      {std::regex(R"((.*data\.file=.*) \.\.\.$)"), "$1 run.id=whatever"},
      {std::regex(R"( \.\.\.$)"), " run.id=whatever data.file=train.h5"},
      {std::regex(R"(--events +[0-9]+(?![0-9,]))"), std::string("--events ") + kEvents}};
  for (const auto& [pattern, name] : names) {
    command = std::regex_replace(command, pattern, name);
  }
  return command;
}

/// With what makes it short. Later settings win.
std::string made_short(const std::string& command) {
  static const std::map<std::string, std::string> additions{
      {"train", kTinyTraining},
      {"infer", kTinyNetwork + " run.minibatch_size=1"},
      {"evaluate", kTinyNetwork + " run.minibatch_size=1"},
      {"run", kTinyNetwork},
      {"compile", kTinyNetwork + " run.minibatch_size=1"},
      {"test", kTinyNetwork + " run.minibatch_size=1"},
      {"measure-performance", kTinyNetwork + " run.minibatch_size=1 --calls 2 --calls-before 1"},
      {"explain", kTinyNetwork},
      {"graph", kTinyNetwork},
      {"config", ""},
      {"iotest", kTinyNetwork},
      {"view", "--seconds 0.2 --port 0"},
      {"export", kTinyNetwork}};
  const std::string verb = command.substr(0, command.find(' '));
  const auto found = additions.find(verb);
  std::string words = with_names(command);
  const bool writes_page = words.find(" --export ") != std::string::npos;  // and serves nothing
  if (found == additions.end() || found->second.empty() || writes_page) {
    return words;
  }
  words += " " + found->second;
  // A plan is for one mode; an inference has no number of updates.
  const bool trains = command.find("train") != std::string::npos;
  return verb == "run" && trains ? words + " run.iterations=2" : words;
}

std::vector<std::string> pages() {
  std::vector<std::string> pages{"README.md"};
  for (const auto& entry : std::filesystem::directory_iterator("docs")) {
    if (entry.path().extension() == ".md" && !commands_of(entry.path()).empty()) {
      pages.push_back(entry.path().string());
    }
  }
  std::sort(pages.begin(), pages.end());
  return pages;
}

class DocumentedCommands : public testing::TestWithParam<std::string> {};

TEST_P(DocumentedCommands, run_as_they_are_written) {
  const UsersFolder user("documented");
  user.train_run();
  // The page about machines has one in full, with the name by which its command asks for it.
  const std::string page = content_of("docs/adding-a-machine.md");
  const std::string fence = "```yaml\n";
  const std::size_t begin = page.find(fence) + fence.size();
  std::ofstream(user.folder() / "abacus.yaml")
      << page.substr(begin, page.find("```", begin) - begin);

  std::ofstream(user.folder() / "habana.log") << "MaxInUse: 4495598336\n";

  const std::vector<std::string> commands = commands_of(GetParam());
  ASSERT_FALSE(commands.empty());
  static const std::regex written(R"(generate .*--output ([^ ]+))");
  for (const std::string& command : commands) {
    std::smatch match;
    if (std::regex_search(command, match, written)) {
      user.remove(match[1]);
    }
    user.expect_success(made_short(command));
  }
}

INSTANTIATE_TEST_SUITE_P(Of, DocumentedCommands, testing::ValuesIn(pages()), [](const auto& page) {
  std::string name = std::filesystem::path(page.param).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST(DocumentedCommands, are_found) {
  std::size_t count = 0;
  for (const std::string& page : pages()) {
    count += commands_of(page).size();
  }
  EXPECT_GE(count, 30U) << "the pages give more than that; has their form changed?";
}

struct ReferenceExample {
  std::string name;
  std::string words;       ///< without launcher and program
  std::string checkpoint;  ///< where the run leaves its second update
};

std::ostream& operator<<(std::ostream& out, const ReferenceExample& example) {
  return out << example.name;
}

class ReferenceExamples : public testing::TestWithParam<ReferenceExample> {};

TEST_P(ReferenceExamples, train) {
  const UsersFolder user("reference_example");
  const std::string words = GetParam().words + " " + kTinyTraining;
  user.expect_success(words);
  const std::filesystem::path folder = user.folder() / GetParam().checkpoint;
  EXPECT_TRUE(std::filesystem::exists(folder / "checkpoints" / "model-2.safetensors")) << folder;
  const std::string table = content_of(folder / "train_metrics.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + 2) << table;
}

INSTANTIATE_TEST_SUITE_P(
    Of, ReferenceExamples,
    testing::Values(
        ReferenceExample{"one_step_on_the_cpu",
                         "mode=train run.id=01 run.distributed=False data.data_directory=files/ "
                         "framework=torch run.compute_mode=CPU run.minibatch_size=1 "
                         "run.iterations=1 run.precision=3",
                         "output/torch/uresnet/01"},
        ReferenceExample{"the_sample_file",
                         "mode=train run.id=200 framework=torch run.compute_mode=HPU "
                         "run.distributed=False data.data_directory=files/ "
                         "data.file=cosmic_tagging_light.h5 data.aux_file=cosmic_tagging_light.h5",
                         "output/torch/uresnet/200"},
        ReferenceExample{"a_recipe_with_real_data",
                         "--config-name=a21 mode=train run.id=01 run.distributed=False data=real "
                         "data.data_directory=files/ framework=torch run.compute_mode=CPU "
                         "run.precision=3 hydra/job_logging=disabled",
                         "output/torch/A21/01"},
        ReferenceExample{"one_of_eight_ranks_alone",
                         "mode=train run.id='fp16_10x1' run.distributed=True "
                         "data.data_directory=files/ framework=torch run.compute_mode=CPU "
                         "run.minibatch_size=8 run.iterations=10 run.precision=3",
                         "output/torch/uresnet/fp16_10x1"},
        ReferenceExample{"full_resolution_on_an_ipu",
                         "mode=train run.id=bfloat16_2x10_1 run.distributed=False "
                         "data.data_directory=files/ data.downsample=0 framework=torch "
                         "run.compute_mode=IPU run.minibatch_size=2 run.iterations=10 "
                         "run.precision=3",
                         "output/torch/uresnet/bfloat16_2x10_1"},
        ReferenceExample{"one_instance_of_a_launcher",
                         "mode=train run.id=popdist run.distributed=False "
                         "data.data_directory=files/ framework=torch run.compute_mode=IPU "
                         "run.minibatch_size=2 run.iterations=10 run.precision=3",
                         "output/torch/uresnet/popdist"},
        ReferenceExample{"a_long_training",
                         "--config-name a21 data=real data.downsample=1 "
                         "data.data_directory=files/ framework=torch "
                         "framework.distributed_mode=DDP run.id=long run.distributed=True "
                         "run.minibatch_size=64 run.precision=bfloat16 run.compute_mode=CPU "
                         "mode.optimizer.loss_balance_scheme=light run.iterations=5000 "
                         "output_dir=results/",
                         "results"}),
    [](const auto& example) { return example.param.name; });

// The last of them as it is written, with `mixed`.
TEST(ReferenceExamples, that_ask_for_mixed_precision_train_with_a_loss_scale) {
  const UsersFolder user("reference_example");
  const CommandResult result = user.run(
      "--config-name a21 data=real data.data_directory=files/ run.id=long run.precision=mixed "
      "run.compute_mode=CPU output_dir=results/ " +
      kTinyTraining);
  EXPECT_EQ(WEXITSTATUS(result.status), 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("The loss is scaled"));
}

}  // namespace
}  // namespace cosmic
