// `cosmictagger tag`: tags the events of files with trained weights, and writes each result beside
// its input. Everything that belongs to the weights comes from them, so there is nothing to set.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/decided_settings.hpp"
#include "cli/file_images.hpp"
#include "cli/output_options.hpp"
#include "cli/run_command.hpp"
#include "cli/shown_inference.hpp"
#include "cli/standard_streams.hpp"
#include "cli/tag_remotely.hpp"
#include "cli/together.hpp"
#include "cli/what_fits.hpp"
#include "core/error.hpp"
#include "data/larcv/event_files.hpp"
#include "infer/inference.hpp"
#include "picture/axis.hpp"
#include "run/processes.hpp"
#include "tagger/box.hpp"
#include "tagger/tagging_settings.hpp"

namespace cosmic::cli {
namespace {

struct TagOptions {
  std::vector<std::filesystem::path> files;
  std::string weights;
  std::string network;  ///< in the box
  std::string output;
  std::string shard;
  ServerChoices server;
};

/// "3/16"
infer::Shard shard_of(const std::string& text) {
  infer::Shard shard;
  if (text.empty()) {
    return shard;
  }
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, shard.number);
  const bool slash = number.ec == std::errc() && number.ptr != end && *number.ptr == '/';
  const bool whole = slash && [&] {
    const auto of = std::from_chars(number.ptr + 1, end, shard.of);
    return of.ec == std::errc() && of.ptr == end;
  }();
  constexpr std::int64_t kMostShards = 1'000'000;
  COSMIC_REQUIRE(
      UserError, whole && shard.number >= 1 && shard.number <= shard.of && shard.of <= kMostShards,
      "--shard " << text
                 << " (a shard is its number and how many there are, counted from 1); write "
                 << "for example --shard 3/16 in the third of sixteen jobs");
  return shard;
}

constexpr std::array kDecidedByTag{
    DecidedSetting{"data.file", "give FILE, or use `cosmictagger infer`"},
    DecidedSetting{"data.data_directory", "give FILE, or use `cosmictagger infer`"},
    DecidedSetting{"mode.weights_location", "give --weights"},
    DecidedSetting{"mode.output_file", "give --output"},
    DecidedSetting{"mode.start_index", "give --shard, or use `cosmictagger infer`"}};

/// Whether `file` is called as this command calls what it writes of `input`, or of a shard of it.
bool is_tagged_file_of(const std::filesystem::path& input, const std::filesystem::path& file) {
  const std::string name = file.stem().string();
  const std::string tagged = input.stem().string() + ".tagged";
  return file.parent_path() == input.parent_path() && file.extension() == input.extension() &&
         (name == tagged || name.starts_with(tagged + ".shard-"));
}

/// Where a folder was tagged before, `*.h5` matches the results too.
std::vector<std::filesystem::path> without_tagged(std::vector<std::filesystem::path> files) {
  const std::vector<std::filesystem::path> all = files;
  std::erase_if(files, [&](const std::filesystem::path& file) {
    const auto input = std::find_if(all.begin(), all.end(), [&](const std::filesystem::path& one) {
      return is_tagged_file_of(one, file);
    });
    if (input != all.end()) {
      tell("note: {} is left out: it has the tags of {}\n", file.string(), input->string());
    }
    return input != all.end();
  });
  return files;
}

/// Settings of the weights, and the images that the first file has.
config::Resolved settings_for(const std::filesystem::path& file, const std::string& weights,
                              std::vector<std::string> words) {
  constexpr std::string_view key = "data.image_producer=";
  config::Resolved resolved = tagger::tagging_settings(weights, words);
  if (std::any_of(words.begin(), words.end(),
                  [&](const std::string& word) { return word.starts_with(key); })) {
    return resolved;
  }
  const std::optional<std::string> images = only_other_images(file, resolved.configuration.data);
  if (!images) {
    return resolved;
  }
  const std::string theirs = resolved.configuration.data.image_producer;
  words.push_back(std::string(key) + *images);
  resolved = tagger::tagging_settings(weights, words);
  resolved.notes.push_back(
      fmt::format("{} has no images '{}'; its '{}' are tagged", file.string(), theirs, *images));
  return resolved;
}

config::Configuration configuration_of(const TagOptions& options,
                                       const std::vector<std::string>& words) {
  require_not_given("tag", kDecidedByTag, words);
  COSMIC_REQUIRE(UserError, options.network.empty() || options.weights.empty(),
                 "--network " << options.network << " with --weights " << options.weights
                              << " (which of the two is to tag?); give one of them");
  const std::string weights =
      options.network.empty() ? options.weights : tagger::boxed_network(options.network).string();
  require_sensible(options.server, weights, words);
  const std::vector<std::filesystem::path> files =
      without_tagged(data::larcv::find_event_files(options.files, "FILE"));
  const bool local = !options.server.given() || options.server.local_fallback;
  config::Resolved resolved =
      local ? settings_for(files.front(), weights, words) : tagger::remote_tagging_settings(words);
  tell_of_settings(resolved.notes, resolved.configuration);
  config::Configuration configuration = std::move(resolved.configuration);
  configuration.data.data_directory.clear();
  configuration.data.file.clear();
  for (const std::filesystem::path& file : files) {
    configuration.data.file.push_back(file.string());
  }
  configuration.mode.output_file = options.output;
  return configuration;
}

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void print_findings(RunConsole& console, const std::vector<infer::Findings>& findings) {
  for (const infer::Findings& found : findings) {
    console.print(
        "{}: {} events, {} pixels, {:.1f} % cosmic and {:.1f} % neutrino; neutrino pixels in {} "
        "events\n",
        found.file.string(), picture::grouped(found.events), picture::grouped(found.pixels),
        percent(found.cosmic_pixels, found.pixels), percent(found.neutrino_pixels, found.pixels),
        picture::grouped(found.events_with_neutrino));
  }
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const infer::Findings& found : findings) {
    files.push_back({{"file", found.file.string()},
                     {"events", found.events},
                     {"pixels", found.pixels},
                     {"cosmic_pixels", found.cosmic_pixels},
                     {"neutrino_pixels", found.neutrino_pixels},
                     {"events_with_neutrino", found.events_with_neutrino}});
  }
  console.print_json({{"files", std::move(files)}});
}

void tag(const config::Configuration& configuration, const OutputRule& rule,
         const infer::Shard& shard, comm::Communicator* others) {
  const std::string target = target_for(configuration.run.compute_mode);
  const infer::InferenceOutputs outputs{infer::Placement::beside_inputs, shard};
  const run::Processes processes(others);
  if (!processes.lead()) {
    RunConsole console = RunConsole::of_follower(processes.name());
    infer::infer(configuration, target, console.log(), {}, rule, others, outputs);
    return;
  }
  RunConsole console = RunConsole::without_file(output::LogLevel::warning);
  PublishedJob job("tag", configuration, target, console.log());
  const infer::InferenceSummary summary = infer::infer(
      configuration, target, console.log(), shown_by(console, job), rule, others, outputs);
  console.finish();
  print_findings(console, summary.findings);
}

}  // namespace

void add_tag(Command& app) {
  auto options = std::make_shared<TagOptions>();  // the callback holds it too
  Command* command = app.add_subcommand(
      "tag", "Tag the events of files, each pixel as background, cosmic or neutrino");
  command->add_option("FILE", options->files, "larcv3 files, or patterns such as 'runs/*.h5'")
      ->required();
  command->add_option("--weights", options->weights,
                      "Trained network: a checkpoint, or a folder of them; settings that belong to "
                      "the weights are taken from it. Without it, a network that comes with the "
                      "program");
  command
      ->add_option("--network", options->network,
                   fmt::format("Which of these: {}; by default {}",
                               fmt::join(tagger::kBoxedNetworks, " or "), tagger::kDefaultNetwork))
      ->type_name("NAME");
  command->add_option("--output", options->output,
                      "One file for all events, or a folder for a file each; by default FILE.h5 "
                      "becomes FILE.tagged.h5 beside it");
  command
      ->add_option("--shard", options->shard,
                   "Tag only the third of sixteen equal parts of the events: 3/16; `data merge` "
                   "puts the files together")
      ->type_name("K/N");
  options->server.add_options(*command);
  const OverwriteFlag overwrite(*command);
  const JsonFlag json(*command);
  const QuietFlag quiet(*command, "Say nothing but notes on settings, warnings and errors");
  command->allow_extras();
  command->footer(
      "Other settings may follow, such as run.threads=4 or run.compute_mode=GPU; `cosmictagger "
      "infer --help` lists them.");
  command->callback([command, options, overwrite] {
    // FILE takes every word without a dash, settings too.
    std::vector<std::string> words = command->remaining();
    std::erase_if(options->files, [&](const std::filesystem::path& word) {
      const bool setting =
          word.string().find('=') != std::string::npos && !std::filesystem::exists(word);
      if (setting) {
        words.push_back(word.string());
      }
      return setting;
    });
    COSMIC_REQUIRE(UserError, !options->files.empty(),
                   "tag without a FILE (there is nothing to tag); name larcv3 files or a pattern");
    const infer::Shard shard = shard_of(options->shard);
    const config::Configuration configuration = configuration_of(*options, words);
    const OutputRule rule = output_rule(overwrite, configuration, words);
    if (options->server.given()) {
      std::vector<infer::Findings> findings;
      if (tag_with_servers(options->server, configuration, rule,
                           {infer::Placement::beside_inputs, shard},
                           findings) == WhoTagged::server) {
        RunConsole console = RunConsole::without_file(output::LogLevel::warning);
        print_findings(console, findings);
        return;
      }
    }
    run_or_say_what_fits(configuration, TrainingPrograms::step, [&] {
      work_together(configuration,
                    [&](const config::Configuration& settled, comm::Communicator* others) {
                      tag(settled, rule, shard, others);
                    });
    });
  });
}

}  // namespace cosmic::cli
