#include "data/loader/event_samples.hpp"

namespace cosmic::data {
namespace {

class EventSampleReader final : public SampleReader {
 public:
  EventSampleReader(const EventSource& source, const DenseOptions& dense)
      : reader_(source.reader()), converter_(source.meta(), dense) {}

  void read(std::int64_t sample, std::span<float> image, std::span<std::uint8_t> label) override {
    reader_->read(sample, event_);
    converter_.convert(event_, {image, label});
  }

 private:
  std::unique_ptr<EventReader> reader_;
  DenseConverter converter_;
  SparseEvent event_;
};

}  // namespace

EventSamples::EventSamples(const EventSource& source, const DenseOptions& dense)
    : source_(source), dense_(dense), shape_(dense_shape(source.meta(), dense.downsample)) {}

std::unique_ptr<SampleReader> EventSamples::reader() const {
  return std::make_unique<EventSampleReader>(source_, dense_);
}

}  // namespace cosmic::data
