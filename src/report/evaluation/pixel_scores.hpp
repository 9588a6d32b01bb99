// The neutrino probabilities of all pixels with charge, as a histogram: fine enough to choose a
// threshold by, and to see whether a probability of 70 % means 70 %.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/byte_reader.hpp"
#include "core/byte_writer.hpp"
#include "data/event.hpp"

namespace cosmic::report::evaluation {

/// Equal parts of [0, 1] that reports measure calibration with.
inline constexpr std::size_t kCalibrationGroups = 20;

class PixelScores {
 public:
  static constexpr std::size_t kBins = 200;

  /// Probabilities of one event, with the true classes as [3, rows, columns].
  void add(const data::SparseImage& neutrino_probabilities, std::span<const std::uint8_t> labels);
  PixelScores& operator+=(const PixelScores& other);

  /// As bytes, and back.
  void put(ByteWriter& to) const;
  static PixelScores taken(ByteReader& from);

  std::int64_t neutrinos() const;
  std::int64_t pixels() const;

  /// What is called neutrino above a threshold.
  struct AtThreshold {
    double threshold = 0;
    double efficiency = 0;  ///< NaN without neutrino pixels
    double purity = 0;      ///< NaN where nothing is called so
  };
  std::vector<AtThreshold> threshold_scan() const;

  /// Pixels with about the same probability.
  struct Calibration {
    double mean_probability = 0;
    std::int64_t pixels = 0;
    std::int64_t neutrinos = 0;
  };
  /// Those with pixels, of `groups` equal parts of [0, 1].
  std::vector<Calibration> calibration(std::size_t groups) const;
  /// Mean distance of probability and truth over such groups, weighted by pixels: the expected
  /// calibration error. NaN without pixels.
  double calibration_error(std::size_t groups) const;

 private:
  struct Bin {
    std::int64_t pixels = 0;
    std::int64_t neutrinos = 0;
    double sum = 0;  ///< of probabilities
  };
  std::array<Bin, kBins> bins_{};
};

}  // namespace cosmic::report::evaluation
