// `cosmictagger launch`: starts a command in several processes, as poprun does.
#include "cli/launch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/reference_spelling.hpp"
#include "cli/run_command.hpp"
#include "cli/standard_streams.hpp"
#include "comm/launcher.hpp"
#include "config/parse.hpp"
#include "core/error.hpp"
#include "core/limits.hpp"
#include "core/printable.hpp"
#include "core/threads.hpp"
#include "model/enum_text.hpp"
#include "target/registry.hpp"

namespace cosmic::cli {
namespace {

constexpr const char* kLauncher = "mpirun";

/// Commands whose processes work together.
constexpr std::array kSharedWork{"train", "infer", "evaluate", "tag", "run"};

/// What mpirun says about itself; empty where there is none.
std::string version_of_launcher() {
  std::FILE* const pipe = popen("mpirun --version 2>/dev/null", "r");
  if (pipe == nullptr) {
    return "";
  }
  std::string text;
  char buffer[256];
  while (const std::size_t size = std::fread(buffer, 1, sizeof(buffer), pipe)) {
    text.append(buffer, size);
  }
  pclose(pipe);
  return text;
}

std::string in_one_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    const bool plain = word.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "0123456789-_=:/.,+") == std::string::npos;
    line += (line.empty() ? "" : " ") + (plain && !word.empty() ? word : "'" + word + "'");
  }
  return line;
}

/// Those words of a command that are settings, or name a recipe.
std::vector<std::string> settings_among(const std::vector<std::string>& words) {
  std::vector<std::string> settings;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool option = word.starts_with('-');
    if (word.find('=') != std::string::npos && (!option || word.starts_with("--config-"))) {
      settings.push_back(word);
    } else if (i + 1 < words.size() &&
               (word == "--config-name" || word == "-cn" || word == "--config-dir")) {
      settings.push_back(word);
      settings.push_back(words[++i]);
    }
  }
  return settings;
}

/// What the command's words say about where it computes. Words that cannot be read are the
/// command's to refuse.
void find_devices(const std::vector<std::string>& words, LaunchChoice& choice) {
  try {
    const config::Mode mode =
        words.front() == "train" ? config::Mode::train : config::Mode::inference;
    const config::Configuration asked =
        config::parse(settings_among(words), {.mode = mode, .missing = config::MissingKeys::leave})
            .configuration;
    choice.devices = target::device_count(target_for(asked.run.compute_mode));
    choice.device = asked.run.device;
    choice.compute_mode = model::to_string(asked.run.compute_mode);
  } catch (const Error&) {
    choice.compute_mode.clear();
  }
}

[[noreturn]] void become(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));  // execvp changes none of them
  }
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  throw TargetError(std::string(kLauncher) + " cannot be started: " + std::strerror(errno) +
                    " (it starts the processes); install openmpi-bin or mpich");
}

struct LaunchOptions {
  LaunchChoice choice;
  std::string hosts;
  bool dry_run = false;
  std::vector<std::string> words;
};

void launch(LaunchOptions options) {
  const std::vector<std::string>& words = options.words;
  LaunchChoice& choice = options.choice;
  choice.hosts = hosts_of(options.hosts);
  choice.cores = available_cores();
  require_even(choice);
  require_shared_work(choice, words);
  find_devices(words, choice);
  const std::string version = version_of_launcher();
  COSMIC_REQUIRE(UserError, options.dry_run || !version.empty(),
                 "there is no " << kLauncher
                                << " (it starts the processes); install openmpi-bin or mpich, or "
                                   "use the launcher of your batch system");
  const MpirunKind kind =
      version.find("HYDRA") != std::string::npos ? MpirunKind::hydra : MpirunKind::open_mpi;
  const std::vector<std::string> line =
      mpirun_words(choice, kind, std::filesystem::read_symlink("/proc/self/exe").string(), words);
  fmt::print("{}\n{}\n\n", launch_table(choice), in_one_line(line));
  std::fflush(stdout);
  if (!options.dry_run) {
    become(line);
  }
}

}  // namespace

std::vector<std::string> hosts_of(const std::string& text) {
  std::vector<std::string> hosts;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string host = text.substr(begin, end - begin);
    COSMIC_REQUIRE(UserError, !host.empty(),
                   "--host " << printable(text)
                             << " has an empty name in it (it lists hosts, as a,b); leave out the "
                                "comma that is too many");
    COSMIC_REQUIRE(UserError, std::find(hosts.begin(), hosts.end(), host) == hosts.end(),
                   "--host " << printable(text) << " has " << printable(host)
                             << " twice (every host gets as many instances); name it once, and "
                                "give --num-instances for all hosts together");
    hosts.push_back(host);
    begin = end + 1;
  }
  return hosts;
}

void require_shared_work(const LaunchChoice& choice, const std::vector<std::string>& words) {
  COSMIC_REQUIRE(UserError, !words.empty(),
                 "there is nothing to launch; give a command after `--`, such as `cosmictagger "
                 "launch --num-instances 2 -- train run.id=01`");
  const std::string command = with_command(words).front();
  COSMIC_REQUIRE(
      UserError, std::find(kSharedWork.begin(), kSharedWork.end(), command) != kSharedWork.end(),
      "launch was given the command "
          << printable(command) << " (its processes would not share work, but each do all of it: "
          << fmt::format("{}", fmt::join(kSharedWork, ", "))
          << " do); start it without launch, or give one of those");
  const auto replicas = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word.starts_with("run.replicas=") || word.starts_with("run.num_replicas=");
  });
  COSMIC_REQUIRE(UserError, choice.replicas == 1 || (command == "train" && replicas == words.end()),
                 "--num-replicas is "
                     << choice.replicas << " for "
                     << (command == "train" ? "a training that is given " + *replicas
                                            : printable(command))
                     << " (it is the same as run.replicas, which only training has); "
                     << (command == "train" ? "leave one of them out" : "leave it out"));
}

void require_even(const LaunchChoice& choice) {
  const std::int64_t hosts = choice.hosts_count();
  const std::int64_t below = choice.instances / hosts * hosts;
  COSMIC_REQUIRE(UserError, choice.instances % hosts == 0,
                 "--num-instances is " << choice.instances << " for " << hosts
                                       << " hosts (each gets as many); choose "
                                       << (below > 0 ? std::to_string(below) + " or " : "")
                                       << below + hosts);
}

std::vector<std::string> mpirun_words(const LaunchChoice& choice, MpirunKind kind,
                                      const std::string& program,
                                      const std::vector<std::string>& words) {
  const bool open_mpi = kind == MpirunKind::open_mpi;
  const std::string cores = std::to_string(choice.cores_per_instance());
  std::vector<std::string> line{kLauncher, "-n", std::to_string(choice.instances)};
  const auto add = [&](std::initializer_list<std::string> more) { line.insert(line.end(), more); };
  if (!choice.hosts.empty()) {
    std::string hosts;
    for (const std::string& host : choice.hosts) {
      hosts +=
          (hosts.empty() ? "" : ",") + host +
          (open_mpi ? ":" + std::to_string(choice.instances_per_host() *
                                           std::max<std::int64_t>(1, choice.cores_per_instance()))
                    : "");
    }
    if (open_mpi) {
      add({"--host", hosts});
    } else {
      add({"-hosts", hosts, "-ppn", std::to_string(choice.instances_per_host())});
    }
  }
  if (choice.cores_per_instance() == 0) {  // they take turns
    if (open_mpi) {
      add({"--oversubscribe", "--bind-to", "none"});
    }
  } else if (open_mpi) {
    // By slots, the first host would get as many as it has cores.
    add({"--bind-to", "core", "--map-by",
         "ppr:" + std::to_string(choice.instances_per_host()) + ":node:PE=" + cores});
  } else {
    add({"-bind-to", "core:" + cores});
  }
  if (open_mpi) {
    for (const comm::LauncherSetting& setting : comm::kNoticeLostHost) {
      add({"--mca", setting.name, setting.value});
    }
  }
  line.push_back(open_mpi ? "--tag-output" : "-prepend-rank");
  line.push_back(program);
  line.insert(line.end(), words.begin(), words.end());
  if (choice.replicas > 1) {
    line.push_back("run.replicas=" + std::to_string(choice.replicas));
  }
  return line;
}

std::string device_of(const LaunchChoice& choice, std::int64_t instance) {
  if (choice.compute_mode.empty()) {
    return "unknown";
  }
  if (!choice.devices || *choice.devices == 0) {
    return choice.compute_mode;
  }
  const std::int64_t among_host = instance % choice.instances_per_host();
  return fmt::format("{} {}", choice.compute_mode,
                     choice.device >= 0 ? choice.device : among_host % *choice.devices);
}

std::string launch_table(const LaunchChoice& choice) {
  const auto row = [](const auto&... cells) {
    return fmt::format("{:<24} {:>8} {:>8} {:>8} {:>8}\n", cells...);
  };
  std::string table = row("host", "instance", "replicas", "cores", "device");
  for (std::int64_t instance = 0; instance < choice.instances; ++instance) {
    const auto host = static_cast<std::size_t>(instance / choice.instances_per_host());
    const std::int64_t cores = choice.cores_per_instance();
    table += row(choice.hosts.empty() ? "this one" : choice.hosts[host], instance, choice.replicas,
                 cores == 0 ? "shared" : std::to_string(cores), device_of(choice, instance));
  }
  return table + fmt::format("{} instances with {} replica{} each work together, {} in all.{}\n",
                             choice.instances, choice.replicas, choice.replicas == 1 ? "" : "s",
                             choice.instances * choice.replicas,
                             choice.hosts.empty() ? ""
                                                  : " Other hosts are taken to have as many "
                                                    "cores and devices as this one.");
}

void add_launch(Command& app) {
  auto options = std::make_shared<LaunchOptions>();  // the callback holds it too
  Command* command = app.add_subcommand(
      "launch", "Start a command in several processes that work together, with mpirun");
  command
      ->add_option("--num-instances", options->choice.instances, "Processes, on all hosts together")
      ->between(std::int64_t{1}, kMostReplicas)
      ->capture_default_str();
  command
      ->add_option("--num-replicas", options->choice.replicas,
                   "Replicas in each of them (run.replicas)")
      ->between(std::int64_t{1}, kMostReplicas)
      ->capture_default_str();
  command->add_option("--host", options->hosts, "Hosts to start them on, as a,b; without it, here");
  command->add_flag("--dry-run", options->dry_run,
                    "Print the table and the command line, and start nothing");
  command->add_option("COMMAND", options->words, "What to start, with its words, after `--`");
  command->footer("Example: cosmictagger launch --num-instances 4 -- train run.id=01");
  command->callback([options] { launch(*options); });
}

}  // namespace cosmic::cli
