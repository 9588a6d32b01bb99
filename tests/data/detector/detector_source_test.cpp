// The detector as a source of events for loaders: without an end, and the same however it is read.
#include "data/detector/detector_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/event_pixels.hpp"
#include "data/loader/batch_loader.hpp"
#include "data/loader/event_samples.hpp"
#include "data/put_in_place.hpp"

namespace cosmic::data::detector {
namespace {

using testing::HasSubstr;

TEST(DetectorSource, without_an_end_makes_the_events_of_a_set_that_has_one) {
  const DetectorSource endless(DetectorSource::kEndless, 3);
  const DetectorSource few(2, 3);
  EXPECT_TRUE(endless.is_endless());
  EXPECT_FALSE(few.is_endless());
  EXPECT_THAT(endless.description(), HasSubstr("seed 3, every event new"));
  SparseEvent a;
  SparseEvent b;
  endless.reader()->read(1, a);
  few.reader()->read(1, b);
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.image[2].ids, b.image[2].ids);
  EXPECT_EQ(a.image[2].values, b.image[2].values);
  EXPECT_EQ(a.labels[2].values, b.labels[2].values);
}

TEST(DetectorSource, is_known_by_its_seed) {
  const DetectorSource one(DetectorSource::kEndless, 1);
  EXPECT_EQ(one.fingerprint(), DetectorSource(DetectorSource::kEndless, 1).fingerprint());
  EXPECT_NE(one.fingerprint(), DetectorSource(DetectorSource::kEndless, 2).fingerprint());
}

TEST(DetectorSource, gives_pixels_that_are_the_dense_image_at_every_resolution) {
  const DetectorSource source(DetectorSource::kEndless, 4);
  SparseEvent event;
  source.reader()->read(0, event);
  EventPixels pixels;
  for (const int downsample : {0, 1, 2}) {
    const DenseOptions options{.downsample = downsample, .scale = ChargeScale::logarithmic};
    PixelConverter(source.meta(), options).convert(event, pixels);
    expect_same_image(pixels, event, options);
  }
}

std::vector<std::vector<float>> batches_of(const DetectorSource& source, int threads,
                                           const std::optional<OrderState>& state = {}) {
  const EventSamples samples(source, {.dense = {.downsample = 3}});
  LoaderOptions options;
  options.batch = 2;
  options.threads = threads;
  options.form = BatchForm::pixels;
  options.order = {.kind = OrderKind::serial_access};
  BatchLoader loader(samples, options, state);
  std::vector<std::vector<float>> batches;
  for (int batch = 0; batch < 3; ++batch) {
    const Batch& next = *loader.next();
    batches.emplace_back(next.image_pixels.values.begin(), next.image_pixels.values.end());
    EXPECT_EQ(next.epoch, 0) << "no epoch ever ends";
  }
  loader.finish();
  return batches;
}

TEST(DetectorSource, fills_the_same_batches_with_any_number_of_threads_and_from_any_event_on) {
  const DetectorSource source(DetectorSource::kEndless, 5);
  const std::vector<std::vector<float>> one = batches_of(source, 1);
  EXPECT_EQ(batches_of(source, 3), one);
  OrderState third{.order = "serial_access",
                   .entries = DetectorSource::kEndless,
                   .seed = 0,
                   .start_index = 0,
                   .next_sample = 2};
  EXPECT_EQ(batches_of(source, 2, third).front(), one[1]);
}

}  // namespace
}  // namespace cosmic::data::detector
