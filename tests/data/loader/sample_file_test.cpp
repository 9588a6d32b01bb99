// The reference's sample file, downsampled and made dense, against the numbers of the specification
// (appendix A.4).
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "data/downsample.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/sample_file.hpp"
#include "data/loader/batch_loader.hpp"
#include "data/loader/event_samples.hpp"
#include "data/put_in_place.hpp"

namespace cosmic::data {
namespace {

struct PlaneNumbers {
  std::int64_t pixels;
  double sum;
  double highest;
  std::int64_t cosmic;
  std::int64_t neutrino;
};

struct EventNumbers {
  int downsample;
  std::int64_t event;
  std::array<PlaneNumbers, 3> planes;
};

// clang-format off
constexpr EventNumbers kExpected[] = {
    {0, 0, {{{23223, 498283.849, 366.1020, 9890, 375}, {23171, 507628.176, 441.4287, 9376, 305}, {10084, 463207.088, 448.7843, 8671, 360}}}},
    {1, 0, {{{14383, 124570.962, 178.9425, 4050, 172}, {14559, 126907.044, 274.7868, 3821, 131}, {4223, 115801.772, 385.2753, 3480, 159}}}},
    {1, 1, {{{14615, 155778.668, 1072.7629, 3845, 379}, {14962, 164400.646, 271.6735, 2713, 732}, {4449, 154428.556, 1768.5837, 2536, 761}}}},
    {1, 2, {{{15175, 149990.655, 543.3098, 2880, 975}, {15275, 146287.474, 300.4393, 3014, 1442}, {5264, 141918.604, 318.2685, 2885, 1578}}}},
    {1, 3, {{{15897, 165434.607, 305.0812, 4163, 881}, {16167, 175149.753, 304.4315, 3986, 822}, {5216, 165498.697, 361.5756, 3284, 980}}}},
    {1, 4, {{{12312, 49076.849, 377.3494, 821, 348}, {12568, 52116.982, 221.5609, 817, 267}, {1482, 34501.178, 231.2650, 756, 307}}}},
    {2, 0, {{{10355, 31142.741, 92.2776, 1808, 87}, {10698, 31726.761, 105.5796, 1729, 72}, {2040, 28950.443, 106.4802, 1560, 87}}}},
};
// clang-format on

// Half of the last digit that the specification gives.
constexpr double kSumTolerance = 0.0005 + 1e-6;
constexpr double kHighestTolerance = 0.00005 + 1e-6;

class SampleFile : public testing::TestWithParam<EventNumbers> {
 protected:
  void SetUp() override { COSMIC_NEEDS_SAMPLE_FILE(); }
};

template <class Values>
std::int64_t count_of(const Values& values, Label label) {
  using Value = typename Values::value_type;
  return std::count(values.begin(), values.end(), static_cast<Value>(label));
}

TEST_P(SampleFile, downsampled_has_the_numbers_of_the_specification) {
  const larcv::LarcvSource source(
      {.files = {larcv::kSampleFile}, .labels = larcv::LabelUse::required});
  SparseEvent event;
  source.reader()->read(GetParam().event, event);
  Downsampler downsampler(source.meta(), GetParam().downsample);
  for (std::size_t plane = 0; plane < 3; ++plane) {
    SCOPED_TRACE("plane " + std::to_string(plane));
    const PlaneNumbers& expected = GetParam().planes[plane];
    SparsePlane image;
    downsampler.downsample(event.image[plane], Pooling::average, image);
    EXPECT_EQ(static_cast<std::int64_t>(image.ids.size()), expected.pixels);
    EXPECT_NEAR(std::accumulate(image.values.begin(), image.values.end(), 0.0), expected.sum,
                kSumTolerance);
    EXPECT_NEAR(*std::max_element(image.values.begin(), image.values.end()), expected.highest,
                kHighestTolerance);
    SparsePlane labels;
    downsampler.downsample(event.labels[plane], Pooling::maximum, labels);
    EXPECT_EQ(labels.ids, image.ids);
    EXPECT_EQ(count_of(labels.values, Label::cosmic), expected.cosmic);
    EXPECT_EQ(count_of(labels.values, Label::neutrino), expected.neutrino);
  }
}

TEST_P(SampleFile, loaded_as_a_batch_has_the_numbers_of_the_specification) {
  const larcv::LarcvSource source(
      {.files = {larcv::kSampleFile}, .labels = larcv::LabelUse::required});
  LoaderOptions options;
  options.order = {.kind = OrderKind::serial_access, .start_index = GetParam().event};
  const EventSamples samples(source, {.dense = {.downsample = GetParam().downsample}});
  BatchLoader loader(samples, options);
  const Batch& batch = *loader.next();
  const std::size_t pixels = samples.shape().plane_pixels();
  for (std::size_t plane = 0; plane < 3; ++plane) {
    SCOPED_TRACE("plane " + std::to_string(plane));
    const PlaneNumbers& expected = GetParam().planes[plane];
    const auto charge = batch.images.subspan(plane * pixels, pixels);
    const auto zeros = std::count(charge.begin(), charge.end(), 0.0F);
    EXPECT_EQ(static_cast<std::int64_t>(pixels) - zeros, expected.pixels);
    EXPECT_NEAR(std::accumulate(charge.begin(), charge.end(), 0.0), expected.sum, kSumTolerance);
    const auto labels = batch.labels.subspan(plane * pixels, pixels);
    EXPECT_EQ(count_of(labels, Label::cosmic), expected.cosmic);
    EXPECT_EQ(count_of(labels, Label::neutrino), expected.neutrino);
  }
}

TEST_P(SampleFile, loaded_as_pixels_is_the_image_bit_by_bit) {
  const larcv::LarcvSource source(
      {.files = {larcv::kSampleFile}, .labels = larcv::LabelUse::required});
  SparseEvent event;
  source.reader()->read(GetParam().event, event);
  const DenseOptions options{.downsample = GetParam().downsample};
  EventPixels pixels;
  PixelConverter(source.meta(), options).convert(event, pixels);
  expect_same_image(pixels, event, options);
}

INSTANTIATE_TEST_SUITE_P(Events, SampleFile, testing::ValuesIn(kExpected), [](const auto& test) {
  return "downsample_" + std::to_string(test.param.downsample) + "_event_" +
         std::to_string(test.param.event);
});

}  // namespace
}  // namespace cosmic::data
