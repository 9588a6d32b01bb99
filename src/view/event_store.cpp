#include "view/event_store.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace cosmic::view {
namespace {

std::string name_of(const std::vector<std::filesystem::path>& files) {
  const std::string first = files.front().filename().string();
  return files.size() == 1 ? first : first + " and " + std::to_string(files.size() - 1) + " more";
}

}  // namespace

EventStore::EventStore(const StoreOptions& options)
    : source_({options.files, options.image_producer, options.label_producer}) {
  auto own = std::make_unique<ScoreFiles>(options.files);
  if (own->any()) {
    network_names_.push_back(name_of(options.files));
    networks_.push_back(std::move(own));
  }
  if (options.compared.empty()) {
    return;
  }
  auto other = std::make_unique<ScoreFiles>(options.compared);
  COSMIC_REQUIRE(UserError, other->any(),
                 options.compared.front().string()
                     << ": has no predictions (there is nothing to compare); write some with "
                        "`cosmictagger tag`");
  COSMIC_REQUIRE(UserError, other->size() == source_.size(),
                 options.compared.front().string()
                     << ": has " << other->size() << " events, and " << source_.description()
                     << " has " << source_.size()
                     << " (only predictions of the same events can be compared); tag the same file "
                        "with both networks");
  network_names_.push_back(name_of(options.compared));
  networks_.push_back(std::move(other));
}

EventStore::Reader::Reader(const EventStore& store)
    : parts_(store.source_.parts()), pixels_(store.source_.reader()), truth_(parts_) {
  for (const auto& network : store.networks_) {
    scores_.emplace_back(*network);
  }
}

void EventStore::Reader::read(std::int64_t entry, ViewedEvent& event) {
  pixels_->read(entry, event.pixels);
  const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const data::SourcePart& one) {
    return entry < one.end;
  });
  event.entry = entry;
  event.file = part->name;
  event.entry_in_file = entry - part->begin;
  event.neutrino = truth_.of(entry);
  event.networks.resize(scores_.size());
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    scores_[i].read(entry, event.pixels, event.networks[i]);
  }
}

}  // namespace cosmic::view
