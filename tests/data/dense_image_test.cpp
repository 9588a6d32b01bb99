#include "data/dense_image.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "core/error.hpp"
#include "data/sparse_events.hpp"

namespace cosmic::data {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct Buffers {
  explicit Buffers(const DenseShape& shape)
      : charge(shape.event_pixels(), 17.0F), label(shape.event_pixels(), std::uint8_t{17}) {}

  DenseImage dense() { return {charge, label}; }

  std::vector<float> charge;
  std::vector<std::uint8_t> label;
};

/// By way of sparse planes, downsampled one by one, into images that were zeroed as a whole.
struct Expected {
  Expected(const SparseEvent& event, const DenseShape& shape, int downsample)
      : charge(shape.event_pixels()), label(shape.event_pixels()) {
    for (std::size_t plane = 0; plane < event.image.size(); ++plane) {
      const auto place = [&](const SparsePlane& stored, Pooling pooling, auto& image) {
        Downsampler downsampler(stored.meta, downsample);
        SparsePlane small;
        downsampler.downsample(stored, pooling, small);
        const auto rows = static_cast<std::size_t>(shape.rows);
        for (std::size_t i = 0; i < small.ids.size(); ++i) {
          const std::size_t column = small.ids[i] / rows;
          const std::size_t row = small.ids[i] % rows;
          image[plane * shape.plane_pixels() + row * static_cast<std::size_t>(shape.columns) +
                column] =
              static_cast<typename std::decay_t<decltype(image)>::value_type>(small.values[i]);
        }
      };
      place(event.image[plane], Pooling::average, charge);
      place(event.labels[plane], Pooling::maximum, label);
    }
  }

  std::vector<float> charge;
  std::vector<std::uint8_t> label;
};

TEST(DenseImage, equals_the_sparse_way_bit_by_bit_and_forgets_the_event_before) {
  const ImageMeta grid = grid_of(24, 44);
  for (const int downsample : {0, 1, 2}) {
    DenseConverter converter(grid, {.downsample = downsample});
    Buffers buffers(converter.shape());
    for (std::int64_t number = 0; number < 5; ++number) {
      const SparseEvent event = random_event(grid, number == 2 ? 0.9 : 0.1, 3, number);
      converter.convert(event, buffers.dense());
      const Expected expected(event, converter.shape(), downsample);
      ASSERT_EQ(buffers.charge, expected.charge);
      ASSERT_EQ(buffers.label, expected.label);
    }
  }
}

TEST(DenseImage, puts_time_on_rows_and_wires_on_columns) {
  SparseEvent event;
  event.image[1] = {grid_of(10, 20), {3 * 10 + 7}, {42.0F}};  // wire 3, time 7
  DenseConverter converter(grid_of(10, 20), {});
  Buffers buffers(converter.shape());
  converter.convert(event, buffers.dense());
  EXPECT_EQ(buffers.charge[200 + 7 * 20 + 3], 42.0F);
  EXPECT_EQ(std::count(buffers.charge.begin(), buffers.charge.end(), 0.0F), 3 * 200 - 1);
}

TEST(DenseImage, applies_the_logarithm_once_after_averaging) {
  const ImageMeta grid = grid_of(4, 4);
  SparseEvent event;
  event.image[0] = {grid, {0, 1}, {100, 60}};
  DenseConverter converter(grid, {.downsample = 1, .scale = ChargeScale::logarithmic});
  Buffers buffers(converter.shape());
  converter.convert(event, buffers.dense());
  EXPECT_EQ(buffers.charge[0], std::log(41.0F));
  EXPECT_EQ(buffers.charge[1], 0.0F);
}

TEST(DenseImage, labels_of_an_event_without_labels_are_background) {
  const ImageMeta grid = grid_of(8, 8);
  DenseConverter converter(grid, {});
  Buffers buffers(converter.shape());
  SparseEvent event = random_event(grid, 0.5, 1);
  converter.convert(event, buffers.dense());
  ASSERT_THAT(buffers.label, testing::Contains(2));
  event.labelled = false;
  converter.convert(event, buffers.dense());
  EXPECT_THAT(buffers.label, Each(0));
}

TEST(DenseImage, keeps_a_charge_that_the_reference_takes_for_a_missing_one) {
  SparseEvent event;
  event.image[0] = {grid_of(2, 2), {1}, {-999.0F}};
  DenseConverter converter(grid_of(2, 2), {});
  Buffers buffers(converter.shape());
  converter.convert(event, buffers.dense());
  EXPECT_EQ(buffers.charge[2], -999.0F);
}

TEST(DenseImage, keeps_all_pixels_unless_told_how_many) {
  const ImageMeta grid = grid_of(8, 8);
  const SparseEvent event = random_event(grid, 1, 1);
  const auto pixels_with = [&](std::int64_t kept) {
    DenseConverter converter(grid, {.pixels_kept = kept});
    Buffers buffers(converter.shape());
    converter.convert(event, buffers.dense());
    return std::count_if(buffers.charge.begin(), buffers.charge.end(),
                         [](float charge) { return charge != 0; });
  };
  EXPECT_EQ(pixels_with(DenseOptions::kAllPixels), 3 * 64);
  EXPECT_EQ(pixels_with(10), 3 * 10);
  EXPECT_EQ(pixels_with(0), 0);
}

TEST(DenseImage, refuses_labels_that_are_none) {
  const ImageMeta grid = grid_of(4, 4);
  DenseConverter converter(grid, {});
  Buffers buffers(converter.shape());
  for (const float label : {3.0F, -1.0F, 0.5F, 1e30F, std::nanf("")}) {
    SparseEvent event = random_event(grid, 0, 1);
    event.labels[2] = {grid, {5}, {label}};
    EXPECT_THAT([&] { converter.convert(event, buffers.dense()); },
                ThrowsMessage<DataError>(AllOf(HasSubstr("plane 2"), HasSubstr("label"))))
        << label;
  }
}

}  // namespace
}  // namespace cosmic::data
