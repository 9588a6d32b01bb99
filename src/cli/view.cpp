// `cosmictagger view`: events in a browser, or chosen ones as a page that needs no server.
#include <fmt/core.h>
#include <poll.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/output_options.hpp"
#include "cli/standard_streams.hpp"
#include "cli/stop_signal.hpp"
#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "core/whole_file.hpp"
#include "data/larcv/event_files.hpp"
#include "view/event_store.hpp"
#include "view/exported_page.hpp"
#include "view/page_server.hpp"
#include "view/view_service.hpp"

namespace cosmic::cli {
namespace {

struct ViewOptions {
  std::vector<std::filesystem::path> files;
  std::vector<std::filesystem::path> compared;
  std::string image_producer = view::StoreOptions{}.image_producer;
  std::string label_producer = view::StoreOptions{}.label_producer;
  std::int64_t port = -1;  // none was given
  double seconds = 0;
  std::filesystem::path exported;
  std::string events;
};

view::StoreOptions store_options(const ViewOptions& options) {
  view::StoreOptions store;
  store.files = data::larcv::find_event_files(options.files, "FILE");
  if (!options.compared.empty()) {
    store.compared = data::larcv::find_event_files(options.compared, "--compare");
  }
  store.image_producer = options.image_producer;
  store.label_producer = options.label_producer;
  return store;
}

void export_page(const ViewOptions& options, const view::StoreOptions& store, Existing existing) {
  OutputRule rule{existing, store.files};
  rule.inputs.insert(rule.inputs.end(), store.compared.begin(), store.compared.end());
  const std::vector<std::int64_t> entries = view::parse_entries(options.events);
  const view::EventStore events(store);
  require_output(options.exported, rule);
  write_whole_file(options.exported, view::exported_page(events, entries), existing);
  fmt::print("{}\n", options.exported.string());
}

void serve(const ViewOptions& options, const view::StoreOptions& store) {
  const StopSignal stop;
  const view::EventStore events(store);
  view::ViewService service(&events);
  const view::PageServer server(
      [&](const view::Request& request) { return service.answer(request); },
      options.port < 0 ? std::nullopt : std::optional<int>(static_cast<int>(options.port)));
  fmt::print("{}\n", server.address());
  std::fflush(stdout);
  tell("Open this address in a browser of this machine; Ctrl-C ends it.\n");
  const Stopwatch watch;
  constexpr int kPollMilliseconds = 100;
  while (!stop.requested() && (options.seconds == 0 || watch.seconds() < options.seconds)) {
    poll(nullptr, 0, kPollMilliseconds);  // a signal ends the wait
  }
}

void view_or_export(const ViewOptions& options, Existing existing) {
  COSMIC_REQUIRE(UserError, options.exported.empty() == options.events.empty(),
                 (options.exported.empty() ? "--events without --export" : "--export without --events")
                     << " (the one says which events, the other where to write them); give both");
  COSMIC_REQUIRE(UserError, options.exported.empty() || (options.port < 0 && options.seconds == 0),
                 "--export with --port or --seconds (an export writes a file and serves nothing); "
                 "leave them out");
  COSMIC_REQUIRE(UserError, !options.exported.empty() || existing == Existing::refuse,
                 "--overwrite without --export (nothing would be written); leave it out");
  const view::StoreOptions store = store_options(options);
  if (options.exported.empty()) {
    serve(options, store);
  } else {
    export_page(options, store, existing);
  }
}

}  // namespace

void add_view(Command& app) {
  auto options = std::make_shared<ViewOptions>();  // the callback holds it too
  Command* command = app.add_subcommand(
      "view", "Show events in a browser: charge, truth, tags and scores of their planes");
  command->add_option("FILE", options->files, "larcv3 files, or patterns such as 'runs/*.h5'")
      ->required();
  command->add_option("--compare", options->compared,
                      "The same events tagged by a second network, for the differences");
  command
      ->add_option("--port", options->port,
                   "Port of 127.0.0.1 to serve the page on; 0: any that is free; by default the "
                   "first free one from 8420 on")
      ->between(std::int64_t{0}, std::int64_t{65535});
  command
      ->add_option("--seconds", options->seconds, "End after this time; 0: when Ctrl-C is pressed")
      ->not_negative()
      ->capture_default_str();
  command->add_option("--export", options->exported,
                      "Write one HTML file with the chosen events instead of serving them");
  command->add_option("--events", options->events,
                      "With --export: numbers of events, counted from 0: 3,7,12");
  command->add_option("--image", options->image_producer, "Producer of the image")
      ->capture_default_str();
  command->add_option("--labels", options->label_producer, "Producer of the labels")
      ->capture_default_str();
  const OverwriteFlag overwrite(*command);
  command->callback([options, overwrite] { view_or_export(*options, overwrite.existing()); });
}

}  // namespace cosmic::cli
