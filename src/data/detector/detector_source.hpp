// Events from the detector simulation, for loaders: a set of any size that needs no file.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "data/detector/detector.hpp"
#include "data/event_source.hpp"

namespace cosmic::data::detector {

class DetectorSource : public EventSource {
 public:
  /// As many as anybody asks for.
  static constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();

  /// Entry i is event i of the seed.
  DetectorSource(std::int64_t events, std::uint64_t seed, const Conditions& conditions = {});

  std::int64_t size() const override { return events_; }
  bool is_endless() const override { return events_ == kEndless; }
  ImageMeta meta() const override;
  bool labelled() const override { return true; }
  std::string description() const override;
  /// Stands for the seed, and for how this version makes events of it.
  std::string fingerprint() const override;
  std::unique_ptr<EventReader> reader() const override;

 private:
  Detector detector_;
  std::int64_t events_;
  std::uint64_t seed_;
};

}  // namespace cosmic::data::detector
