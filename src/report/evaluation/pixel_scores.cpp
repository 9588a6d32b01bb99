#include "report/evaluation/pixel_scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"

namespace cosmic::report::evaluation {
namespace {

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? std::numeric_limits<double>::quiet_NaN()
                    : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void PixelScores::add(const data::SparseImage& neutrino_probabilities,
                      std::span<const std::uint8_t> labels) {
  const std::size_t plane_pixels = labels.size() / neutrino_probabilities.size();
  for (std::size_t plane = 0; plane < neutrino_probabilities.size(); ++plane) {
    const data::SparsePlane& sparse = neutrino_probabilities[plane];
    const std::uint64_t rows = sparse.meta.rows();
    const std::uint64_t columns = sparse.meta.columns();
    COSMIC_ASSERT(rows * columns == plane_pixels);
    for (std::size_t i = 0; i < sparse.ids.size(); ++i) {
      const std::uint64_t at = sparse.ids[i] % rows * columns + sparse.ids[i] / rows;
      const double probability = sparse.values[i];
      Bin& bin = bins_[std::min(static_cast<std::size_t>(probability * kBins), kBins - 1)];
      ++bin.pixels;
      bin.neutrinos +=
          labels[plane * plane_pixels + at] == static_cast<std::uint8_t>(data::Label::neutrino) ? 1
                                                                                                : 0;
      bin.sum += probability;
    }
  }
}

PixelScores& PixelScores::operator+=(const PixelScores& other) {
  for (std::size_t i = 0; i < kBins; ++i) {
    bins_[i].pixels += other.bins_[i].pixels;
    bins_[i].neutrinos += other.bins_[i].neutrinos;
    bins_[i].sum += other.bins_[i].sum;
  }
  return *this;
}

// An event has pixels in few of the bins.
void PixelScores::put(ByteWriter& to) const {
  to.count(static_cast<std::size_t>(
      std::count_if(bins_.begin(), bins_.end(), [](const Bin& bin) { return bin.pixels > 0; })));
  for (std::size_t i = 0; i < kBins; ++i) {
    if (bins_[i].pixels > 0) {
      to.count(i);
      to.i64(bins_[i].pixels);
      to.i64(bins_[i].neutrinos);
      to.real(bins_[i].sum);
    }
  }
}

PixelScores PixelScores::taken(ByteReader& from) {
  PixelScores scores;
  const std::size_t count = from.count(sizeof(Bin));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t at = from.u64();
    from.require(at < kBins, "names a bin that is not there");
    Bin& bin = scores.bins_[at];
    bin.pixels = from.i64();
    bin.neutrinos = from.i64();
    bin.sum = from.real();
  }
  return scores;
}

std::int64_t PixelScores::neutrinos() const {
  std::int64_t sum = 0;
  for (const Bin& bin : bins_) {
    sum += bin.neutrinos;
  }
  return sum;
}

std::int64_t PixelScores::pixels() const {
  std::int64_t sum = 0;
  for (const Bin& bin : bins_) {
    sum += bin.pixels;
  }
  return sum;
}

std::vector<PixelScores::AtThreshold> PixelScores::threshold_scan() const {
  std::vector<AtThreshold> scan(kBins);
  const std::int64_t all = neutrinos();
  std::int64_t found = 0;
  std::int64_t called = 0;
  for (std::size_t bin = kBins; bin-- > 0;) {
    found += bins_[bin].neutrinos;
    called += bins_[bin].pixels;
    scan[bin] = {static_cast<double>(bin) / kBins, ratio(found, all), ratio(found, called)};
  }
  return scan;
}

std::vector<PixelScores::Calibration> PixelScores::calibration(std::size_t groups) const {
  COSMIC_ASSERT(groups > 0 && kBins % groups == 0);
  std::vector<Calibration> result;
  for (std::size_t group = 0; group < groups; ++group) {
    Calibration sum;
    const std::size_t width = kBins / groups;
    for (std::size_t bin = group * width; bin < (group + 1) * width; ++bin) {
      sum.pixels += bins_[bin].pixels;
      sum.neutrinos += bins_[bin].neutrinos;
      sum.mean_probability += bins_[bin].sum;
    }
    if (sum.pixels > 0) {
      sum.mean_probability /= static_cast<double>(sum.pixels);
      result.push_back(sum);
    }
  }
  return result;
}

double PixelScores::calibration_error(std::size_t groups) const {
  double sum = 0;
  for (const Calibration& group : calibration(groups)) {
    sum += std::abs(group.mean_probability * static_cast<double>(group.pixels) -
                    static_cast<double>(group.neutrinos));
  }
  const std::int64_t all = pixels();
  return all == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(all);
}

}  // namespace cosmic::report::evaluation
