#include "view/event_store.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "core/error.hpp"
#include "scratch_folder.hpp"
#include "view/tagged_file.hpp"

namespace cosmic::view {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

ViewedEvent read(const EventStore& store, std::int64_t entry) {
  ViewedEvent event;
  EventStore::Reader(store).read(entry, event);
  return event;
}

TEST(EventStore, gives_pixels_labels_and_truth_of_a_file_without_predictions) {
  const ScratchFolder folder("view");
  write_events(folder / "a.h5", 2, Predictions::none);
  const EventStore store({.files = {folder / "a.h5"}});
  EXPECT_EQ(store.size(), 2);
  EXPECT_TRUE(store.networks().empty());
  const ViewedEvent event = read(store, 1);
  EXPECT_EQ(event.pixels.id, viewed_event(1).id);
  EXPECT_EQ(event.pixels.image[2].ids, viewed_event(1).image[2].ids);
  EXPECT_TRUE(event.networks.empty());
  ASSERT_TRUE(event.neutrino);
  EXPECT_EQ(event.neutrino->energy, 1.5);
}

TEST(EventStore, gives_each_stored_pixel_its_tag_and_scores) {
  const ScratchFolder folder("view");
  write_events(folder / "a.h5", 1, Predictions::of_stored_pixels);
  const EventStore store({.files = {folder / "a.h5"}});
  ASSERT_EQ(store.networks(), std::vector<std::string>{"a.h5"});
  const ViewedEvent event = read(store, 0);
  const std::vector<std::uint64_t>& ids = event.pixels.image[0].ids;
  const PlaneScores& scores = event.networks.at(0)[0];
  ASSERT_EQ(scores.tag.size(), ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(scores.tag[i], ids[i] % 3);
    EXPECT_EQ(scores.cosmic[i], cosmic_score(ids[i]));
    EXPECT_EQ(scores.neutrino[i], neutrino_score(ids[i]));
  }
}

TEST(EventStore, gives_pixels_of_a_block_what_the_network_said_about_the_block) {
  const ScratchFolder folder("view");
  write_events(folder / "a.h5", 1, Predictions::of_network_pixels);
  const EventStore store({.files = {folder / "a.h5"}});
  const ViewedEvent event = read(store, 0);
  for (std::size_t plane = 0; plane < 3; ++plane) {
    const std::vector<std::uint64_t>& ids = event.pixels.image[plane].ids;
    const PlaneScores& scores = event.networks.at(0)[plane];
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::uint64_t block = ids[i] / 32 / 2 * 16 + ids[i] % 32 / 2;
      EXPECT_EQ(scores.neutrino[i], neutrino_score(block));
      EXPECT_EQ(scores.tag[i], block % 3);
    }
  }
}

TEST(EventStore, compares_two_networks) {
  const ScratchFolder folder("view");
  write_events(folder / "a.h5", 2, Predictions::of_stored_pixels);
  write_events(folder / "b.h5", 2, Predictions::of_network_pixels);
  const EventStore store({.files = {folder / "a.h5"}, .compared = {folder / "b.h5"}});
  EXPECT_EQ(store.networks(), (std::vector<std::string>{"a.h5", "b.h5"}));
  EXPECT_EQ(read(store, 1).networks.size(), 2U);
}

TEST(EventStore, refuses_to_compare_with_a_file_that_has_no_predictions) {
  const ScratchFolder folder("view");
  write_events(folder / "a.h5", 2, Predictions::of_stored_pixels);
  write_events(folder / "b.h5", 2, Predictions::none);
  EXPECT_THAT([&] { EventStore({.files = {folder / "a.h5"}, .compared = {folder / "b.h5"}}); },
              ThrowsMessage<UserError>(HasSubstr("no predictions")));
}

TEST(EventStore, refuses_to_compare_with_another_number_of_events) {
  const ScratchFolder folder("view");
  write_events(folder / "a.h5", 2, Predictions::of_stored_pixels);
  write_events(folder / "b.h5", 3, Predictions::of_stored_pixels);
  EXPECT_THAT([&] { EventStore({.files = {folder / "a.h5"}, .compared = {folder / "b.h5"}}); },
              ThrowsMessage<UserError>(HasSubstr("has 3 events")));
}

TEST(EventStore, does_not_show_predictions_of_another_event) {
  const ScratchFolder folder("view");
  write_events(folder / "a.h5", 2, Predictions::of_stored_pixels);
  write_events(folder / "b.h5", 2, Predictions::of_stored_pixels, 1);
  const EventStore store({.files = {folder / "a.h5"}, .compared = {folder / "b.h5"}});
  EXPECT_THAT([&] { read(store, 0); },
              ThrowsMessage<DataError>(HasSubstr("predictions of another event")));
}

TEST(EventStore, refuses_files_of_which_only_some_have_predictions) {
  const ScratchFolder folder("view");
  write_events(folder / "a.h5", 2, Predictions::of_stored_pixels);
  write_events(folder / "b.h5", 2, Predictions::none);
  EXPECT_THAT(
      [&] {
        EventStore({.files = {folder / "a.h5", folder / "b.h5"}});
      },
      ThrowsMessage<DataError>(HasSubstr("b.h5: does not have the predictions")));
}

TEST(EventSummary, counts_missed_and_false_pixels_of_all_planes) {
  ViewedEvent event;
  event.pixels.labelled = true;
  event.networks.resize(1);
  for (std::size_t plane = 0; plane < 3; ++plane) {
    event.pixels.image[plane].ids = {1, 2, 3, 4};
    event.pixels.labels[plane].values = {2, 2, 1, 0};
    event.networks[0][plane].tag = {2, 1, 2, kNoTag};
  }
  const EventSummary summary = summary_of(event);
  EXPECT_EQ(summary.pixels, 12);
  EXPECT_EQ(summary.neutrino, 6);
  EXPECT_EQ(summary.networks[0].missed, 3);
  EXPECT_EQ(summary.networks[0].wrong, 3);
  EXPECT_EQ(summary.networks[0].tagged, 6);
  EXPECT_DOUBLE_EQ(summary.networks[0].neutrino_iou, 1.0 / 3);
  EXPECT_DOUBLE_EQ(summary.networks[0].cosmic_iou, 0);
}

TEST(EventSummary, has_no_scores_without_labels) {
  ViewedEvent event;
  event.networks.resize(1);
  event.pixels.image[0].ids = {1};
  event.networks[0][0].tag = {2};
  const EventSummary summary = summary_of(event);
  EXPECT_EQ(summary.networks[0].tagged, 1);
  EXPECT_TRUE(std::isnan(summary.networks[0].neutrino_iou));
}

}  // namespace
}  // namespace cosmic::view
