// `cosmictagger data show`: one event as a picture.
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli/command.hpp"
#include "cli/data_commands.hpp"
#include "core/error.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/predictions.hpp"
#include "picture/event_picture.hpp"

namespace cosmic::cli {
namespace {

struct ShowOptions {
  std::filesystem::path file;
  std::int64_t entry = 0;
  std::filesystem::path output;
  std::string image_producer = data::larcv::LarcvOptions{}.image_producer;
  std::string label_producer = data::larcv::LarcvOptions{}.label_producer;
};

void show(const ShowOptions& options) {
  const data::larcv::LarcvSource source(
      {{options.file}, options.image_producer, options.label_producer});
  COSMIC_REQUIRE(UserError, options.entry < source.size(),
                 options.file.string() << ": has no event " << options.entry << " (it has "
                                       << source.size() << ", counted from 0); choose another");
  data::SparseEvent event;
  source.reader()->read(options.entry, event);
  for (const data::larcv::ReadWarning& warning : source.warnings().list()) {
    fmt::print(stderr, "warning: {} {}; the first: {}\n", warning.count, description(warning.kind),
               warning.first);
  }
  std::filesystem::path output = options.output;
  if (output.empty()) {
    output = fmt::format("{}_event{}.png", options.file.stem().string(), options.entry);
  }
  const std::optional<data::SparseImage> tags = data::larcv::read_tags(options.file, options.entry);
  picture::write_png(output,
                     picture::draw_event(event, {options.file.filename().string(), options.entry},
                                         tags ? &*tags : nullptr));
  fmt::print("{}\n", output.string());
}

}  // namespace

void add_data_show(Command& data) {
  auto options = std::make_shared<ShowOptions>();  // the callback holds it too
  Command* command =
      data.add_subcommand("show", "Draw an event: charge, labels and predictions of its planes");
  command->add_option("FILE", options->file, "larcv3 file")->required();
  command->add_option("--event", options->entry, "Number of the event in the file, counted from 0")
      ->not_negative()
      ->capture_default_str();
  command->add_option("--output", options->output, "PNG file to write; FILE_eventN.png by default");
  command->add_option("--image", options->image_producer, "Producer of the image")
      ->capture_default_str();
  command->add_option("--labels", options->label_producer, "Producer of the labels")
      ->capture_default_str();
  command->callback([options] { show(*options); });
}

}  // namespace cosmic::cli
