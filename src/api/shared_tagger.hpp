// The tagger behind the public interfaces: one that threads may share, and that takes events as
// callers have them. It throws cosmic::Error; each interface makes of that what its callers know.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/own_thread.hpp"
#include "api/stored_events.hpp"
#include "config/configuration.hpp"
#include "output/run_log.hpp"
#include "tagger/event_tagger.hpp"

namespace cosmic::api {

struct SharedTaggerOptions {
  std::string weights = {};
  int threads = 1;  ///< 0 for what the process may use
  int events_at_a_time = 1;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<std::string> settings = {};
};

class SharedTagger {
 public:
  explicit SharedTagger(const SharedTaggerOptions& options);
  ~SharedTagger();
  SharedTagger(const SharedTagger&) = delete;
  SharedTagger& operator=(const SharedTagger&) = delete;

  /// One element for each plane of each event. Nothing is written unless all of them can be tagged.
  void tag(std::span<const GivenPixels> pixels, std::span<const WantedTags> tags);
  /// [events, 3, rows, columns] each.
  void tag(std::span<const float> charges, const WantedTags& tags);

  using Found = std::function<void(std::size_t event, const infer::StoredPixels& found)>;
  /// Of events as they are stored; `found` is called for each in turn, perhaps in another thread.
  void tag_stored(std::span<const data::SparseEvent> events, const Found& found);

  /// As EventTagger::oddities().
  std::vector<std::string> oddities() const;

  const tagger::EventTagger& tagger() const { return *tagger_; }
  /// Of the configuration and of the weights.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  /// In the tagger's own thread, if it has one.
  void compute(const std::function<void()>& work);
  data::ImageMeta grid(std::size_t plane) const;

  SharedTaggerOptions options_;
  std::vector<std::string> notes_;
  output::RunLog log_;
  mutable std::mutex mutex_;
  std::optional<OwnThread> thread_;
  std::unique_ptr<tagger::EventTagger> tagger_;
};

}  // namespace cosmic::api
