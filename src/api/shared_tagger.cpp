#include "api/shared_tagger.hpp"

#include <array>
#include <string_view>

#include "core/error.hpp"
#include "run/processes.hpp"
#include "tagger/tagging_settings.hpp"

namespace cosmic::api {
namespace {

/// Settings that have an option of their own, or that say which files to read or write.
void require_free(const std::vector<std::string>& settings) {
  constexpr std::array<std::string_view, 9> taken{
      "run.threads=",      "run.minibatch_size=", "mode.weights_location=",
      "data.file=",        "data.aux_file=",      "data.data_directory=",
      "mode.output_file=", "mode.start_index=",   "run.distributed="};
  for (const std::string& setting : settings) {
    for (const std::string_view key : taken) {
      COSMIC_REQUIRE(UserError, !setting.starts_with(key),
                     "the setting " << setting
                                    << " is not for events in memory (it has an option of its own "
                                       "here, or is about files); leave it out");
    }
  }
}

config::Resolved resolved(const SharedTaggerOptions& options) {
  COSMIC_REQUIRE(UserError, options.threads >= 0,
                 "threads is " << options.threads
                               << " (a number of threads, or 0 for as many as this process may "
                                  "use); give 1 for the caller's alone");
  COSMIC_REQUIRE(UserError, options.events_at_a_time >= 1,
                 "events_at_a_time is " << options.events_at_a_time
                                        << " (there is nothing to tag); give at least 1");
  require_free(options.settings);
  std::vector<std::string> words = options.settings;
  words.push_back("run.threads=" + std::to_string(run::Processes().threads(options.threads)));
  words.push_back("run.minibatch_size=" + std::to_string(options.events_at_a_time));
  return tagger::tagging_settings(options.weights, std::move(words));
}

/// What a log line says after its time and its level.
std::string message_of(const std::string& line) {
  constexpr std::string_view level = " - WARNING - ";
  const std::size_t at = line.find(level);
  return at == std::string::npos ? line : line.substr(at + level.size());
}

std::string place_of(std::size_t event, std::size_t plane) {
  return "event " + std::to_string(event) + ", plane " + std::to_string(plane);
}

}  // namespace

SharedTagger::SharedTagger(const SharedTaggerOptions& options)
    : options_(options),
      log_(
          {}, [this](const std::string& line) { notes_.push_back(message_of(line)); },
          output::RunLog::Opening::now, output::LogLevel::warning) {
  config::Resolved settings = resolved(options);
  notes_ = std::move(settings.notes);
  if (settings.configuration.run.threads > 1) {
    thread_.emplace();
  }
  compute([&] {
    tagger_ = std::make_unique<tagger::EventTagger>(settings.configuration, grid(0), log_);
  });
}

SharedTagger::~SharedTagger() = default;

data::ImageMeta SharedTagger::grid(std::size_t plane) const {
  return grid_of(options_.rows, options_.columns, plane);
}

void SharedTagger::compute(const std::function<void()>& work) {
  if (thread_) {
    thread_->run(work);
  } else {
    work();
  }
}

void SharedTagger::tag_stored(std::span<const data::SparseEvent> events, const Found& found) {
  const std::lock_guard lock(mutex_);
  compute([&] {
    tagger_->tag(events, [&](std::size_t event, const infer::TaggedEvent&,
                             const infer::StoredPixels& pixels) { found(event, pixels); });
  });
}

std::vector<std::string> SharedTagger::oddities() const {
  const std::lock_guard lock(mutex_);
  return tagger_->oddities();
}

void SharedTagger::tag(std::span<const GivenPixels> pixels, std::span<const WantedTags> tags) {
  COSMIC_ASSERT(pixels.size() == tags.size() && pixels.size() % infer::kPlanes == 0);
  std::vector<OrderedPlane> planes;
  planes.reserve(pixels.size());
  std::vector<data::SparseEvent> events(pixels.size() / infer::kPlanes);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::size_t plane = i % infer::kPlanes;
    planes.push_back(ordered(pixels[i], grid(plane), place_of(i / infer::kPlanes, plane)));
    events[i / infer::kPlanes].image[plane] = std::move(planes.back().plane);
  }
  std::vector<infer::StoredPixels> all(events.size());
  tag_stored(events,
             [&](std::size_t event, const infer::StoredPixels& found) { all[event] = found; });
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    planes[i].write(all[i / infer::kPlanes], i % infer::kPlanes, tags[i]);
  }
}

void SharedTagger::tag(std::span<const float> charges, const WantedTags& tags) {
  const std::size_t pixels = std::size_t{options_.rows} * options_.columns;
  const std::size_t planes = pixels == 0 ? 0 : charges.size() / pixels;
  COSMIC_REQUIRE(DataError, planes % infer::kPlanes == 0 && planes * pixels == charges.size(),
                 charges.size() << " charges (an event has " << infer::kPlanes << " planes of "
                                << options_.rows << " rows and " << options_.columns
                                << " columns); load the weights with the size of these images");
  const auto require_room = [&](std::size_t room, std::string_view what) {
    COSMIC_REQUIRE(DataError, room == 0 || room == charges.size(),
                   "room for " << room << " " << what << " of " << charges.size()
                               << " pixels (each gets one); give equally many, or none");
  };
  require_room(tags.tag.size(), "tags");
  require_room(tags.cosmic.size(), "probabilities of cosmic");
  require_room(tags.neutrino.size(), "probabilities of neutrino");
  std::vector<data::SparseEvent> events(planes / infer::kPlanes);
  for (std::size_t i = 0; i < planes; ++i) {
    const std::size_t plane = i % infer::kPlanes;
    events[i / infer::kPlanes].image[plane] = stored(
        charges.subspan(i * pixels, pixels), grid(plane), place_of(i / infer::kPlanes, plane));
  }
  const auto part = [&](const auto& all, std::size_t number) {
    return all.empty() ? all : all.subspan(number * pixels, pixels);
  };
  tag_stored(events, [&](std::size_t event, const infer::StoredPixels& found) {
    for (std::size_t plane = 0; plane < infer::kPlanes; ++plane) {
      const std::size_t number = event * infer::kPlanes + plane;
      write_dense(found, plane,
                  {part(tags.tag, number), part(tags.cosmic, number), part(tags.neutrino, number)});
    }
  });
}

}  // namespace cosmic::api
