#include "data/loader/event_samples.hpp"

#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "data/loader/numbered_stream.hpp"

namespace cosmic::data {
namespace {

std::int64_t pixels_of(const SparseEvent& event) {
  std::size_t pixels = 0;
  for (const SparseImage* image : {&event.image, &event.labels}) {
    for (const SparsePlane& plane : *image) {
      pixels += plane.ids.size();
    }
  }
  return static_cast<std::int64_t>(pixels);
}

/// Each change has random numbers of its own, so that another one does not change it.
void augment(SparseEvent& event, const Augmentation& augmentation, std::uint64_t seed,
             std::int64_t sample) {
  if (augmentation.flips) {
    RandomStream random = numbered_stream(seed, "flips of sample", sample);
    flip(event, random_flips(random));
  }
  if (augmentation.charge > 0) {
    RandomStream random = numbered_stream(seed, "charge of sample", sample);
    scale_charge(event.image, augmentation.charge, random);
  }
  if (augmentation.noise > 0) {
    RandomStream random = numbered_stream(seed, "noise of sample", sample);
    add_noise(event.image, augmentation.noise, random);
  }
  if (augmentation.dead_wires > 0) {
    RandomStream random = numbered_stream(seed, "dead wires of sample", sample);
    kill_wires(event, augmentation.dead_wires, random);
  }
}

class EventSampleReader final : public SampleReader {
 public:
  EventSampleReader(const EventSource& source, const EventSampleOptions& options,
                    ReadContent& content)
      : source_(source),
        content_(content),
        augmentation_(options.augmentation),
        reader_(source.reader()),
        dense_(source.meta(), options.dense),
        pixels_(source.meta(), options.dense) {}

  SampleFacts read(const SampleRequest& request, std::span<float> image,
                   std::span<std::uint8_t> label) override {
    return read_and([&] { dense_.convert(event_, {image, label}); }, request);
  }

  SampleFacts read_pixels(const SampleRequest& request, EventPixels& pixels) override {
    return read_and([&] { pixels_.convert(event_, pixels); }, request);
  }

 private:
  template <class Convert>
  SampleFacts read_and(const Convert& convert, const SampleRequest& request) {
    SampleFacts facts;
    Stopwatch watch;
    reader_->read(request.entry, event_);
    content_.add(request.entry, event_);
    facts.reading_seconds = watch.seconds();
    facts.pixels = pixels_of(event_);
    facts.id = event_.id;
    watch.restart();
    try {
      augment(event_, augmentation_, request.seed, request.number);
      convert();
    } catch (const DataError& error) {
      throw DataError("event " + std::to_string(request.entry) + " of " + source_.description() +
                      ": " + error.what());
    }
    facts.converting_seconds = watch.seconds();
    return facts;
  }

  const EventSource& source_;
  ReadContent& content_;
  Augmentation augmentation_;
  std::unique_ptr<EventReader> reader_;
  DenseConverter dense_;
  PixelConverter pixels_;
  SparseEvent event_;
};

}  // namespace

EventSamples::EventSamples(const EventSource& source, const EventSampleOptions& options)
    : source_(source),
      options_(options),
      shape_(dense_shape(source.meta(), options.dense.downsample)),
      content_(std::make_unique<ReadContent>(source)) {}

EventSamples::~EventSamples() = default;

void EventSamples::require_content() const {
  content_->require_any();
}

std::unique_ptr<SampleReader> EventSamples::reader() const {
  return std::make_unique<EventSampleReader>(source_, options_, *content_);
}

}  // namespace cosmic::data
