// Does a generated set look like the real one? Means over generated events must be within what the
// five events of the real sample span; docs/detector.md has the whole table.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <set>

#include "data/detector/detector_source.hpp"
#include "data/detector/quantile.hpp"
#include "data/larcv/larcv_source.hpp"

namespace cosmic::data::detector {
namespace {

constexpr std::int64_t kEvents = 100;
const std::filesystem::path kSample = "../shared/data/cosmic_tagging_light.h5";

/// What is compared, of one plane of one event.
enum Quantity {
  kPixels,
  kBackground,
  kCosmic,
  kNeutrino,
  kColumnsUsed,
  kRowsUsed,
  kChargeSum,
  kCosmicMedian,
  kCosmicHigh,
  kQuantities
};

constexpr std::array<const char*, kQuantities> kNames{
    "pixels",    "background pixels", "cosmic pixels", "neutrino pixels",     "columns used",
    "rows used", "sum of the charge", "cosmic median", "cosmic 90 % quantile"};

using Quantities = std::array<double, kQuantities>;

Quantities measure(const SparsePlane& image, const SparsePlane& labels) {
  Quantities result{};
  std::set<std::uint64_t> columns;
  std::set<std::uint64_t> rows;
  std::vector<float> cosmic;
  for (std::size_t i = 0; i < image.ids.size(); ++i) {
    columns.insert(image.ids[i] / kRows);
    rows.insert(image.ids[i] % kRows);
    result[kChargeSum] += static_cast<double>(image.values[i]);
    result[kBackground + static_cast<std::size_t>(labels.values[i])] += 1;
    if (labels.values[i] == 1) {
      cosmic.push_back(image.values[i]);
    }
  }
  result[kPixels] = static_cast<double>(image.ids.size());
  result[kColumnsUsed] = static_cast<double>(columns.size());
  result[kRowsUsed] = static_cast<double>(rows.size());
  result[kCosmicMedian] = quantile(cosmic, 0.5);
  result[kCosmicHigh] = quantile(cosmic, 0.9);
  return result;
}

struct Span {
  double least = std::numeric_limits<double>::max();
  double most = 0;
};

using Spans = std::array<std::array<Span, kQuantities>, kPlanes>;

/// Smallest and largest of the five events, from the real file (compare_with_sample.py prints
/// them); so that the test says something where the file is absent.
constexpr Spans kRealSpans{{
    {{{15775, 26961},
      {12958, 15194},
      {1820, 10074},
      {375, 2344},
      {1970, 1982},
      {1156, 1280},
      {196307, 661738},
      {34.3, 43.7},
      {71.6, 92.7}}},
    {{{16056, 26841},
      {13472, 15388},
      {1865, 9741},
      {305, 3597},
      {1965, 1984},
      {1233, 1280},
      {208468, 700599},
      {32.7, 64.9},
      {78.4, 125.5}}},
    {{{3066, 12336},
      {529, 2364},
      {1774, 8671},
      {360, 3827},
      {809, 1656},
      {816, 1187},
      {138005, 661995},
      {40.4, 66.0},
      {102.8, 165.6}}},
}};

using Means = std::array<Quantities, kPlanes>;

Means means_of(const EventSource& source, std::int64_t events) {
  Means means{};
  SparseEvent event;
  const auto reader = source.reader();
  for (std::int64_t entry = 0; entry < events; ++entry) {
    reader->read(entry, event);
    for (std::size_t plane = 0; plane < kPlanes; ++plane) {
      const Quantities one = measure(event.image[plane], event.labels[plane]);
      for (std::size_t q = 0; q < kQuantities; ++q) {
        means[plane][q] += one[q] / static_cast<double>(events);
      }
    }
  }
  return means;
}

TEST(DetectorStatistics, means_are_within_the_spread_of_the_real_sample) {
  const Means means = means_of(DetectorSource(kEvents, 1), kEvents);
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    for (std::size_t q = 0; q < kQuantities; ++q) {
      EXPECT_GE(means[plane][q], kRealSpans[plane][q].least) << kNames[q] << " of plane " << plane;
      EXPECT_LE(means[plane][q], kRealSpans[plane][q].most) << kNames[q] << " of plane " << plane;
    }
  }
}

TEST(DetectorStatistics, the_spread_of_the_real_sample_is_what_this_test_says) {
  if (!std::filesystem::exists(kSample)) {
    GTEST_SKIP() << kSample << " is absent";
  }
  const larcv::LarcvSource source({.files = {kSample}});
  Spans spans;
  SparseEvent event;
  const auto reader = source.reader();
  for (std::int64_t entry = 0; entry < source.size(); ++entry) {
    reader->read(entry, event);
    for (std::size_t plane = 0; plane < kPlanes; ++plane) {
      const Quantities one = measure(event.image[plane], event.labels[plane]);
      for (std::size_t q = 0; q < kQuantities; ++q) {
        spans[plane][q].least = std::min(spans[plane][q].least, one[q]);
        spans[plane][q].most = std::max(spans[plane][q].most, one[q]);
      }
    }
  }
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    for (std::size_t q = 0; q < kQuantities; ++q) {
      const Span& known = kRealSpans[plane][q];
      EXPECT_NEAR(spans[plane][q].least, known.least, 0.005 * known.least + 0.1) << kNames[q];
      EXPECT_NEAR(spans[plane][q].most, known.most, 0.005 * known.most + 0.1) << kNames[q];
    }
  }
}

}  // namespace
}  // namespace cosmic::data::detector
