// The tagger for C++, as its callers see it.
#include "cosmictagger/tagger.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <thread>

#include "api/tiny_weights.hpp"
#include "data/detector/detector.hpp"

namespace cosmictagger {
namespace {

using cosmic::api::an_event;
using cosmic::api::kColumns;
using cosmic::api::kRows;
using testing::AllOf;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

class TaggerForCpp : public testing::Test {
 protected:
  TaggerOptions options(int threads = 1) const {
    return {.weights = weights_.path(), .threads = threads, .rows = kRows, .columns = kColumns};
  }

  cosmic::api::TinyWeights weights_;
};

/// Its pixels, the last first.
Event backwards(const cosmic::data::SparseEvent& stored) {
  Event event;
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    const cosmic::data::SparsePlane& from = stored.image[plane];
    for (std::size_t i = from.ids.size(); i-- > 0;) {
      const std::uint64_t rows = from.meta.rows();
      event[plane].rows.push_back(static_cast<std::uint32_t>(from.ids[i] % rows));
      event[plane].columns.push_back(static_cast<std::uint32_t>(from.ids[i] / rows));
      event[plane].charges.push_back(from.values[i]);
    }
  }
  return event;
}

std::vector<float> dense(const Event& event) {
  std::vector<float> image(kPlanes * kRows * kColumns);
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    for (std::size_t i = 0; i < event[plane].charges.size(); ++i) {
      image[(plane * kRows + event[plane].rows[i]) * kColumns + event[plane].columns[i]] =
          event[plane].charges[i];
    }
  }
  return image;
}

void expect_same(const EventTags& found, const EventTags& expected) {
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    EXPECT_EQ(found[plane].tag, expected[plane].tag);
    EXPECT_EQ(found[plane].cosmic, expected[plane].cosmic);
    EXPECT_EQ(found[plane].neutrino, expected[plane].neutrino);
  }
}

Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {Fault::internal, ""};
}

TEST_F(TaggerForCpp, says_the_same_of_pixels_in_any_order_and_of_dense_images) {
  Tagger tagger(options());
  const Event event = backwards(an_event(0));
  const EventTags tags = tagger.tag(event);
  const std::vector<float> image = dense(event);
  std::vector<std::uint8_t> tag(image.size());
  std::vector<float> neutrino(image.size());
  tagger.tag(image, tag, {}, neutrino);
  std::size_t looked_at = 0;
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    ASSERT_EQ(tags[plane].tag.size(), event[plane].charges.size());
    for (std::size_t i = 0; i < tags[plane].tag.size(); ++i, ++looked_at) {
      const std::size_t at =
          (plane * kRows + event[plane].rows[i]) * kColumns + event[plane].columns[i];
      EXPECT_EQ(tags[plane].tag[i], tag[at]);
      EXPECT_EQ(tags[plane].neutrino[i], neutrino[at]);
      EXPECT_LE(tags[plane].cosmic[i] + tags[plane].neutrino[i], 1.0001F);
    }
  }
  EXPECT_GT(looked_at, 100U);
}

TEST_F(TaggerForCpp, says_the_same_of_an_event_alone_and_in_a_batch) {
  Tagger one(options());
  TaggerOptions of_two = options();
  of_two.events_at_a_time = 2;
  Tagger two(of_two);
  std::vector<Event> events;
  for (std::int64_t i = 0; i < 3; ++i) {
    events.push_back(backwards(an_event(i)));
  }
  const std::vector<EventTags> found = two.tag(events);
  ASSERT_EQ(found.size(), events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    expect_same(found[i], one.tag(events[i]));
  }
  EXPECT_TRUE(two.tag(std::span<const Event>()).empty());
}

TEST_F(TaggerForCpp, is_shared_by_threads_and_has_threads_of_its_own) {
  Tagger tagger(options(2));
  EXPECT_EQ(tagger.threads(), 2);
  Tagger alone(options(2));
  std::vector<Event> events;
  std::vector<EventTags> expected;
  for (std::int64_t i = 0; i < 4; ++i) {
    events.push_back(backwards(an_event(i)));
    expected.push_back(alone.tag(events.back()));
  }
  std::vector<EventTags> found(events.size());
  std::vector<std::thread> callers;
  for (std::size_t i = 0; i < events.size(); ++i) {
    callers.emplace_back([&, i] { found[i] = tagger.tag(events[i]); });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    expect_same(found[i], expected[i]);
  }
}

TEST_F(TaggerForCpp, tells_its_weights_and_its_memory_before_the_first_event) {
  const Tagger tagger(options());
  EXPECT_THAT(tagger.weights(), HasSubstr("checkpoints"));
  EXPECT_EQ(tagger.step(), 2);
  EXPECT_GT(tagger.memory_bytes(), 0);
  EXPECT_EQ(tagger.rows(), kRows);
  EXPECT_EQ(tagger.columns(), kColumns);
}

TEST_F(TaggerForCpp, refuses_events_that_mean_nothing_and_goes_on) {
  Tagger tagger(options());
  const Event good = backwards(an_event(0));
  Event outside = good;
  outside[1].rows[0] = kRows;
  const Error error = error_of([&] { tagger.tag(outside); });
  EXPECT_EQ(error.fault(), Fault::data);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("event 0, plane 1"), HasSubstr("row 16")));
  Event twice = good;
  twice[0].rows[1] = twice[0].rows[0];
  twice[0].columns[1] = twice[0].columns[0];
  EXPECT_THAT(error_of([&] { tagger.tag(twice); }).what(), HasSubstr("two pixels at row"));
  Event no_number = good;
  no_number[2].charges[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(error_of([&] { tagger.tag(no_number); }).what(), HasSubstr("the charge nan"));
  Event uneven = good;
  uneven[0].rows.pop_back();
  EXPECT_THAT(error_of([&] { tagger.tag(uneven); }).what(), HasSubstr("give equally many"));
  EXPECT_EQ(tagger.tag(good)[0].tag.size(), good[0].charges.size());
}

TEST_F(TaggerForCpp, of_no_weights_has_those_in_the_box_and_of_a_name_in_the_box_these) {
  EXPECT_THAT(Tagger(TaggerOptions{}).weights(), EndsWith("weights/best.safetensors"));
  TaggerOptions named;
  named.weights = "fast";
  EXPECT_THAT(Tagger(named).weights(), EndsWith("weights/fast.safetensors"));
  named.weights = "fastest";
  EXPECT_THAT(error_of([&] { Tagger{named}; }).what(), HasSubstr("fastest names no weights"));
}

/// A straight track on each plane, which no event is that a network was trained on.
Event a_track() {
  PlanePixels plane;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    plane.rows.push_back(i);
    plane.columns.push_back(2 * i);
    plane.charges.push_back(4000);
  }
  return {plane, plane, plane};
}

TEST_F(TaggerForCpp, says_in_what_events_do_not_look_like_those_that_the_network_knows) {
  TaggerOptions boxed;
  boxed.weights = "fast";
  Tagger fast(boxed);
  EXPECT_THAT(fast.oddities(), IsEmpty()) << "nothing was tagged yet";
  fast.tag(a_track());
  EXPECT_THAT(fast.oddities(), AllOf(Contains(HasSubstr("pixels with charge in an event: ")),
                                     Contains(HasSubstr("median charge of a pixel: "))));
  Tagger tiny(options());
  tiny.tag(backwards(an_event(0)));
  EXPECT_THAT(tiny.oddities(), IsEmpty()) << "these weights do not say what they know";
}

TEST_F(TaggerForCpp, finds_nothing_odd_in_events_of_the_detector_that_it_was_trained_on) {
  TaggerOptions boxed;
  boxed.weights = "fast";
  Tagger fast(boxed);
  const cosmic::data::detector::Detector detector;
  cosmic::data::detector::Simulator simulator(detector, 7);
  cosmic::data::detector::SimulatedEvent simulated;
  for (std::int64_t i = 0; i < 3; ++i) {
    simulator.simulate(i, simulated);
    fast.tag(backwards(simulated.event));
  }
  EXPECT_THAT(fast.oddities(), IsEmpty());
}

TEST_F(TaggerForCpp, refuses_options_that_cannot_be) {
  TaggerOptions none = options();
  none.weights = weights_.nothing();
  EXPECT_EQ(error_of([&] { Tagger{none}; }).fault(), Fault::user);
  TaggerOptions with_files = options();
  with_files.settings = {"data.file=a.h5"};
  EXPECT_THAT(error_of([&] { Tagger{with_files}; }).what(), HasSubstr("data.file=a.h5"));
  TaggerOptions negative = options(-1);
  EXPECT_THAT(error_of([&] { Tagger{negative}; }).what(), HasSubstr("threads is -1"));
}

}  // namespace
}  // namespace cosmictagger
