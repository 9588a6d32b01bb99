// What is odd in events, or missing altogether, on the way that every run takes: through a loader.
#include <gmock/gmock.h>

#include "core/error.hpp"
#include "data/detector/detector_source.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/unpacked_file.hpp"
#include "data/loader/batch_loader.hpp"
#include "data/loader/event_samples.hpp"
#include "data/sparse_events.hpp"

namespace cosmic::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

LoaderOptions one_pass(std::vector<std::string>& told, int threads = 0) {
  LoaderOptions options;
  options.order = {.kind = OrderKind::serial_access, .passes = Passes::one};
  options.threads = threads;
  options.warn = [&told](const std::string& text) { told.push_back(text); };
  return options;
}

/// What is told, and what is known at the end, of a file of tests/data/larcv/broken.
struct Reading {
  std::vector<std::string> told;
  std::vector<ReadNote> notes;

  explicit Reading(const std::string& name) {
    const larcv::UnpackedFile file(name);
    const larcv::LarcvSource source({.files = {file.path()}});
    const EventSamples samples(source, {});
    BatchLoader loader(samples, one_pass(told));
    while (loader.next() != nullptr) {
    }
    notes = loader.finish();
  }
};

TEST(ReadNotes, tell_of_charges_that_are_not_a_number) {
  const Reading reading("value_nan.h5");
  EXPECT_THAT(reading.told,
              ElementsAre(AllOf(HasSubstr("values that are not finite"),
                                HasSubstr("value_nan.h5: sparse2d_sbndwire, event 0"))));
  ASSERT_THAT(reading.notes, SizeIs(1));
  EXPECT_EQ(reading.notes[0].count, 1U);
}

TEST(ReadNotes, tell_of_labels_that_are_not_a_number) {
  const Reading reading("label_nan.h5");
  EXPECT_THAT(reading.told, testing::Contains(AllOf(HasSubstr("values that are not finite"),
                                                    HasSubstr("sparse2d_sbnd_cosmicseg"))));
}

TEST(ReadNotes, tell_of_pixels_that_come_twice) {
  EXPECT_THAT(Reading("id_twice.h5").told,
              testing::Contains(HasSubstr("pixels stored more than once (the last counts)")));
}

TEST(ReadNotes, tell_of_labels_without_a_pixel) {
  EXPECT_THAT(Reading("label_without_a_pixel.h5").told,
              testing::Contains(HasSubstr("labels without a pixel (dropped)")));
}

TEST(ReadNotes, are_none_for_a_sound_file) {
  const Reading reading("sound_plain.h5");
  EXPECT_THAT(reading.told, IsEmpty());
  EXPECT_THAT(reading.notes, IsEmpty());
}

/// Has so many notes of a kind as events were read.
class NotingSource final : public EventSource {
 public:
  explicit NotingSource(const EventSource& source) : source_(source) {}
  std::int64_t size() const override { return source_.size(); }
  ImageMeta meta() const override { return source_.meta(); }
  bool labelled() const override { return source_.labelled(); }
  std::string description() const override { return source_.description(); }
  std::vector<ReadNote> notes() const override {
    return {{"events", reads_, "event 0"}, {"strange events", 1, "event 1"}};
  }
  std::uint64_t note_count() const override { return reads_ + 1; }
  std::unique_ptr<EventReader> reader() const override { return std::make_unique<Reader>(*this); }

 private:
  class Reader final : public EventReader {
   public:
    explicit Reader(const NotingSource& source)
        : source_(source), reader_(source.source_.reader()) {}
    void read(std::int64_t entry, SparseEvent& event) override {
      source_.reads_ += 1;
      reader_->read(entry, event);
    }

   private:
    const NotingSource& source_;
    std::unique_ptr<EventReader> reader_;
  };

  const EventSource& source_;
  mutable std::uint64_t reads_ = 0;
};

TEST(ReadNotes, of_one_pass_are_told_once_for_each_kind_with_their_number) {
  const MemorySource memory(grid_of(8, 8), 5, 0.5);
  const NotingSource source(memory);
  const EventSamples samples(source, {});
  std::vector<std::string> told;
  BatchLoader loader(samples, one_pass(told));
  while (loader.next() != nullptr) {
  }
  loader.finish();
  EXPECT_THAT(told, ElementsAre("Reading found 5 events; the first: event 0",
                                "Reading found 1 strange events; the first: event 1"));
}

TEST(ReadNotes, of_a_pass_that_ends_with_an_error_are_told_before_it) {
  MemorySource memory(grid_of(8, 8), 5, 0.5);
  memory.broken_entry = 2;
  const NotingSource source(memory);
  const EventSamples samples(source, {});
  std::vector<std::string> told;
  BatchLoader loader(samples, one_pass(told));
  EXPECT_THAT(
      [&] {
        while (loader.next() != nullptr) {
        }
      },
      ThrowsMessage<DataError>(HasSubstr("broken on purpose")));
  EXPECT_THAT(told, testing::Contains("Reading found 3 events; the first: event 0"));
}

TEST(ReadNotes, of_a_training_are_told_when_they_are_found_and_at_its_end_if_they_became_more) {
  const MemorySource memory(grid_of(8, 8), 5, 0.5);
  const NotingSource source(memory);
  const EventSamples samples(source, {});
  std::vector<std::string> told;
  LoaderOptions options = one_pass(told);
  options.order.passes = Passes::endless;
  BatchLoader loader(samples, options);
  for (int batch = 0; batch < 7; ++batch) {
    loader.next();
  }
  EXPECT_THAT(told, ElementsAre("Reading found 1 events; the first: event 0",
                                "Reading found 1 strange events; the first: event 1"));
  loader.finish();
  EXPECT_THAT(told, ElementsAre("Reading found 1 events; the first: event 0",
                                "Reading found 1 strange events; the first: event 1",
                                "Reading found, in all, 7 events; the first: event 0"));
}

SparseEvent event_without_pixels() {
  SparseEvent event;
  event.labelled = true;
  for (SparseImage* const image : {&event.image, &event.labels}) {
    for (SparsePlane& plane : *image) {
      plane.meta = grid_of(8, 8);
    }
  }
  return event;
}

/// Two parts of the same number of events, as files have them.
class TwoParts final : public EventSource {
 public:
  explicit TwoParts(const EventSource& source) : source_(source) {}
  std::int64_t size() const override { return source_.size(); }
  ImageMeta meta() const override { return source_.meta(); }
  bool labelled() const override { return source_.labelled(); }
  std::string description() const override { return "a.h5 and 1 more"; }
  std::vector<SourcePart> parts() const override {
    return {{"a.h5", 0, size() / 2}, {"b.h5", size() / 2, size()}};
  }
  std::unique_ptr<EventReader> reader() const override { return source_.reader(); }

 private:
  const EventSource& source_;
};

TEST(ReadNotes, make_an_error_of_a_file_without_a_single_pixel) {
  const SparseEvent event = random_event(grid_of(8, 8), 0.5, 1);
  const SparseEvent empty = event_without_pixels();
  const MemorySource memory({event, empty, event, empty, empty, empty});
  const TwoParts source(memory);
  for (const int threads : {0, 2}) {
    const EventSamples samples(source, {});
    std::vector<std::string> told;
    BatchLoader loader(samples, one_pass(told, threads));
    EXPECT_THAT(
        [&] {
          while (loader.next() != nullptr) {
          }
        },
        ThrowsMessage<DataError>(HasSubstr("b.h5: the 3 events that were read have no pixel")));
    EXPECT_NO_THROW(loader.finish());  // something of use was in the other file
  }
}

TEST(ReadNotes, make_an_error_of_a_run_that_read_empty_events_only) {
  const SparseEvent empty = event_without_pixels();
  const MemorySource source({empty, random_event(grid_of(8, 8), 0.5, 1)});
  const EventSamples samples(source, {});
  std::vector<std::string> told;
  BatchLoader loader(samples, one_pass(told));
  loader.next();
  EXPECT_THAT([&] { loader.finish(); },
              ThrowsMessage<DataError>(HasSubstr("the 1 events that were read have no pixel")));
  loader.next();
  EXPECT_NO_THROW(loader.finish());
}

TEST(ReadNotes, make_an_error_of_a_file_in_which_no_pixel_has_a_label) {
  SparseEvent event = random_event(grid_of(8, 8), 0.5, 1);
  for (const SparsePlane& plane : event.image) {
    event.unlabelled_pixels += static_cast<std::int64_t>(plane.ids.size());
  }
  const MemorySource source({event, event});
  const EventSamples samples(source, {});
  std::vector<std::string> told;
  BatchLoader loader(samples, one_pass(told));
  EXPECT_THAT(
      [&] {
        while (loader.next() != nullptr) {
        }
      },
      ThrowsMessage<DataError>(AllOf(HasSubstr("none of the "), HasSubstr("in the 2 events"))));
}

TEST(ReadNotes, accept_an_empty_event_among_others) {
  const MemorySource source({event_without_pixels(), random_event(grid_of(8, 8), 0.5, 1)});
  const EventSamples samples(source, {});
  std::vector<std::string> told;
  BatchLoader loader(samples, one_pass(told));
  while (loader.next() != nullptr) {
  }
  EXPECT_THAT(loader.finish(), IsEmpty());
  EXPECT_THAT(told, IsEmpty());
}

TEST(ReadNotes, of_generated_events_are_none_and_their_fingerprint_is_that_of_their_seed) {
  const detector::DetectorSource source(1, 5);
  const EventSamples samples(source, {.dense = {.downsample = 3}});
  std::vector<std::string> told;
  BatchLoader loader(samples, one_pass(told));
  while (loader.next() != nullptr) {
  }
  EXPECT_THAT(loader.finish(), IsEmpty());
  EXPECT_EQ(source.fingerprint(), detector::DetectorSource(1, 5).fingerprint());
  EXPECT_NE(source.fingerprint(), detector::DetectorSource(1, 6).fingerprint());
  // The events of a seed are endless; how many are asked for does not change them.
  EXPECT_EQ(source.fingerprint(), detector::DetectorSource(2, 5).fingerprint());
}

}  // namespace
}  // namespace cosmic::data
