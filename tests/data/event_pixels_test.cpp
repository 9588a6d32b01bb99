#include "data/event_pixels.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>

#include "core/error.hpp"
#include "data/put_in_place.hpp"
#include "data/sparse_events.hpp"

namespace cosmic::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(EventPixels, put_in_place_are_the_dense_image_bit_by_bit) {
  const ImageMeta grid = grid_of(24, 44);
  for (const int downsample : {0, 1, 2}) {
    for (const ChargeScale scale : {ChargeScale::linear, ChargeScale::logarithmic}) {
      const DenseOptions options{.downsample = downsample, .scale = scale};
      PixelConverter converter(grid, options);
      EventPixels pixels;
      for (std::int64_t number = 0; number < 5; ++number) {
        const SparseEvent event = random_event(grid, number == 2 ? 0.9 : 0.1, 3, number);
        converter.convert(event, pixels);
        expect_same_image(pixels, event, options);
      }
    }
  }
}

TEST(EventPixels, ascend_row_by_row_and_leave_background_out) {
  SparseEvent event = random_event(grid_of(4, 4), 0, 1);
  // Columns 0 and 1 of plane 1: row 3 before row 0 of the next column.
  event.image[1].ids = {3, 4, 7};
  event.image[1].values = {10, 20, 30};
  event.labels[1] = event.image[1];
  event.labels[1].values = {2, 0, 1};
  PixelConverter converter(grid_of(4, 4), {});
  EventPixels pixels;
  converter.convert(event, pixels);
  EXPECT_THAT(pixels.charge.places, ElementsAre(16 + 1, 16 + 12, 16 + 13));
  EXPECT_THAT(pixels.charge.values, ElementsAre(20, 10, 30));
  EXPECT_THAT(pixels.label.places, ElementsAre(16 + 12, 16 + 13));
  EXPECT_THAT(pixels.label.values, ElementsAre(2, 1));
}

TEST(EventPixels, of_an_event_without_labels_or_with_room_for_few_are_those_of_its_image) {
  SparseEvent event = random_event(grid_of(16, 16), 0.4, 1);
  EventPixels pixels;
  const DenseOptions few{.downsample = 1, .pixels_kept = 7};
  PixelConverter(grid_of(16, 16), few).convert(event, pixels);
  EXPECT_EQ(pixels.charge.places.size(), 3U * 7);
  expect_same_image(pixels, event, few);
  event.labelled = false;
  PixelConverter(grid_of(16, 16), {}).convert(event, pixels);
  EXPECT_THAT(pixels.label.places, IsEmpty());
  expect_same_image(pixels, event, {});
}

TEST(EventPixels, that_are_stored_twice_have_the_last_value_as_in_an_image) {
  SparseEvent event = random_event(grid_of(4, 4), 0, 1);
  event.image[0].ids = {5, 5, 6};
  event.image[0].values = {1, 2, 3};
  event.labels[0] = event.image[0];
  event.labels[0].values = {2, 0, 1};
  EventPixels pixels;
  PixelConverter(grid_of(4, 4), {}).convert(event, pixels);
  EXPECT_THAT(pixels.charge.values, ElementsAre(2, 3));
  EXPECT_THAT(pixels.label.values, ElementsAre(1));
  expect_same_image(pixels, event, {});
}

TEST(EventPixels, of_a_label_that_is_none_are_refused_as_its_image_is) {
  SparseEvent event = random_event(grid_of(4, 4), 0.5, 1);
  event.labels[2].values.back() = 3;
  EventPixels pixels;
  PixelConverter converter(grid_of(4, 4), {});
  EXPECT_THAT([&] { converter.convert(event, pixels); },
              ThrowsMessage<DataError>(HasSubstr("plane 2 has a pixel with the label 3")));
}

}  // namespace
}  // namespace cosmic::data
