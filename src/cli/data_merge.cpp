// `cosmictagger data merge`: the events of several files in one, such as those of the shards of
// `cosmictagger tag`.
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "cli/command.hpp"
#include "cli/data_commands.hpp"
#include "cli/output_options.hpp"
#include "cli/standard_streams.hpp"
#include "data/larcv/event_files.hpp"
#include "data/larcv/merge_files.hpp"

namespace cosmic::cli {
namespace {

struct MergeOptions {
  std::vector<std::filesystem::path> files;
  std::filesystem::path output;
};

void merge(const MergeOptions& options, Existing existing) {
  const OutputRule rule{existing, data::larcv::find_event_files(options.files, "FILE")};
  require_output(options.output, rule);
  const data::larcv::Merged merged =
      data::larcv::merge_files(rule.inputs, options.output, existing);
  for (const data::larcv::ProductName& product : merged.left_out) {
    tell(
        "warning: {} is without the products '{}_{}' of its inputs, a type that this program does "
        "not read\n",
        options.output.string(), product.type, product.producer);
  }
  fmt::print("{}: {} events of {} files\n", options.output.string(), merged.events,
             rule.inputs.size());
}

}  // namespace

void add_data_merge(Command& data) {
  auto options = std::make_shared<MergeOptions>();  // the callback holds it too
  Command* command = data.add_subcommand(
      "merge", "Put the events of several files into one, with all their products");
  command
      ->add_option("FILE", options->files,
                   "larcv3 files in the order of their events, or patterns such as "
                   "'events.tagged.shard-*.h5'")
      ->required();
  command->add_option("--output", options->output, "larcv3 file to write")->required();
  const OverwriteFlag overwrite(*command);
  command->callback([options, overwrite] { merge(*options, overwrite.existing()); });
}

}  // namespace cosmic::cli
