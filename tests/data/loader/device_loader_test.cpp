#include "data/loader/device_loader.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <numeric>
#include <set>

#include "core/error.hpp"
#include "data/loader/event_samples.hpp"
#include "data/sparse_events.hpp"

namespace cosmic::data {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Sample n is an image of two floats n and -n and the label n modulo 256. Counts its readers.
class NumberedSamples final : public SampleSource {
 public:
  explicit NumberedSamples(std::int64_t size) : size_(size) {}

  std::set<std::int64_t> broken;
  mutable std::atomic<int> readers{0};

  std::int64_t size() const override { return size_; }
  std::size_t image_elements() const override { return 2; }
  std::size_t label_elements() const override { return 1; }
  std::string description() const override { return "numbers"; }
  std::unique_ptr<SampleReader> reader() const override { return std::make_unique<Reader>(*this); }

 private:
  class Reader final : public SampleReader {
   public:
    explicit Reader(const NumberedSamples& source) : source_(source) { ++source_.readers; }
    ~Reader() override { --source_.readers; }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    void read(std::int64_t sample, std::span<float> image, std::span<std::uint8_t> label) override {
      COSMIC_REQUIRE(DataError, !source_.broken.contains(sample), "it is broken on purpose");
      image[0] = static_cast<float>(sample);
      image[1] = -static_cast<float>(sample);
      label[0] = static_cast<std::uint8_t>(sample);
    }

   private:
    const NumberedSamples& source_;
  };

  std::int64_t size_;
};

struct Copy {
  std::vector<float> images;
  std::vector<std::uint8_t> labels;
  std::vector<std::int64_t> samples;
  std::int64_t valid = 0;
  std::int64_t epoch = 0;

  friend bool operator==(const Copy&, const Copy&) = default;
};

Copy copy_of(const DeviceBatch& batch) {
  return {{batch.images.begin(), batch.images.end()},
          {batch.labels.begin(), batch.labels.end()},
          {batch.samples.begin(), batch.samples.end()},
          batch.valid,
          batch.epoch};
}

std::vector<Copy> take_epoch(DeviceLoader& loader) {
  std::vector<Copy> batches;
  while (const DeviceBatch* batch = loader.next()) {
    batches.push_back(copy_of(*batch));
  }
  return batches;
}

std::vector<std::int64_t> samples_of(const std::vector<Copy>& batches) {
  std::vector<std::int64_t> samples;
  for (const Copy& batch : batches) {
    samples.insert(samples.end(), batch.samples.begin(), batch.samples.end());
  }
  return samples;
}

class DeviceLoaderWith : public testing::TestWithParam<int> {
 protected:
  DeviceLoaderOptions options() const {
    return {.micro_batch = 2, .micro_batches = 3, .seed = 5, .threads = GetParam()};
  }
};

TEST_P(DeviceLoaderWith, gives_the_micro_batches_of_a_call_one_after_the_other) {
  const NumberedSamples source(13);
  DeviceLoaderOptions in_order = options();
  in_order.shuffle = Shuffle::no;
  DeviceLoader loader(source, in_order);
  EXPECT_EQ(loader.batches_per_epoch(), 2);
  const std::vector<Copy> epoch = take_epoch(loader);
  ASSERT_EQ(epoch.size(), 2U);
  EXPECT_THAT(epoch[0].samples, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(epoch[1].samples, ElementsAre(6, 7, 8, 9, 10, 11));
  EXPECT_THAT(epoch[1].images, ElementsAre(6, -6, 7, -7, 8, -8, 9, -9, 10, -10, 11, -11));
  EXPECT_THAT(epoch[1].labels, ElementsAre(6, 7, 8, 9, 10, 11));
  EXPECT_EQ(epoch[1].valid, 6);
}

TEST_P(DeviceLoaderWith, begins_the_next_epoch_after_the_end_of_one) {
  const NumberedSamples source(13);
  DeviceLoader loader(source, options());
  const std::vector<Copy> first = take_epoch(loader);
  const std::vector<Copy> second = take_epoch(loader);
  EXPECT_EQ(first.size(), second.size());
  EXPECT_NE(samples_of(first), samples_of(second));
  EXPECT_EQ(first.front().epoch, 0);
  EXPECT_EQ(second.front().epoch, 1);
  for (const std::vector<Copy>* epoch : {&first, &second}) {
    const std::vector<std::int64_t> samples = samples_of(*epoch);
    EXPECT_EQ(std::set<std::int64_t>(samples.begin(), samples.end()).size(), samples.size());
  }
}

TEST_P(DeviceLoaderWith, gives_the_same_bits_as_one_without_threads) {
  const NumberedSamples source(40);
  DeviceLoaderOptions alone = options();
  alone.threads = 0;
  DeviceLoader expected(source, alone);
  DeviceLoader loader(source, options());
  for (int epoch = 0; epoch < 3; ++epoch) {
    EXPECT_EQ(take_epoch(loader), take_epoch(expected));
  }
  DeviceLoaderOptions other = options();
  other.seed = 6;
  DeviceLoader differs(source, other);
  EXPECT_NE(samples_of(take_epoch(differs)), samples_of(take_epoch(loader)));
}

TEST_P(DeviceLoaderWith, pads_the_rest_of_an_epoch_where_it_is_asked_to) {
  const NumberedSamples source(8);
  DeviceLoaderOptions padded = options();
  padded.rest = Rest::pad;
  padded.shuffle = Shuffle::no;
  DeviceLoader loader(source, padded);
  for (int epoch = 0; epoch < 2; ++epoch) {
    const std::vector<Copy> batches = take_epoch(loader);
    ASSERT_EQ(batches.size(), 2U);
    EXPECT_EQ(batches[0].valid, 6);
    EXPECT_EQ(batches[1].valid, 2);
    EXPECT_THAT(batches[1].samples, ElementsAre(6, 7, kNoEntry, kNoEntry, kNoEntry, kNoEntry));
    EXPECT_THAT(std::span(batches[1].images).subspan(4), Each(0));
    EXPECT_THAT(std::span(batches[1].labels).subspan(2), Each(0));
  }
}

TEST_P(DeviceLoaderWith, hands_on_what_a_worker_threw_and_goes_on_after_it) {
  NumberedSamples source(24);
  source.broken = {9, 7};
  DeviceLoaderOptions in_order = options();
  in_order.shuffle = Shuffle::no;
  DeviceLoader loader(source, in_order);
  EXPECT_THAT(loader.next()->samples, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT([&] { loader.next(); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("sample 7 of numbers"), HasSubstr("broken on purpose"))));
  EXPECT_THAT(loader.next()->samples, ElementsAre(12, 13, 14, 15, 16, 17));
}

TEST_P(DeviceLoaderWith, can_be_destroyed_at_any_time) {
  NumberedSamples source(1000);
  for (int taken = 0; taken < 8; ++taken) {
    DeviceLoader loader(source, options());
    for (int i = 0; i < taken; ++i) {
      loader.next();
    }
  }
  source.broken = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  { const DeviceLoader with_errors_pending(source, options()); }
  EXPECT_EQ(source.readers, 0);
}

TEST_P(DeviceLoaderWith, reads_events_as_dense_images) {
  const MemorySource events(grid_of(16, 24), 7);
  const EventSamples samples(events, {.downsample = 1});
  EXPECT_EQ(samples.shape(), (DenseShape{8, 12}));
  DeviceLoader loader(samples, options());
  DenseConverter converter(events.meta(), {.downsample = 1});
  const DeviceBatch* batch = loader.next();
  ASSERT_NE(batch, nullptr);
  const std::size_t pixels = samples.image_elements();
  std::vector<float> image(pixels);
  std::vector<std::uint8_t> label(pixels);
  for (std::size_t i = 0; i < batch->samples.size(); ++i) {
    converter.convert(events.event(batch->samples[i]), {image, label});
    EXPECT_THAT(batch->images.subspan(i * pixels, pixels), testing::ElementsAreArray(image));
    EXPECT_THAT(batch->labels.subspan(i * pixels, pixels), testing::ElementsAreArray(label));
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, DeviceLoaderWith, testing::Values(0, 1, 3),
                         testing::PrintToStringParamName());

TEST(DeviceLoader, refuses_options_that_no_batch_can_be_made_of) {
  const NumberedSamples source(10);
  const auto with = [&](DeviceLoaderOptions options) {
    return [&source, options] { const DeviceLoader loader(source, options); };
  };
  EXPECT_THAT(with({.micro_batch = 4, .micro_batches = 4}),
              ThrowsMessage<UserError>(AllOf(HasSubstr("16 samples"), HasSubstr("has 10"))));
  EXPECT_THAT(with({.micro_batch = 0}), ThrowsMessage<UserError>(HasSubstr("at least 1")));
  EXPECT_THAT(with({.threads = -1}), ThrowsMessage<UserError>(HasSubstr("-1 threads")));
  EXPECT_THAT(with({.ring = 1}), ThrowsMessage<UserError>(HasSubstr("a ring of 1")));
  const NumberedSamples empty(0);
  EXPECT_THROW(DeviceLoader(empty, {.rest = Rest::pad}), DataError);
}

}  // namespace
}  // namespace cosmic::data
