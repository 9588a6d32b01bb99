// Events as samples: the dense images of their planes with a label for every pixel.
#pragma once

#include "data/augment.hpp"
#include "data/dense_image.hpp"
#include "data/event_source.hpp"
#include "data/loader/read_content.hpp"
#include "data/sample_source.hpp"

namespace cosmic::data {

struct EventSampleOptions {
  DenseOptions dense = {};
  Augmentation augmentation = {};
};

class EventSamples final : public SampleSource {
 public:
  /// The source outlives it.
  EventSamples(const EventSource& source, const EventSampleOptions& options);
  ~EventSamples() override;
  EventSamples(const EventSamples&) = delete;
  EventSamples& operator=(const EventSamples&) = delete;

  std::int64_t size() const override { return source_.size(); }
  std::size_t image_elements() const override { return shape_.event_pixels(); }
  std::size_t label_elements() const override { return shape_.event_pixels(); }
  bool has_pixels() const override { return true; }
  std::string description() const override { return source_.description(); }
  std::vector<ReadNote> notes() const override { return source_.notes(); }
  std::uint64_t note_count() const override { return source_.note_count(); }
  void require_content() const override;
  /// Its readers throw DataError at the last event of a file (or another part of the source) of
  /// which they read all events, and none had a pixel, or none of the pixels had a label.
  std::unique_ptr<SampleReader> reader() const override;

  const DenseShape& shape() const { return shape_; }

 private:
  const EventSource& source_;
  EventSampleOptions options_;
  DenseShape shape_;
  std::unique_ptr<ReadContent> content_;
};

}  // namespace cosmic::data
