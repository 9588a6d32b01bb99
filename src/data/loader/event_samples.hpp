// Events as samples: the dense images of their planes with a label for every pixel. The loader of
// the training command does more (ranks, flips, its own epochs); this is for everything else.
#pragma once

#include "data/dense_image.hpp"
#include "data/event_source.hpp"
#include "data/sample_source.hpp"

namespace cosmic::data {

class EventSamples final : public SampleSource {
 public:
  /// The source outlives it.
  EventSamples(const EventSource& source, const DenseOptions& dense);

  std::int64_t size() const override { return source_.size(); }
  std::size_t image_elements() const override { return shape_.event_pixels(); }
  std::size_t label_elements() const override { return shape_.event_pixels(); }
  std::string description() const override { return source_.description(); }
  std::unique_ptr<SampleReader> reader() const override;

  const DenseShape& shape() const { return shape_; }

 private:
  const EventSource& source_;
  DenseOptions dense_;
  DenseShape shape_;
};

}  // namespace cosmic::data
