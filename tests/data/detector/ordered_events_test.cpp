#include "data/detector/ordered_events.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

#include "core/error.hpp"
#include "data/detector/detector_source.hpp"

namespace cosmic::data::detector {
namespace {

TEST(OrderedEvents, come_by_number_and_are_the_same_for_any_number_of_threads) {
  const Detector detector;
  std::vector<std::vector<std::uint64_t>> reference;
  for (const int threads : {1, 2, 5}) {
    std::vector<std::vector<std::uint64_t>> ids;
    make_in_order(detector, 1, 9, threads, [&](const SimulatedEvent& simulated) {
      EXPECT_EQ(simulated.event.id.event, static_cast<std::int64_t>(ids.size()));
      ids.push_back(simulated.event.image[0].ids);
    });
    ASSERT_EQ(ids.size(), 9U);
    if (reference.empty()) {
      reference = ids;
    }
    EXPECT_EQ(ids, reference) << threads << " threads";
  }
}

TEST(OrderedEvents, an_error_of_the_taker_stops_the_makers_and_leaves) {
  const Detector detector;
  int taken = 0;
  EXPECT_THROW(make_in_order(detector, 1, 1000, 3,
                             [&](const SimulatedEvent&) {
                               if (++taken == 2) {
                                 throw DataError("the disk is full");
                               }
                             }),
               DataError);
  EXPECT_EQ(taken, 2);
}

TEST(OrderedEvents, no_threads_are_refused) {
  const Detector detector;
  EXPECT_THROW(make_in_order(detector, 1, 1, 0, [](const SimulatedEvent&) {}), UserError);
}

TEST(DetectorSource, readers_give_the_events_of_the_simulation_in_any_order) {
  const DetectorSource source(4, 9);
  EXPECT_EQ(source.size(), 4);
  EXPECT_TRUE(source.labelled());
  EXPECT_EQ(source.meta().rows(), 1280U);
  EXPECT_EQ(source.meta().columns(), 2048U);
  EXPECT_EQ(source.description(), "4 generated events (seed 9)");
  const auto one = source.reader();
  const auto other = source.reader();
  SparseEvent first;
  SparseEvent second;
  one->read(3, first);
  one->read(1, first);
  other->read(1, second);
  EXPECT_EQ(first.image[2].ids, second.image[2].ids);
  EXPECT_EQ(first.labels[2].values, second.labels[2].values);
  EXPECT_EQ(first.id, second.id);
}

TEST(DetectorSource, an_entry_that_is_not_there_is_refused) {
  const DetectorSource source(4, 9);
  SparseEvent event;
  EXPECT_THAT([&] { source.reader()->read(4, event); },
              testing::ThrowsMessage<DataError>(testing::HasSubstr("entry 4 of 4 generated")));
  EXPECT_THAT([] { DetectorSource(0, 1); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr("has 0 events")));
}

}  // namespace
}  // namespace cosmic::data::detector
