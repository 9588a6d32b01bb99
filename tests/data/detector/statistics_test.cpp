// Does the generator make what it made, and does that look like the real sample? Means and spreads
// of a hundred events are held against those of a thousand others, in bands that follow from the
// spread itself; the five real events must be ones that this generator could have made.
// docs/detector.md has the whole comparison.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <string>
#include <vector>

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

/// Of a quantity over events: what a band around its mean and around its spread follows from.
struct Moments {
  double mean = 0;
  double deviation = 0;  ///< the standard one
  double kurtosis = 0;   ///< 3 for a normal distribution
};

using AllMoments = std::array<std::array<Moments, kQuantities>, kPlanes>;

/// Of kKnownEvents events of the generator:
///   cosmictagger generate --events 1000 --seed 77 --output many.h5
///   tests/data/detector/moments.py many.h5
constexpr double kKnownEvents = 1000;
constexpr AllMoments kKnown{{
    {{{23716.9, 4801, 3.7},
      {14482.4, 968.8, 3.93},
      {7966.9, 3897, 3.64},
      {1267.6, 965.8, 4.47},
      {1972.92, 7.891, 3.53},
      {1244.19, 35.28, 2.8},
      {523683, 1.911e+05, 7.02},
      {40.9445, 5.493, 7.54},
      {82.2198, 20.66, 28.4}}},
    {{{23725.8, 4678, 3.59},
      {14498.4, 932.5, 3.3},
      {7944.24, 3811, 3.66},
      {1283.15, 996.7, 5.03},
      {1973.29, 7.439, 3.72},
      {1245.99, 33.9, 3.37},
      {525315, 1.923e+05, 8.37},
      {40.994, 5.473, 7.92},
      {82.0523, 18.9, 25.6}}},
    {{{9201.75, 3753, 3.67},
      {1123.31, 428.6, 4.39},
      {6537.98, 3264, 3.79},
      {1540.46, 1209, 5},
      {1270.41, 271.9, 2.44},
      {1035.34, 187.9, 2.79},
      {493603, 2.083e+05, 7.57},
      {52.1562, 9.58, 13.9},
      {128.737, 40.82, 39.5}}},
}};

/// Two-sided bands of as many standard errors. A change that keeps the physics and draws other
/// random numbers leaves one of 54 bands of four standard errors with a probability of 0.3 % (54
/// * 6.3e-5, where means are normal).
constexpr double kOfGenerator = 4;
/// One of 27 of 3.6 with a probability of 1 % (27 * 3.2e-4), were the real events drawn like ours.
constexpr double kOfSample = 3.6;

/// Of each plane of some events, and the charges of their cosmic pixels.
struct Events {
  std::vector<std::array<Quantities, kPlanes>> quantities;
  std::vector<std::array<std::vector<float>, kPlanes>> cosmic_charges;
};

Events read_events(const EventSource& source, std::int64_t count) {
  Events events;
  SparseEvent event;
  const auto reader = source.reader();
  for (std::int64_t entry = 0; entry < count; ++entry) {
    reader->read(entry, event);
    auto& quantities = events.quantities.emplace_back();
    auto& charges = events.cosmic_charges.emplace_back();
    for (std::size_t plane = 0; plane < kPlanes; ++plane) {
      const SparsePlane& labels = event.labels[plane];
      quantities[plane] = measure(event.image[plane], labels);
      for (std::size_t i = 0; i < labels.values.size(); ++i) {
        if (labels.values[i] == static_cast<float>(Label::cosmic)) {
          charges[plane].push_back(event.image[plane].values[i]);
        }
      }
    }
  }
  return events;
}

/// Made once; all tests look at them.
const Events& generated() {
  static const Events events = read_events(DetectorSource(kEvents, 1), kEvents);
  return events;
}

Moments moments_of(const Events& events, std::size_t plane, std::size_t quantity) {
  const auto count = static_cast<double>(events.quantities.size());
  Moments moments;
  for (const auto& event : events.quantities) {
    moments.mean += event[plane][quantity] / count;
  }
  double square = 0;
  for (const auto& event : events.quantities) {
    const double difference = event[plane][quantity] - moments.mean;
    square += difference * difference;
  }
  moments.deviation = std::sqrt(square / (count - 1));
  return moments;
}

template <class Check>
void for_all_quantities(const Check& check) {
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    for (std::size_t q = 0; q < kQuantities; ++q) {
      SCOPED_TRACE(std::string(kNames[q]) + " of plane " + std::to_string(plane));
      check(plane, q);
    }
  }
}

TEST(DetectorStatistics, means_are_those_of_the_generator) {
  const double share_of_deviation = std::sqrt(1.0 / kEvents + 1 / kKnownEvents);
  for_all_quantities([&](std::size_t plane, std::size_t q) {
    const Moments& known = kKnown[plane][q];
    EXPECT_NEAR(moments_of(generated(), plane, q).mean, known.mean,
                kOfGenerator * known.deviation * share_of_deviation);
  });
}

// The relative standard error of a standard deviation is sqrt((kurtosis - 1) / 4n).
TEST(DetectorStatistics, spreads_are_those_of_the_generator) {
  for_all_quantities([&](std::size_t plane, std::size_t q) {
    const Moments& known = kKnown[plane][q];
    const double error = std::sqrt((known.kurtosis - 1) / 4 * (1.0 / kEvents + 1 / kKnownEvents));
    EXPECT_NEAR(moments_of(generated(), plane, q).deviation / known.deviation, 1,
                kOfGenerator * error);
  });
}

TEST(DetectorStatistics, means_are_within_the_spread_of_the_real_sample) {
  for_all_quantities([&](std::size_t plane, std::size_t q) {
    const double mean = moments_of(generated(), plane, q).mean;
    EXPECT_GE(mean, kRealSpans[plane][q].least);
    EXPECT_LE(mean, kRealSpans[plane][q].most);
  });
}

Events real_events() {
  const larcv::LarcvSource source({.files = {kSample}});
  return read_events(source, source.size());
}

TEST(DetectorStatistics, the_real_events_are_five_that_the_generator_could_have_made) {
  if (!std::filesystem::exists(kSample)) {
    GTEST_SKIP() << "needs " << kSample.string();
  }
  const Events real = real_events();
  const double count = static_cast<double>(real.quantities.size());
  for_all_quantities([&](std::size_t plane, std::size_t q) {
    const Moments& known = kKnown[plane][q];
    EXPECT_NEAR(moments_of(real, plane, q).mean, known.mean,
                kOfSample * known.deviation * std::sqrt(1 / count + 1 / kKnownEvents));
  });
}

/// Charges of the cosmic pixels of some of the events, in order.
std::vector<float> charges_of(const Events& events, std::size_t plane, std::size_t begin,
                              std::size_t end) {
  std::vector<float> charges;
  for (std::size_t i = begin; i < end; ++i) {
    const std::vector<float>& more = events.cosmic_charges[i][plane];
    charges.insert(charges.end(), more.begin(), more.end());
  }
  std::sort(charges.begin(), charges.end());
  return charges;
}

/// The largest difference between the shares of two samples that are below a value (Kolmogorov and
/// Smirnov's).
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  std::size_t in_b = 0;
  for (std::size_t in_a = 0; in_a < a.size(); ++in_a) {
    while (in_b < b.size() && b[in_b] <= a[in_a]) {
      ++in_b;
    }
    largest =
        std::max(largest, std::abs(static_cast<double>(in_a + 1) / static_cast<double>(a.size()) -
                                   static_cast<double>(in_b) / static_cast<double>(b.size())));
  }
  return largest;
}

// Pixels of a track are not independent, so tables of the distance's distribution do not hold.
// Twenty groups of five generated events say how far five events are from all: were the real ones
// drawn like ours, theirs would be the largest of 21 in one of 21 cases.
TEST(DetectorStatistics,
     charges_of_real_cosmic_pixels_are_distributed_like_those_of_five_generated_events) {
  if (!std::filesystem::exists(kSample)) {
    GTEST_SKIP() << "needs " << kSample.string();
  }
  const Events real = real_events();
  const std::size_t five = real.quantities.size();
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    const std::vector<float> all = charges_of(generated(), plane, 0, generated().quantities.size());
    double largest = 0;
    for (std::size_t group = 0; group + five <= generated().quantities.size(); group += five) {
      largest =
          std::max(largest, distance(charges_of(generated(), plane, group, group + five), all));
    }
    EXPECT_LE(distance(charges_of(real, plane, 0, five), all), largest) << "plane " << plane;
  }
}

TEST(DetectorStatistics, the_spread_of_the_real_sample_is_what_this_test_says) {
  if (!std::filesystem::exists(kSample)) {
    GTEST_SKIP() << "needs " << kSample.string();
  }
  const Events real = real_events();
  for_all_quantities([&](std::size_t plane, std::size_t q) {
    Span span;
    for (const auto& event : real.quantities) {
      span.least = std::min(span.least, event[plane][q]);
      span.most = std::max(span.most, event[plane][q]);
    }
    const Span& known = kRealSpans[plane][q];
    EXPECT_NEAR(span.least, known.least, 0.005 * known.least + 0.1);
    EXPECT_NEAR(span.most, known.most, 0.005 * known.most + 0.1);
  });
}

}  // namespace
}  // namespace cosmic::data::detector
