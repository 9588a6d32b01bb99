// One plane's image while an event is drawn: dense, so that charge adds up at once, with a bit for
// every pixel that was touched, so that reading and clearing visit those alone, in order of id.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "data/detector/geometry.hpp"

namespace cosmic::data::detector {

class Canvas {
 public:
  struct Pixel {
    float charge = 0;
    std::array<float, 2> truth{};  ///< undisturbed charge of cosmic rays and of the neutrino
  };

  static std::size_t id_of(std::int64_t column, std::int64_t row) {
    return static_cast<std::size_t>(column * kRows + row);
  }

  /// Calls add(row, pixel) for the rows [begin, end) of a column, a few at most; they are touched
  /// from now on.
  template <class Add>
  void touch(std::int64_t column, std::int64_t begin, std::int64_t end, const Add& add) {
    for (std::int64_t row = begin; row < end;) {
      const std::int64_t end_in_tile = std::min(end, (row / kTile + 1) * kTile);
      const std::size_t id = id_of(column, row);
      const std::uint64_t bits = (std::uint64_t{1} << (end_in_tile - row)) - 1;
      touched_[id / kWord] |= bits << (id % kWord);
      Pixel* pixel = &pixels_[place_of(column, row)];
      for (; row < end_in_tile; ++row, ++pixel) {
        add(row, *pixel);
      }
    }
  }

  /// Calls take_pixel(column, row, pixel) for each touched pixel in order of id, and clears it.
  template <class Take>
  void take(const Take& take_pixel) {
    std::size_t word = 0;
    for (std::int64_t column = 0; column < kColumns; ++column) {
      for (std::int64_t first = 0; first < kRows; first += kWord, ++word) {
        for (std::uint64_t left = touched_[word]; left != 0; left &= left - 1) {
          const std::int64_t row = first + std::countr_zero(left);
          Pixel& pixel = pixels_[place_of(column, row)];
          take_pixel(column, row, pixel);
          pixel = {};
        }
        touched_[word] = 0;
      }
    }
  }

 private:
  static constexpr std::int64_t kWord = 64;
  static_assert(kRows % kWord == 0);

  /// Pixels are kept in square tiles: a track touches neighbours, and a whole column between them
  /// would put every one on a page of its own.
  static constexpr std::int64_t kTile = 16;
  static_assert(kRows % kTile == 0 && kColumns % kTile == 0 && kWord % kTile == 0);

  static std::size_t place_of(std::int64_t column, std::int64_t row) {
    constexpr std::size_t kSide = kTile;  // unsigned, so that a division is a shift
    const auto c = static_cast<std::size_t>(column);
    const auto r = static_cast<std::size_t>(row);
    const std::size_t tile = c / kSide * (kRows / kTile) + r / kSide;
    return (tile * kSide + c % kSide) * kSide + r % kSide;
  }

  static constexpr std::size_t kPixels = static_cast<std::size_t>(kColumns * kRows);

  std::vector<Pixel> pixels_ = std::vector<Pixel>(kPixels);
  std::vector<std::uint64_t> touched_ = std::vector<std::uint64_t>(kPixels / kWord);
};

}  // namespace cosmic::data::detector
