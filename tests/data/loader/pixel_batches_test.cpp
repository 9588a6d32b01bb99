// Batches of pixels: what images would hold, in memory that somebody else makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "core/error.hpp"
#include "data/loader/batch_loader.hpp"
#include "data/loader/event_samples.hpp"
#include "data/sparse_events.hpp"

namespace cosmic::data {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

template <class Value>
std::vector<Value> image_of(const BatchPixels<Value>& pixels, std::size_t sample_size) {
  const std::size_t samples = pixels.first.size() - 1;
  std::vector<Value> image(samples * sample_size);
  EXPECT_EQ(pixels.first.front(), 0);
  EXPECT_EQ(pixels.first.back(), static_cast<std::int64_t>(pixels.places.size()));
  for (std::size_t sample = 0; sample < samples; ++sample) {
    for (std::int64_t i = pixels.first[sample]; i < pixels.first[sample + 1]; ++i) {
      const auto at = static_cast<std::size_t>(i);
      image.at(sample * sample_size + static_cast<std::size_t>(pixels.places[at])) =
          pixels.values[at];
    }
  }
  return image;
}

LoaderOptions options_for(int threads, BatchForm form) {
  LoaderOptions options;
  options.batch = 4;
  options.micro_batches = 2;
  options.order = {.kind = OrderKind::shuffled, .seed = 5};
  options.threads = threads;
  options.form = form;
  return options;
}

class PixelBatches : public testing::TestWithParam<int> {};

TEST_P(PixelBatches, hold_what_images_hold_of_the_same_samples) {
  const MemorySource source(grid_of(16, 24), 7, 0.02);
  for (const int downsample : {0, 1, 2}) {
    const EventSamples samples(
        source, {.dense = {.downsample = downsample}, .augmentation = {.flips = true}});
    BatchLoader images(samples, options_for(GetParam(), BatchForm::images));
    BatchLoader pixels(samples, options_for(GetParam(), BatchForm::pixels));
    for (int batch = 0; batch < 6; ++batch) {
      const Batch& expected = *images.next();
      const Batch& sparse = *pixels.next();
      ASSERT_EQ(sparse.form(), BatchForm::pixels);
      ASSERT_EQ(expected.form(), BatchForm::images);
      ASSERT_TRUE(sparse.images.empty());
      const std::size_t size = samples.image_elements();
      ASSERT_EQ(image_of(sparse.image_pixels, size),
                std::vector<float>(expected.images.begin(), expected.images.end()));
      ASSERT_EQ(image_of(sparse.label_pixels, size),
                std::vector<std::uint8_t>(expected.labels.begin(), expected.labels.end()));
      ASSERT_TRUE(std::equal(sparse.entries.begin(), sparse.entries.end(), expected.entries.begin(),
                             expected.entries.end()));
      ASSERT_LT(sparse.bytes(), expected.bytes());
    }
  }
}

TEST_P(PixelBatches, have_no_pixel_in_the_padding_of_a_short_batch) {
  const MemorySource source(grid_of(16, 24), 5, 0.2);
  const EventSamples samples(source, {});
  LoaderOptions options = options_for(GetParam(), BatchForm::pixels);
  options.micro_batches = 1;
  options.order = {.kind = OrderKind::serial_access, .passes = Passes::one};
  BatchLoader loader(samples, options);
  loader.next();
  const Batch& last = *loader.next();
  ASSERT_EQ(last.valid, 1);
  EXPECT_GT(last.image_pixels.first[1], 0);
  EXPECT_EQ(last.image_pixels.first[1], last.image_pixels.first[4]);
  EXPECT_EQ(loader.next(), nullptr);
}

TEST_P(PixelBatches, lie_in_memory_that_was_asked_for_a_few_times_in_the_beginning) {
  const MemorySource source(grid_of(16, 24), 7, 0.2);
  const EventSamples samples(source, {});
  std::atomic<int> asked = 0;
  LoaderOptions options = options_for(GetParam(), BatchForm::pixels);
  options.memory = [&](std::size_t bytes) {
    ++asked;
    return BatchMemory{
        std::shared_ptr<std::byte>(new std::byte[bytes], std::default_delete<std::byte[]>()), true};
  };
  BatchLoader loader(samples, options);
  EXPECT_TRUE(loader.next()->pinned);
  for (int batch = 0; batch < 30; ++batch) {
    loader.next();
  }
  EXPECT_LE(asked, 2 * options.ring) << "once for each batch of the ring, rarely again";
}

TEST_P(PixelBatches, stay_as_they_are_for_as_many_calls_as_were_asked_for) {
  const MemorySource source(grid_of(16, 24), 7, 0.2);
  const EventSamples samples(source, {});
  for (const BatchForm form : {BatchForm::pixels, BatchForm::images}) {
    LoaderOptions options = options_for(GetParam(), form);
    options.in_use = 3;
    BatchLoader loader(samples, options);
    options.in_use = 1;
    BatchLoader same(samples, options);
    std::vector<const Batch*> held;
    std::vector<std::vector<std::int64_t>> entries;
    std::vector<std::vector<float>> values;
    for (int batch = 0; batch < 9; ++batch) {
      held.push_back(loader.next());
      const Batch& again = *same.next();
      entries.emplace_back(again.entries.begin(), again.entries.end());
      const std::span<const float> floats =
          form == BatchForm::pixels ? again.image_pixels.values : again.images;
      values.emplace_back(floats.begin(), floats.end());
      for (std::size_t i = held.size() - std::min<std::size_t>(held.size(), 3); i < held.size();
           ++i) {
        const std::span<const float> now =
            form == BatchForm::pixels ? held[i]->image_pixels.values : held[i]->images;
        ASSERT_TRUE(std::equal(now.begin(), now.end(), values[i].begin(), values[i].end()));
        ASSERT_TRUE(std::equal(held[i]->entries.begin(), held[i]->entries.end(), entries[i].begin(),
                               entries[i].end()));
      }
    }
    EXPECT_EQ(to_text(loader.state()), to_text(same.state()));
  }
}

TEST_P(PixelBatches, of_a_broken_event_are_lost_and_the_next_are_not) {
  MemorySource source(grid_of(16, 24), 7, 0.2);
  source.broken_entry = 2;
  const EventSamples samples(source, {});
  LoaderOptions options = options_for(GetParam(), BatchForm::pixels);
  options.micro_batches = 1;
  options.order = {.kind = OrderKind::serial_access};
  BatchLoader loader(samples, options);
  EXPECT_THAT([&] { loader.next(); }, ThrowsMessage<DataError>(HasSubstr("broken on purpose")));
  const Batch& next = *loader.next();
  EXPECT_EQ(next.entries.front(), 4);
  EXPECT_GT(next.image_pixels.places.size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Threads, PixelBatches, testing::Values(0, 1, 3),
                         testing::PrintToStringParamName());

/// Has images only.
class DenseSource final : public SampleSource {
 public:
  std::int64_t size() const override { return 8; }
  std::size_t image_elements() const override { return 1; }
  std::size_t label_elements() const override { return 1; }
  std::string description() const override { return "images alone"; }
  std::unique_ptr<SampleReader> reader() const override { return nullptr; }
};

TEST(PixelBatchesOfDenseSamples, are_refused) {
  const DenseSource source;
  EXPECT_THAT(([&] { BatchLoader(source, options_for(1, BatchForm::pixels)); }),
              ThrowsMessage<InternalError>(HasSubstr("images alone, which has none")));
}

}  // namespace
}  // namespace cosmic::data
