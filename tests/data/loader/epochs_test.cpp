// A loader that goes epoch by epoch and fills calls of several batches, for data sets of any kind.

#include <gmock/gmock.h>

#include <atomic>
#include <numeric>
#include <set>

#include "core/error.hpp"
#include "data/loader/batch_loader.hpp"
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
    SampleFacts read(const SampleRequest& request, std::span<float> image,
                     std::span<std::uint8_t> label) override {
      const std::int64_t sample = request.entry;
      COSMIC_REQUIRE(DataError, !source_.broken.contains(sample),
                     "sample " << sample << " is broken on purpose");
      image[0] = static_cast<float>(sample);
      image[1] = -static_cast<float>(sample);
      label[0] = static_cast<std::uint8_t>(sample);
      return {};
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

Copy copy_of(const Batch& batch) {
  return {{batch.images.begin(), batch.images.end()},
          {batch.labels.begin(), batch.labels.end()},
          {batch.entries.begin(), batch.entries.end()},
          batch.valid,
          batch.epoch};
}

std::vector<Copy> take_epoch(BatchLoader& loader) {
  std::vector<Copy> batches;
  while (const Batch* batch = loader.next()) {
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

class EpochsWith : public testing::TestWithParam<int> {
 protected:
  LoaderOptions options() const {
    return {.batch = 2,
            .micro_batches = 3,
            .order = {.kind = OrderKind::shuffled, .passes = Passes::epochs, .seed = 5},
            .threads = GetParam(),
            .ring = 3};
  }
};

TEST_P(EpochsWith, gives_the_micro_batches_of_a_call_one_after_the_other) {
  const NumberedSamples source(13);
  LoaderOptions in_order = options();
  in_order.order.kind = OrderKind::serial_access;
  BatchLoader loader(source, in_order);
  EXPECT_EQ(loader.batches_per_epoch(), 2);
  const std::vector<Copy> epoch = take_epoch(loader);
  ASSERT_EQ(epoch.size(), 2U);
  EXPECT_THAT(epoch[0].samples, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(epoch[1].samples, ElementsAre(6, 7, 8, 9, 10, 11));
  EXPECT_THAT(epoch[1].images, ElementsAre(6, -6, 7, -7, 8, -8, 9, -9, 10, -10, 11, -11));
  EXPECT_THAT(epoch[1].labels, ElementsAre(6, 7, 8, 9, 10, 11));
  EXPECT_EQ(epoch[1].valid, 6);
}

TEST_P(EpochsWith, begins_the_next_epoch_after_the_end_of_one) {
  const NumberedSamples source(13);
  BatchLoader loader(source, options());
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

TEST_P(EpochsWith, gives_the_same_bits_as_one_without_threads) {
  const NumberedSamples source(40);
  LoaderOptions alone = options();
  alone.threads = 0;
  BatchLoader expected(source, alone);
  BatchLoader loader(source, options());
  for (int epoch = 0; epoch < 3; ++epoch) {
    EXPECT_EQ(take_epoch(loader), take_epoch(expected));
  }
  LoaderOptions other = options();
  other.order.seed = 6;
  BatchLoader differs(source, other);
  EXPECT_NE(samples_of(take_epoch(differs)), samples_of(take_epoch(loader)));
}

TEST_P(EpochsWith, pads_the_rest_of_an_epoch_where_it_is_asked_to) {
  const NumberedSamples source(8);
  LoaderOptions padded = options();
  padded.order.kind = OrderKind::serial_access;
  padded.order.passes = Passes::padded_epochs;
  BatchLoader loader(source, padded);
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

TEST_P(EpochsWith, hands_on_what_a_worker_threw_and_goes_on_after_it) {
  NumberedSamples source(24);
  source.broken = {9, 7};
  LoaderOptions in_order = options();
  in_order.order.kind = OrderKind::serial_access;
  BatchLoader loader(source, in_order);
  EXPECT_THAT(loader.next()->entries, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT([&] { loader.next(); },
              ThrowsMessage<DataError>(HasSubstr("sample 7 is broken on purpose")));
  EXPECT_THAT(loader.next()->entries, ElementsAre(12, 13, 14, 15, 16, 17));
}

TEST_P(EpochsWith, can_be_destroyed_at_any_time) {
  NumberedSamples source(1000);
  for (int taken = 0; taken < 8; ++taken) {
    BatchLoader loader(source, options());
    for (int i = 0; i < taken; ++i) {
      loader.next();
    }
  }
  source.broken = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  { const BatchLoader with_errors_pending(source, options()); }
  EXPECT_EQ(source.readers, 0);
}

TEST_P(EpochsWith, reads_events_as_dense_images) {
  const MemorySource events(grid_of(16, 24), 7);
  const EventSamples samples(events, {.dense = {.downsample = 1}});
  EXPECT_EQ(samples.shape(), (DenseShape{8, 12}));
  BatchLoader loader(samples, options());
  DenseConverter converter(events.meta(), {.downsample = 1});
  const Batch* batch = loader.next();
  ASSERT_NE(batch, nullptr);
  const std::size_t pixels = samples.image_elements();
  std::vector<float> image(pixels);
  std::vector<std::uint8_t> label(pixels);
  for (std::size_t i = 0; i < batch->entries.size(); ++i) {
    converter.convert(events.event(batch->entries[i]), {image, label});
    EXPECT_THAT(batch->images.subspan(i * pixels, pixels), testing::ElementsAreArray(image));
    EXPECT_THAT(batch->labels.subspan(i * pixels, pixels), testing::ElementsAreArray(label));
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, EpochsWith, testing::Values(0, 1, 3),
                         testing::PrintToStringParamName());

TEST_P(EpochsWith, goes_on_from_a_saved_state_in_any_epoch) {
  const NumberedSamples source(13);
  for (const Passes passes : {Passes::epochs, Passes::padded_epochs}) {
    LoaderOptions with_passes = options();
    with_passes.order.passes = passes;
    BatchLoader whole(source, with_passes);
    std::vector<Copy> expected;
    std::vector<OrderState> states;
    for (int epoch = 0; epoch < 3; ++epoch) {
      while (const Batch* batch = whole.next()) {
        expected.push_back(copy_of(*batch));
        states.push_back(whole.state());
      }
    }
    for (std::size_t stop = 0; stop + 1 < states.size(); ++stop) {
      BatchLoader resumed(source, with_passes, states[stop]);
      EXPECT_EQ(copy_of(*resumed.next()), expected[stop + 1]) << "after batch " << stop;
    }
  }
}

TEST_P(EpochsWith, says_the_end_of_an_epoch_whose_last_batch_was_lost) {
  NumberedSamples source(12);
  source.broken = {8};
  LoaderOptions in_order = options();
  in_order.order.kind = OrderKind::serial_access;
  BatchLoader loader(source, in_order);
  ASSERT_NE(loader.next(), nullptr);
  EXPECT_THROW(loader.next(), DataError);
  EXPECT_EQ(loader.next(), nullptr);
  EXPECT_EQ(loader.next()->epoch, 1);
}

TEST_P(EpochsWith, gives_each_rank_its_part_of_every_micro_batch) {
  const NumberedSamples source(7);
  for (int rank = 0; rank < 2; ++rank) {
    LoaderOptions part = options();
    part.batch = 4;
    part.micro_batches = 2;
    part.order = {.kind = OrderKind::serial_access, .passes = Passes::padded_epochs};
    part.partition = {.rank = rank, .ranks = 2};
    BatchLoader loader(source, part);
    const Copy batch = copy_of(*loader.next());
    if (rank == 0) {
      EXPECT_THAT(batch.samples, ElementsAre(0, 1, 4, 5));
    } else {
      EXPECT_THAT(batch.samples, ElementsAre(2, 3, 6, kNoEntry));
    }
    EXPECT_EQ(batch.valid, rank == 0 ? 4 : 3);
  }
}

TEST_P(EpochsWith, reads_no_sample_of_another_rank) {
  NumberedSamples source(8);
  source.broken = {2, 3, 6, 7};  // of the other
  LoaderOptions part = options();
  part.batch = 4;
  part.micro_batches = 2;
  part.order = {.kind = OrderKind::serial_access, .passes = Passes::padded_epochs};
  part.partition = {.rank = 0, .ranks = 2};
  BatchLoader loader(source, part);
  EXPECT_THAT(copy_of(*loader.next()).samples, ElementsAre(0, 1, 4, 5));
  EXPECT_EQ(loader.next(), nullptr);
  EXPECT_THAT(copy_of(*loader.next()).samples, ElementsAre(0, 1, 4, 5));
}

TEST(Epochs, have_the_order_that_they_always_had) {
  const NumberedSamples source(13);
  BatchLoader loader(
      source,
      {.batch = 6, .order = {.kind = OrderKind::shuffled, .passes = Passes::epochs, .seed = 5}});
  EXPECT_THAT(samples_of(take_epoch(loader)), ElementsAre(12, 11, 5, 7, 9, 10, 3, 1, 2, 8, 6, 0));
  EXPECT_THAT(samples_of(take_epoch(loader)), ElementsAre(2, 9, 0, 3, 11, 6, 1, 5, 12, 8, 7, 10));
}

TEST(Epochs, refuse_options_that_no_batch_can_be_made_of) {
  const NumberedSamples source(10);
  const auto refused = [&](const auto& change) {
    LoaderOptions options;
    options.order = {.kind = OrderKind::shuffled, .passes = Passes::epochs};
    change(options);
    return [&source, options] { const BatchLoader loader(source, options); };
  };
  EXPECT_THAT(refused([](LoaderOptions& o) { o.batch = o.micro_batches = 4; }),
              ThrowsMessage<UserError>(AllOf(HasSubstr("16 samples"), HasSubstr("at most 10"))));
  EXPECT_THAT(refused([](LoaderOptions& o) { o.micro_batches = 0; }),
              ThrowsMessage<UserError>(HasSubstr("0 batches of 1 samples holds nothing")));
  EXPECT_THAT(refused([](LoaderOptions& o) { o.order.kind = OrderKind::random_blocks; }),
              ThrowsMessage<UserError>(HasSubstr("draws with replacement")));
  const NumberedSamples empty(0);
  EXPECT_THROW(
      BatchLoader(empty, {.order = {.kind = OrderKind::shuffled, .passes = Passes::padded_epochs}}),
      DataError);
}

}  // namespace
}  // namespace cosmic::data
