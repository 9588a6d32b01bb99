// `cosmictagger data show`: one event as a picture.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/data_commands.hpp"
#include "cli/output_options.hpp"
#include "cli/standard_streams.hpp"
#include "core/error.hpp"
#include "data/larcv/event_files.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/predictions.hpp"
#include "picture/event_picture.hpp"

namespace cosmic::cli {
namespace {

struct ShowOptions {
  std::vector<std::filesystem::path> files;
  std::int64_t entry = 0;
  std::filesystem::path output;
  std::string image_producer = data::larcv::LarcvOptions{}.image_producer;
  std::string label_producer = data::larcv::LarcvOptions{}.label_producer;
  bool probabilities = false;
};

void show(const ShowOptions& options, Existing existing) {
  const OutputRule rule{existing, data::larcv::find_event_files(options.files, "FILE")};
  const data::larcv::LarcvSource source(
      {rule.inputs, options.image_producer, options.label_producer});
  COSMIC_REQUIRE(UserError, options.entry < source.size(),
                 source.description() << ": has no event " << options.entry << " (it has "
                                      << source.size() << ", counted from 0); choose another");
  data::SparseEvent event;
  source.reader()->read(options.entry, event);
  for (const data::ReadNote& note : source.notes()) {
    tell("warning: {}\n", data::to_text(note));
  }
  const std::vector<data::SourcePart> parts = source.parts();
  const auto part = std::find_if(parts.begin(), parts.end(), [&](const data::SourcePart& one) {
    return options.entry < one.end;
  });
  const std::filesystem::path file = part->name;
  const std::int64_t entry = options.entry - part->begin;
  std::filesystem::path output = options.output;
  if (output.empty()) {
    output = fmt::format("{}_event{}.png", file.stem().string(), entry);
  }
  const std::optional<data::SparseImage> tags = data::larcv::read_tags(file, entry);
  std::optional<data::SparseImage> probabilities;
  if (options.probabilities) {
    probabilities = data::larcv::read_neutrino_probabilities(file, entry);
    COSMIC_REQUIRE(UserError, probabilities,
                   file.string() << ": has no predictions, so there are no probabilities to draw; "
                                    "tag it with `cosmictagger tag`");
  }
  require_output(output, rule);
  picture::write_png(
      output,
      picture::draw_event(event, {file.filename().string(), entry}, tags ? &*tags : nullptr,
                          probabilities ? &*probabilities : nullptr),
      existing);
  fmt::print("{}\n", output.string());
}

}  // namespace

void add_data_show(Command& data) {
  auto options = std::make_shared<ShowOptions>();  // the callback holds it too
  Command* command =
      data.add_subcommand("show", "Draw an event: charge, labels and predictions of its planes");
  command->add_option("FILE", options->files, "larcv3 files, or patterns such as 'runs/*.h5'")
      ->required();
  command
      ->add_option("--event", options->entry,
                   "Number of the event, counted from 0 over all files in their order")
      ->not_negative()
      ->capture_default_str();
  command->add_option("--output", options->output, "PNG file to write; FILE_eventN.png by default");
  command->add_option("--image", options->image_producer, "Producer of the image")
      ->capture_default_str();
  command->add_option("--labels", options->label_producer, "Producer of the labels")
      ->capture_default_str();
  command->add_flag("--probabilities", options->probabilities,
                    "Draw also how likely each pixel is a neutrino's, of a file that was tagged");
  const OverwriteFlag overwrite(*command);
  command->callback([options, overwrite] { show(*options, overwrite.existing()); });
}

}  // namespace cosmic::cli
