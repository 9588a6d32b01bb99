#include "data/detector/detector_source.hpp"

#include <utility>

#include "core/error.hpp"

namespace cosmic::data::detector {
namespace {

class DetectorReader : public EventReader {
 public:
  DetectorReader(const Detector& detector, const DetectorSource& source, std::uint64_t seed)
      : source_(source), simulator_(detector, seed) {}

  void read(std::int64_t entry, SparseEvent& event) override {
    COSMIC_REQUIRE(DataError, entry >= 0 && entry < source_.size(),
                   "entry " << entry << " of " << source_.description()
                            << " does not exist (entries are 0 to " << source_.size() - 1
                            << "); generate more events");
    // The event travels through the simulation and back, so that its memory is used again.
    std::swap(simulated_.event, event);
    simulator_.simulate(entry, simulated_);
    std::swap(simulated_.event, event);
  }

 private:
  const DetectorSource& source_;
  Simulator simulator_;
  SimulatedEvent simulated_;
};

}  // namespace

DetectorSource::DetectorSource(std::int64_t events, std::uint64_t seed,
                               const Conditions& conditions)
    : detector_(conditions), events_(events), seed_(seed) {
  COSMIC_REQUIRE(UserError, events >= 1,
                 "a generated set has " << events << " events (there must be at least one); ask "
                                        << "for more");
}

ImageMeta DetectorSource::meta() const {
  return meta_of(0);
}

std::string DetectorSource::description() const {
  if (is_endless()) {
    return "the simulated detector (seed " + std::to_string(seed_) + ", every event new)";
  }
  return std::to_string(events_) + " generated events (seed " + std::to_string(seed_) + ")";
}

std::string DetectorSource::fingerprint() const {
  // To be raised by whoever changes an event: a run must not go on with other events unnoticed.
  constexpr int kVersionOfEvents = 1;
  return "detector-" + std::to_string(kVersionOfEvents) + "-seed-" + std::to_string(seed_);
}

std::unique_ptr<EventReader> DetectorSource::reader() const {
  return std::make_unique<DetectorReader>(detector_, *this, seed_);
}

}  // namespace cosmic::data::detector
