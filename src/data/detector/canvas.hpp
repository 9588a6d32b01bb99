// One plane's image while an event is drawn: dense, so that charge adds up at once, with a bit for
// every pixel that was touched, so that reading and clearing visit those alone, in order of id.
#pragma once

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

  /// The pixel, touched from now on.
  Pixel& touch(std::int64_t column, std::int64_t row) {
    const std::size_t id = id_of(column, row);
    touched_[id / kWord] |= std::uint64_t{1} << (id % kWord);
    return pixels_[place_of(column, row)];
  }

  bool is_touched(std::int64_t column, std::int64_t row) const {
    const std::size_t id = id_of(column, row);
    return (touched_[id / kWord] >> (id % kWord) & 1) != 0;
  }

  /// Calls visit_pixel(column, row, pixel) for each touched pixel in order of id. If it returns
  /// false, the pixel is clear and untouched afterwards.
  template <class Visit>
  void visit(const Visit& visit_pixel) {
    std::size_t word = 0;
    for (std::int64_t column = 0; column < kColumns; ++column) {
      for (std::int64_t first = 0; first < kRows; first += kWord, ++word) {
        for (std::uint64_t left = touched_[word]; left != 0; left &= left - 1) {
          const int bit = std::countr_zero(left);
          Pixel& pixel = pixels_[place_of(column, first + bit)];
          if (!visit_pixel(column, first + bit, pixel)) {
            pixel = {};
            touched_[word] &= ~(std::uint64_t{1} << bit);
          }
        }
      }
    }
  }

 private:
  static constexpr std::int64_t kWord = 64;
  static_assert(kRows % kWord == 0);

  /// Pixels are kept in square tiles: a track touches neighbours, and a whole column between them
  /// would put every one on a page of its own.
  static constexpr std::int64_t kTile = 16;
  static_assert(kRows % kTile == 0 && kColumns % kTile == 0);

  static std::size_t place_of(std::int64_t column, std::int64_t row) {
    const std::int64_t tile = column / kTile * (kRows / kTile) + row / kTile;
    return static_cast<std::size_t>((tile * kTile + column % kTile) * kTile + row % kTile);
  }

  static constexpr std::size_t kPixels = static_cast<std::size_t>(kColumns * kRows);

  std::vector<Pixel> pixels_ = std::vector<Pixel>(kPixels);
  std::vector<std::uint64_t> touched_ = std::vector<std::uint64_t>(kPixels / kWord);
};

}  // namespace cosmic::data::detector
