// `cosmictagger view`: events and runs in a browser, or chosen events as a page without a server.
#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/exit_status.hpp"
#include "cli/live_tags.hpp"
#include "cli/output_options.hpp"
#include "cli/standard_streams.hpp"
#include "cli/stop_signal.hpp"
#include "cli/temporary_folder.hpp"
#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "core/whole_file.hpp"
#include "data/larcv/event_files.hpp"
#include "view/event_store.hpp"
#include "view/exported_page.hpp"
#include "view/fetched_file.hpp"
#include "view/page_server.hpp"
#include "view/run_follower.hpp"
#include "view/view_service.hpp"

namespace cosmic::cli {
namespace {

struct ViewOptions {
  std::vector<std::filesystem::path> places;  // files of events, their URLs, and folders of runs
  std::vector<std::filesystem::path> compared;
  std::string title;  // of places that were fetched; empty for the names of files
  std::string image_producer = view::StoreOptions{}.image_producer;
  std::string label_producer = view::StoreOptions{}.label_producer;
  std::int64_t port = -1;  // none was given
  double seconds = 0;
  std::filesystem::path exported;
  std::string events;
  std::int64_t watched = 3;
};

/// What the words name.
struct Places {
  std::vector<std::filesystem::path> files;
  std::vector<std::filesystem::path> runs;
};

Places places_of(const ViewOptions& options) {
  Places places;
  for (const std::filesystem::path& place : options.places) {
    (std::filesystem::is_directory(place) ? places.runs : places.files).push_back(place);
  }
  return places;
}

view::StoreOptions store_options(const ViewOptions& options,
                                 const std::vector<std::filesystem::path>& files) {
  view::StoreOptions store;
  store.files = data::larcv::find_event_files(files, "FILE");
  if (!options.compared.empty()) {
    store.compared = data::larcv::find_event_files(options.compared, "--compare");
  }
  store.title = options.title;
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

void serve_until_stopped(const ViewOptions& options, view::ViewService& service,
                         const StopSignal& stop) {
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

/// Runs, and events: those of the files, or of the first run the events that it validates with.
void serve(const ViewOptions& options, const Places& places) {
  const StopSignal stop;
  std::vector<std::unique_ptr<view::RunFollower>> followers;
  std::vector<view::RunFollower*> runs;
  for (const std::filesystem::path& run : places.runs) {
    runs.push_back(followers.emplace_back(std::make_unique<view::RunFollower>(run)).get());
  }
  std::optional<TemporaryFolder> folder;
  std::optional<std::filesystem::path> watched;
  if (places.files.empty() && options.watched > 0) {
    folder.emplace();
    watched = watched_events(places.runs.front(), options.watched, folder->path());
    if (!watched) {
      tell(
          "note: {}: no validation events were found (its settings name no file that is here), so "
          "only its curves are shown; name a file of events as well to see some\n",
          places.runs.front().string());
    }
  }
  std::optional<view::EventStore> events;
  if (watched || !places.files.empty()) {
    events.emplace(watched ? view::StoreOptions{.files = {*watched}}
                           : store_options(options, places.files));
  }
  std::optional<LiveTags> tags;
  if (watched) {
    tags.emplace(places.runs.front(), *watched, *events);
  }
  view::ViewService service(events ? &*events : nullptr, std::move(runs));
  serve_until_stopped(options, service, stop);
}

void require_consistent(const ViewOptions& options, const Places& places, Existing existing) {
  COSMIC_REQUIRE(
      UserError, options.exported.empty() == options.events.empty(),
      (options.exported.empty() ? "--events without --export" : "--export without --events")
          << " (the one says which events, the other where to write them); give both");
  COSMIC_REQUIRE(UserError, options.exported.empty() || (options.port < 0 && options.seconds == 0),
                 "--export with --port or --seconds (an export writes a file and serves nothing); "
                 "leave them out");
  COSMIC_REQUIRE(UserError, options.exported.empty() || places.runs.empty(),
                 "--export of the run " << places.runs.front().string()
                                        << " (only events can be exported); name files of events");
  COSMIC_REQUIRE(UserError, !options.exported.empty() || existing == Existing::refuse,
                 "--overwrite without --export (nothing would be written); leave it out");
  COSMIC_REQUIRE(UserError, options.compared.empty() || !places.files.empty(),
                 "--compare without a file of events (its predictions belong to some); name the "
                 "file that was tagged");
}

std::filesystem::path fetched(const std::string& url, const std::filesystem::path& folder) {
  constexpr double kMegabyte = 1e6;
  const StopSignal stop;
  const std::filesystem::path file = view::fetch_file(
      url, folder, [&](std::uint64_t, std::uint64_t) { return !stop.requested(); });
  if (stop.requested()) {
    throw ExitStatus(kStopped);
  }
  tell("{}: {:.1f} MB fetched; they are removed at the end.\n", url,
       static_cast<double>(std::filesystem::file_size(file)) / kMegabyte);
  return file;
}

/// What lies on web servers becomes files in a folder each, because their names may be the same.
void fetch_all(std::vector<std::filesystem::path>& places, std::optional<TemporaryFolder>& folder) {
  for (std::filesystem::path& place : places) {
    if (view::is_url(place.string())) {
      if (!folder) {
        folder.emplace();
      }
      const auto count = std::distance(std::filesystem::directory_iterator(folder->path()),
                                       std::filesystem::directory_iterator());
      const std::filesystem::path own = folder->path() / std::to_string(count);
      std::filesystem::create_directory(own);
      place = fetched(place.string(), own);
    }
  }
}

/// Where a file came from says more than where it lies meanwhile.
std::string title_of(const std::vector<std::filesystem::path>& places) {
  const bool fetched = std::any_of(places.begin(), places.end(),
                                   [](const auto& place) { return view::is_url(place.string()); });
  const std::string first = places.front().string();
  return !fetched            ? ""
         : places.size() > 1 ? fmt::format("{} and {} more", first, places.size() - 1)
                             : first;
}

void view_or_export(ViewOptions options, Existing existing) {
  require_consistent(options, places_of(options), existing);
  options.title = title_of(options.places);
  std::optional<TemporaryFolder> folder;
  fetch_all(options.places, folder);
  fetch_all(options.compared, folder);
  const Places places = places_of(options);
  if (options.exported.empty()) {
    serve(options, places);
  } else {
    export_page(options, store_options(options, places.files), existing);
  }
}

}  // namespace

void add_view(Command& app) {
  auto options = std::make_shared<ViewOptions>();  // the callback holds it too
  Command* command = app.add_subcommand(
      "view", "Show events, or trainings as they run, in a browser of this machine");
  command
      ->add_option("PLACE", options->places,
                   "larcv3 files, patterns such as 'runs/*.h5', or addresses of files on a web "
                   "server (http:// or https://); and folders of trainings")
      ->required();
  command->add_option("--compare", options->compared,
                      "The same events tagged by a second network, for the differences; as PLACE");
  command
      ->add_option("--port", options->port,
                   "Port of 127.0.0.1 to serve the page on; 0: any that is free; by default the "
                   "first free one from 8420 on")
      ->between(std::int64_t{0}, std::int64_t{65535});
  command
      ->add_option("--seconds", options->seconds, "End after this time; 0: when Ctrl-C is pressed")
      ->not_negative()
      ->capture_default_str();
  command
      ->add_option("--watch", options->watched,
                   "With the folder of a training alone: so many of its validation events are "
                   "tagged with every new checkpoint, on one core")
      ->between(std::int64_t{0}, std::int64_t{100})
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
