#include "run/same_everywhere.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "config/difference.hpp"
#include "config/dump.hpp"
#include "config/parse.hpp"
#include "core/config.hpp"
#include "core/error.hpp"

namespace cosmic::run {
namespace {

constexpr std::array kOfOneProcess{"run.device", "run.threads", "data.threads"};

/// "run.minibatch_size is '4' there and '12' on rank 0"; empty for the same settings. Both are what
/// to_yaml wrote.
std::string differing_settings(const std::string& own, const std::string& of_leader) {
  std::string text;
  if (own == of_leader) {
    return text;
  }
  for (const config::Difference& found :
       config::difference(config::from_yaml(of_leader, "configuration of rank 0"),
                          config::from_yaml(own, "configuration of this rank"))) {
    const bool may_differ =
        std::find(kOfOneProcess.begin(), kOfOneProcess.end(), found.key) != kOfOneProcess.end();
    if (!may_differ) {
      text += fmt::format("{}{} is '{}' there and '{}' on rank 0", text.empty() ? "" : ", ",
                          found.key, found.now, found.before);
    }
  }
  return text;
}

/// The first process that has something to say, and what; empty if none has.
struct Said {
  std::string who;
  std::string what;
};
Said first_to_speak(const Processes& processes, const std::string& own) {
  const std::vector<std::string> all = processes.gather_texts(own);
  const auto found =
      std::find_if(all.begin(), all.end(), [](const std::string& text) { return !text.empty(); });
  return found == all.end() ? Said{}
                            : Said{processes.name(static_cast<int>(found - all.begin())), *found};
}

/// "29 events in 81234 bytes": of a part that is no file, the events alone.
std::string amount_of(const data::SourcePart& part) {
  std::error_code no_file;
  const std::uintmax_t bytes = std::filesystem::file_size(part.name, no_file);
  return fmt::format("{} events{}", part.end - part.begin,
                     no_file ? "" : fmt::format(" in {} bytes", bytes));
}

/// What a process says whose events are not those of the leader; empty if they are.
std::string differing_events(const std::vector<data::SourcePart>& parts,
                             const std::vector<std::string>& of_leader, const std::string& what) {
  if (parts.size() != of_leader.size()) {
    return fmt::format("finds {} file{} of events for {}, and rank 0 {}", parts.size(),
                       parts.size() == 1 ? "" : "s", what, of_leader.size());
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (const std::string own = amount_of(parts[i]); own != of_leader[i]) {
      return fmt::format("has {} for {} in {}, and rank 0 has {}", own, what, parts[i].name,
                         of_leader[i]);
    }
  }
  return "";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

void require_same_settings(const Processes& processes, const config::Configuration& configuration) {
  if (processes.size() == 1) {
    return;
  }
  const std::string program = fmt::format("{} ({})", version, revision);
  const std::string of_leader = processes.of_leader(program);
  const Said other_program = first_to_speak(processes, program == of_leader ? "" : program);
  COSMIC_REQUIRE(UserError, other_program.what.empty(),
                 other_program.who << " is cosmictagger " << other_program.what << ", and rank 0 "
                                   << of_leader
                                   << " (processes of different versions do not compute the same); "
                                      "install the same program on every host");
  const std::string settings = config::to_yaml(configuration);
  const Said other_settings =
      first_to_speak(processes, differing_settings(settings, processes.of_leader(settings)));
  COSMIC_REQUIRE(UserError, other_settings.what.empty(),
                 other_settings.who
                     << " has other settings than rank 0: " << other_settings.what
                     << " (processes that work together are one run); give all of them the same "
                        "words, recipes and environment, or say run.distributed=false to make "
                        "runs of their own");
}

void require_same_events(const Processes& processes, const std::vector<data::SourcePart>& parts,
                         const std::string& what) {
  if (processes.size() == 1) {
    return;
  }
  std::string amounts;
  for (const data::SourcePart& part : parts) {
    amounts += amount_of(part) + "\n";
  }
  const std::vector<std::string> of_leader = lines_of(processes.of_leader(amounts));
  const Said other = first_to_speak(processes, differing_events(parts, of_leader, what));
  COSMIC_REQUIRE(UserError, other.what.empty(),
                 other.who << " " << other.what
                           << " (each process reads its part of the same events); give every host "
                              "the same files under the same names");
}

}  // namespace cosmic::run
