#include "data/loader/batch_loader.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <optional>
#include <thread>

#include "core/error.hpp"
#include "data/augment.hpp"
#include "data/loader/event_samples.hpp"
#include "data/loader/numbered_stream.hpp"
#include "data/sparse_events.hpp"

namespace cosmic::data {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

const ImageMeta small_grid = grid_of(16, 24);

/// A batch that stays after the loader has moved on.
struct Copy {
  std::vector<float> images;
  std::vector<std::uint8_t> labels;
  std::vector<std::int64_t> entries;
  std::vector<EventId> ids;
  std::int64_t valid = 0;
  std::int64_t first_sample = 0;
  std::int64_t epoch = 0;

  friend bool operator==(const Copy&, const Copy&) = default;
};

Copy copy_of(const Batch& batch) {
  return {{batch.images.begin(), batch.images.end()},
          {batch.labels.begin(), batch.labels.end()},
          {batch.entries.begin(), batch.entries.end()},
          {batch.ids.begin(), batch.ids.end()},
          batch.valid,
          batch.first_sample,
          batch.epoch};
}

/// So many batches, or all until the end.
std::vector<Copy> take(BatchLoader& loader, std::size_t count) {
  std::vector<Copy> batches;
  while (batches.size() < count) {
    const Batch* batch = loader.next();
    if (batch == nullptr) {
      break;
    }
    batches.push_back(copy_of(*batch));
  }
  return batches;
}

std::vector<std::int64_t> entries_of(const std::vector<Copy>& batches) {
  std::vector<std::int64_t> entries;
  for (const Copy& batch : batches) {
    entries.insert(entries.end(), batch.entries.begin(), batch.entries.end());
  }
  return entries;
}

LoaderOptions training_options(OrderKind kind, int threads = 1) {
  LoaderOptions options;
  options.batch = 4;
  options.order = {.kind = kind, .seed = 11};
  options.threads = threads;
  return options;
}

EventSamples training_samples(const EventSource& source) {
  return {source, {.dense = {.downsample = 1}, .augmentation = {.flips = true}}};
}

LoaderOptions inference_options(std::int64_t batch, int threads = 1) {
  LoaderOptions options;
  options.batch = batch;
  options.order = {.kind = OrderKind::serial_access, .passes = Passes::one};
  options.threads = threads;
  return options;
}

class LoaderOfAnyOrder : public testing::TestWithParam<OrderKind> {};

TEST_P(LoaderOfAnyOrder, gives_the_same_bits_for_any_number_of_threads_and_any_ring) {
  const MemorySource source(small_grid, 9);
  const EventSamples samples = training_samples(source);
  BatchLoader plain(samples, training_options(GetParam(), 0));
  const std::vector<Copy> expected = take(plain, 12);
  ASSERT_EQ(expected.size(), 12U);
  for (const int threads : {1, 2, 5}) {
    for (const int ring : {2, 3, 7}) {
      LoaderOptions options = training_options(GetParam(), threads);
      options.ring = ring;
      BatchLoader loader(samples, options);
      ASSERT_EQ(take(loader, 12), expected) << threads << " threads, ring of " << ring;
    }
  }
}

TEST_P(LoaderOfAnyOrder, goes_on_from_a_saved_state_in_the_middle_of_an_epoch) {
  const MemorySource source(small_grid, 9);
  const EventSamples samples = training_samples(source);
  BatchLoader whole(samples, training_options(GetParam(), 0));
  const std::vector<Copy> expected = take(whole, 10);
  for (const std::size_t stop : {0U, 1U, 4U}) {
    std::string saved;
    {
      BatchLoader stopped(samples, training_options(GetParam(), 2));
      take(stopped, stop);
      saved = to_text(stopped.state());
    }
    BatchLoader resumed(samples, training_options(GetParam(), 2), order_state_from_text(saved));
    const std::vector<Copy> rest = take(resumed, 10 - stop);
    ASSERT_EQ(rest,
              std::vector(expected.begin() + static_cast<std::ptrdiff_t>(stop), expected.end()));
  }
}

TEST_P(LoaderOfAnyOrder, ranks_together_give_the_batches_of_one) {
  const MemorySource source(small_grid, 9);
  const EventSamples samples = training_samples(source);
  BatchLoader alone(samples, training_options(GetParam()));
  for (const int ranks : {2, 4}) {
    std::vector<std::unique_ptr<BatchLoader>> loaders;
    for (int rank = 0; rank < ranks; ++rank) {
      LoaderOptions options = training_options(GetParam());
      options.partition = {.rank = rank, .ranks = ranks};
      loaders.push_back(std::make_unique<BatchLoader>(samples, options, alone.state()));
    }
    for (int step = 0; step < 5; ++step) {
      Copy joined;
      for (const auto& loader : loaders) {
        const Copy part = copy_of(*loader->next());
        ASSERT_EQ(part.entries.size(), static_cast<std::size_t>(4 / ranks));
        joined.images.insert(joined.images.end(), part.images.begin(), part.images.end());
        joined.labels.insert(joined.labels.end(), part.labels.begin(), part.labels.end());
        joined.entries.insert(joined.entries.end(), part.entries.begin(), part.entries.end());
        joined.ids.insert(joined.ids.end(), part.ids.begin(), part.ids.end());
        joined.valid += part.valid;
        joined.first_sample = part.first_sample;
        joined.epoch = part.epoch;
      }
      ASSERT_EQ(joined, copy_of(*alone.next()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, LoaderOfAnyOrder,
                         testing::Values(OrderKind::random_blocks, OrderKind::serial_access,
                                         OrderKind::shuffled),
                         [](const auto& test) { return std::string(to_string(test.param)); });

TEST(BatchLoader, holds_the_dense_images_of_the_entries_it_names) {
  const MemorySource source(small_grid, 7);
  const EventSamples samples = training_samples(source);
  LoaderOptions options = training_options(OrderKind::shuffled, 2);
  BatchLoader loader(samples, options);
  DenseConverter converter(small_grid, {.downsample = 1});
  EXPECT_EQ(samples.shape(), converter.shape());
  const std::size_t pixels = converter.shape().event_pixels();
  std::vector<float> charge(pixels);
  std::vector<std::uint8_t> label(pixels);
  const DenseImage dense{charge, label};
  for (int step = 0; step < 5; ++step) {
    const Batch& batch = *loader.next();
    ASSERT_EQ(batch.images.size(), 4 * pixels);
    ASSERT_EQ(batch.labels.size(), 4 * pixels);
    for (std::size_t event = 0; event < 4; ++event) {
      SparseEvent stored = source.event(batch.entries[event]);
      ASSERT_EQ(batch.ids[event], stored.id);
      RandomStream random = numbered_stream(11, "flips of sample",
                                            batch.first_sample + static_cast<std::int64_t>(event));
      flip(stored, random_flips(random));
      converter.convert(stored, dense);
      ASSERT_TRUE(std::equal(charge.begin(), charge.end(),
                             batch.images.begin() + static_cast<std::ptrdiff_t>(event * pixels)));
      ASSERT_TRUE(std::equal(label.begin(), label.end(),
                             batch.labels.begin() + static_cast<std::ptrdiff_t>(event * pixels)));
    }
  }
}

TEST(BatchLoader, one_pass_uses_each_entry_once_and_pads_with_empty_images) {
  const MemorySource source(small_grid, 7);
  const EventSamples samples(source, {});
  for (const int threads : {0, 2}) {
    BatchLoader loader(samples, inference_options(3, threads));
    const std::vector<Copy> batches = take(loader, 100);
    EXPECT_THAT(entries_of(batches), ElementsAre(0, 1, 2, 3, 4, 5, 6, kNoEntry, kNoEntry));
    ASSERT_EQ(batches.size(), 3U);
    EXPECT_EQ(batches[1].valid, 3);
    EXPECT_EQ(batches[2].valid, 1);
    const auto padding =
        batches[2].images.begin() + static_cast<std::ptrdiff_t>(batches[2].images.size() / 3);
    EXPECT_THAT(std::vector(padding, batches[2].images.end()), Each(0.0F));
    EXPECT_EQ(batches[2].ids[1], EventId{});
    EXPECT_EQ(loader.next(), nullptr);
    EXPECT_EQ(loader.next(), nullptr);
  }
}

TEST(BatchLoader, a_rank_beyond_the_last_entry_gets_a_batch_of_padding) {
  const MemorySource source(small_grid, 5);
  const EventSamples samples(source, {});
  LoaderOptions options = inference_options(4);
  options.partition = {.rank = 1, .ranks = 2};
  BatchLoader loader(samples, options);
  const std::vector<Copy> batches = take(loader, 100);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_THAT(entries_of(batches), ElementsAre(2, 3, kNoEntry, kNoEntry));
  EXPECT_EQ(batches[1].valid, 0);
}

TEST(BatchLoader, one_pass_smaller_than_a_batch_is_one_short_batch) {
  const MemorySource source(small_grid, 2);
  const EventSamples samples(source, {});
  BatchLoader loader(samples, inference_options(5));
  const std::vector<Copy> batches = take(loader, 100);
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].valid, 2);
}

TEST(BatchLoader, one_pass_resumed_after_its_last_batch_has_none_left) {
  const MemorySource source(small_grid, 5);
  const EventSamples samples(source, {});
  BatchLoader loader(samples, inference_options(2));
  take(loader, 100);
  BatchLoader resumed(samples, inference_options(2), loader.state());
  EXPECT_EQ(resumed.next(), nullptr);
}

TEST(BatchLoader, training_set_smaller_than_a_batch_wraps_with_a_remark) {
  const MemorySource source(small_grid, 3);
  const EventSamples samples = training_samples(source);
  LoaderOptions options = training_options(OrderKind::serial_access);
  options.batch = 5;
  BatchLoader loader(samples, options);
  EXPECT_THAT(entries_of(take(loader, 2)), ElementsAre(0, 1, 2, 0, 1, 2, 0, 1, 2, 0));
  EXPECT_THAT(loader.remark(), HasSubstr("more than once"));
}

TEST(BatchLoader, counts_epochs_and_samples) {
  const MemorySource source(small_grid, 6);
  const EventSamples samples = training_samples(source);
  BatchLoader loader(samples, training_options(OrderKind::shuffled));
  const std::vector<Copy> batches = take(loader, 4);
  EXPECT_EQ(loader.epoch_size(), 6);
  EXPECT_EQ(batches[1].first_sample, 4);
  EXPECT_EQ(batches[1].epoch, 0);
  EXPECT_EQ(batches[2].epoch, 1);
  EXPECT_EQ(batches[3].epoch, 2);
}

TEST(BatchLoader, a_handed_out_batch_stays_as_it_is_while_others_are_read) {
  const MemorySource source(small_grid, 9);
  const EventSamples samples = training_samples(source);
  BatchLoader loader(samples, training_options(OrderKind::shuffled, 3));
  const Batch& batch = *loader.next();
  const Copy before = copy_of(batch);
  // Until the other slot of the ring is full, too.
  while (loader.times().events < std::int64_t{2} * 4) {
    std::this_thread::yield();
  }
  EXPECT_EQ(copy_of(batch), before);
}

/// Counts the reads that began while more of them were under way or done than allowed.
class CountingSource final : public EventSource {
 public:
  explicit CountingSource(const EventSource& source) : source_(source) {}

  std::atomic<std::int64_t> allowed = 0;
  mutable std::atomic<std::int64_t> reads = 0;
  mutable std::atomic<std::int64_t> reads_too_many = 0;

  std::int64_t size() const override { return source_.size(); }
  ImageMeta meta() const override { return source_.meta(); }
  bool labelled() const override { return source_.labelled(); }
  std::string description() const override { return source_.description(); }
  std::unique_ptr<EventReader> reader() const override { return std::make_unique<Reader>(*this); }

 private:
  class Reader final : public EventReader {
   public:
    explicit Reader(const CountingSource& source)
        : source_(source), reader_(source.source_.reader()) {}
    void read(std::int64_t entry, SparseEvent& event) override {
      source_.reads_too_many += ++source_.reads > source_.allowed ? 1 : 0;
      reader_->read(entry, event);
    }

   private:
    const CountingSource& source_;
    std::unique_ptr<EventReader> reader_;
  };

  const EventSource& source_;
};

TEST(BatchLoader, reads_ahead_as_far_as_its_ring_and_no_further) {
  const MemorySource memory(small_grid, 9);
  CountingSource source(memory);
  const EventSamples samples = training_samples(source);
  LoaderOptions options = training_options(OrderKind::shuffled, 2);
  options.ring = 3;
  source.allowed = std::int64_t{3} * 4;
  BatchLoader loader(samples, options);
  for (int step = 0; step < 50; ++step) {
    while (source.reads < source.allowed) {
      std::this_thread::yield();  // all that is allowed is read, without being asked for
    }
    source.allowed += step == 0 ? 0 : 4;  // the first call gives no batch back
    loader.next();
  }
  EXPECT_EQ(source.reads_too_many, 0);
}

TEST(BatchLoader, says_where_the_time_went) {
  const MemorySource source(small_grid, 9);
  const EventSamples samples = training_samples(source);
  BatchLoader loader(samples, training_options(OrderKind::serial_access, 0));
  take(loader, 3);
  const LoaderTimes times = loader.times();
  EXPECT_EQ(times.events, 12);
  std::int64_t pixels = 0;
  for (std::int64_t sample = 0; sample < 12; ++sample) {
    for (const SparsePlane& plane : source.event(sample % 9).image) {
      pixels += 2 * static_cast<std::int64_t>(plane.ids.size());
    }
  }
  EXPECT_EQ(times.pixels, pixels);
  EXPECT_GT(times.reading_seconds, 0);
  EXPECT_GT(times.converting_seconds, 0);
  // Without threads, whoever asks waits for all of it.
  EXPECT_GE(times.waiting_seconds, times.reading_seconds + times.converting_seconds);
}

TEST(BatchLoader, hands_an_exception_of_a_thread_to_the_caller_and_goes_on_after_it) {
  MemorySource source(small_grid, 6);
  const EventSamples samples(source, {});
  source.broken_entry = 3;
  for (const int threads : {0, 1, 3}) {
    BatchLoader loader(samples, inference_options(2, threads));
    EXPECT_THAT(copy_of(*loader.next()).entries, ElementsAre(0, 1));
    const OrderState before = loader.state();
    EXPECT_THAT([&] { loader.next(); },
                ThrowsMessage<DataError>(HasSubstr("entry 3 is broken on purpose")));
    EXPECT_EQ(loader.state(), before);
    const Batch* batch = loader.next();
    ASSERT_NE(batch, nullptr);
    EXPECT_THAT(copy_of(*batch).entries, ElementsAre(4, 5));
    EXPECT_EQ(loader.next(), nullptr);
  }
}

TEST(BatchLoader, names_the_event_and_the_source_of_an_event_that_cannot_be_converted) {
  std::vector<SparseEvent> events;
  for (std::int64_t number = 0; number < 3; ++number) {
    events.push_back(random_event(small_grid, 0.1, 1, number));
  }
  events[2].image[1].meta = grid_of(99, 24);
  const MemorySource source(std::move(events));
  const EventSamples samples(source, {});
  BatchLoader loader(samples, inference_options(3));
  EXPECT_THAT([&] { loader.next(); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("event 2 of events in memory"), HasSubstr("99 rows"))));
}

TEST(BatchLoader, of_several_exceptions_gives_the_first_in_the_batch) {
  std::vector<SparseEvent> events;
  for (std::int64_t number = 0; number < 8; ++number) {
    events.push_back(random_event(small_grid, 0.1, 1, number));
    if (number > 1) {
      events.back().labels[0].values.at(0) = 7;
    }
  }
  const MemorySource source(std::move(events));
  const EventSamples samples(source, {});
  for (int repeat = 0; repeat < 20; ++repeat) {
    BatchLoader loader(samples, inference_options(8, 4));
    EXPECT_THAT([&] { loader.next(); },
                ThrowsMessage<DataError>(
                    AllOf(HasSubstr("event 2 of events in memory"), HasSubstr("label 7"))));
  }
}

TEST(BatchLoader, an_event_without_planes_is_empty_and_not_the_one_before) {
  std::vector<SparseEvent> events{random_event(small_grid, 0.5, 1, 0), SparseEvent{}};
  events[1].labelled = true;
  const MemorySource source(std::move(events));
  const EventSamples samples(source, {});
  BatchLoader loader(samples, inference_options(1, 0));
  loader.next();
  const Copy empty = copy_of(*loader.next());
  EXPECT_THAT(empty.images, Each(0.0F));
  EXPECT_THAT(empty.labels, Each(0));
}

TEST(BatchLoader, can_be_destroyed_at_any_moment) {
  const MemorySource source(small_grid, 9);
  const EventSamples samples = training_samples(source);
  for (int threads = 0; threads < 4; ++threads) {
    for (std::size_t batches = 0; batches < 4; ++batches) {
      BatchLoader loader(samples, training_options(OrderKind::shuffled, threads));
      take(loader, batches);
    }
  }
}

/// Gives readers until it has given enough of them.
class FewReaders final : public EventSource {
 public:
  FewReaders(const EventSource& source, int readers) : source_(source), left_(readers) {}
  std::int64_t size() const override { return source_.size(); }
  ImageMeta meta() const override { return source_.meta(); }
  bool labelled() const override { return source_.labelled(); }
  std::string description() const override { return source_.description(); }
  std::unique_ptr<EventReader> reader() const override {
    COSMIC_REQUIRE(DataError, left_-- > 0, "no more readers");
    return source_.reader();
  }

 private:
  const EventSource& source_;
  mutable int left_;
};

TEST(BatchLoader, that_cannot_have_its_readers_is_not_made) {
  const MemorySource memory(small_grid, 9);
  const FewReaders source(memory, 2);
  const EventSamples samples = training_samples(source);
  EXPECT_THAT([&] { BatchLoader(samples, training_options(OrderKind::shuffled, 3)); },
              ThrowsMessage<DataError>(HasSubstr("no more readers")));
}

TEST(BatchLoader, refuses_options_that_cannot_work) {
  const MemorySource source(small_grid, 9);
  const EventSamples samples = training_samples(source);
  const auto refused = [&](const auto& change) {
    LoaderOptions options = training_options(OrderKind::shuffled);
    change(options);
    return [&samples, options] { BatchLoader(samples, options); };
  };
  EXPECT_THAT(refused([](LoaderOptions& o) { o.partition = {.rank = 0, .ranks = 3}; }),
              ThrowsMessage<UserError>(AllOf(HasSubstr("4 events"), HasSubstr("3 ranks"))));
  EXPECT_THAT(refused([](LoaderOptions& o) { o.partition = {.rank = 2, .ranks = 2}; }),
              ThrowsMessage<UserError>(HasSubstr("rank 2 of 2")));
  EXPECT_THAT(refused([](LoaderOptions& o) { o.threads = -1; }),
              ThrowsMessage<UserError>(HasSubstr("-1 threads")));
  EXPECT_THAT(refused([](LoaderOptions& o) { o.ring = 1; }),
              ThrowsMessage<UserError>(HasSubstr("ring of 1")));
  EXPECT_THAT([&] { EventSamples(source, {.dense = {.downsample = 4}}); },
              ThrowsMessage<UserError>(HasSubstr("downsample is 4")));
}

}  // namespace
}  // namespace cosmic::data
