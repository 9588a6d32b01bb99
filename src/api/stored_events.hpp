// Events as callers have them, and as they are stored: pixels in any order or dense images on one
// side, ascending ids on the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/event.hpp"
#include "infer/tagger.hpp"

namespace cosmic::api {

/// Rows and columns of each plane.
data::ImageMeta grid_of(std::uint32_t rows, std::uint32_t columns, std::size_t plane = 0);

/// The pixels of one plane of a caller.
struct GivenPixels {
  std::span<const std::uint32_t> rows;
  std::span<const std::uint32_t> columns;
  std::span<const float> charges;
};

/// Room for what is said about them; empty where nobody wants it.
struct WantedTags {
  std::span<std::uint8_t> tag;
  std::span<float> cosmic;
  std::span<float> neutrino;
};

/// A plane that was put in order, and the way back.
struct OrderedPlane {
  data::SparsePlane plane;
  std::vector<std::size_t> given;  ///< the place of each of its pixels among those of the caller

  void write(const infer::StoredPixels& found, std::size_t number, const WantedTags& wanted) const;
};

/// `place` says which plane it is, for messages: "event 3, plane 0". Throws DataError for pixels
/// outside of the grid, for a place that is there twice, and for charges that are no numbers.
OrderedPlane ordered(const GivenPixels& pixels, const data::ImageMeta& grid,
                     const std::string& place);

/// The pixels of a dense [rows, columns] image that are not zero. Throws DataError for charges that
/// are no numbers.
data::SparsePlane stored(std::span<const float> charges, const data::ImageMeta& grid,
                         const std::string& place);
/// What was found, in dense images; pixels that are not stored get 0.
void write_dense(const infer::StoredPixels& found, std::size_t number, const WantedTags& wanted);

}  // namespace cosmic::api
