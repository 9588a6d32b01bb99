#include "view/event_store.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace cosmic::view {
namespace {

// Each adds nine bytes per pixel to what a page fetches.
constexpr std::size_t kMostNetworks = 6;

std::string name_of(const std::vector<std::filesystem::path>& files) {
  const std::string first = files.front().filename().string();
  return files.size() == 1 ? first : first + " and " + std::to_string(files.size() - 1) + " more";
}

}  // namespace

EventStore::EventStore(const StoreOptions& options)
    : source_({options.files, options.image_producer, options.label_producer}),
      title_(options.title) {
  auto own = std::make_shared<ScoreFiles>(options.files);
  if (own->any()) {
    networks_.push_back({name_of(options.files), std::move(own)});
  }
  if (options.compared.empty()) {
    return;
  }
  auto other = std::make_shared<ScoreFiles>(options.compared);
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
  networks_.push_back({name_of(options.compared), std::move(other)});
}

std::vector<std::string> EventStore::networks() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const Network& network : networks_) {
    names.push_back(network.name);
  }
  return names;
}

std::int64_t EventStore::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

void EventStore::add_network(const std::string& name, const std::filesystem::path& file) {
  auto files = std::make_shared<ScoreFiles>(std::vector{file});
  const std::lock_guard lock(mutex_);
  if (networks_.size() == kMostNetworks) {
    networks_.erase(networks_.begin());
  }
  networks_.push_back({name, std::move(files)});
  ++version_;
}

EventStore::Reader::Reader(const EventStore& store)
    : store_(store),
      parts_(store.source_.parts()),
      pixels_(store.source_.reader()),
      truth_(parts_) {}

void EventStore::Reader::take_networks() {
  const std::lock_guard lock(store_.mutex_);
  if (version_ == store_.version_) {
    return;
  }
  version_ = store_.version_;
  scores_.clear();
  networks_.clear();
  for (const Network& network : store_.networks_) {
    networks_.push_back(network.files);
    scores_.emplace_back(*network.files);
  }
}

void EventStore::Reader::read(std::int64_t entry, ViewedEvent& event) {
  take_networks();
  pixels_->read(entry, event.pixels);
  const auto part = std::find_if(parts_.begin(), parts_.end(),
                                 [&](const data::SourcePart& one) { return entry < one.end; });
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
