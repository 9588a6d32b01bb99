// An event as a network sees it, without the pixels that are zero: the dense image of
// dense_image.hpp, of which less than a tenth has anything to say, as places and values. What
// travels to a machine that can put them in place itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/dense_image.hpp"
#include "data/downsample.hpp"
#include "data/event.hpp"

namespace cosmic::data {

/// Places in a dense [3, rows, columns], ascending, each with its value; all others are zero.
template <class Value>
struct PixelList {
  std::vector<std::int32_t> places;
  std::vector<Value> values;

  /// Empties it and keeps the memory.
  void clear() {
    places.clear();
    values.clear();
  }
  void add(std::int32_t place, Value value) {
    places.push_back(place);
    values.push_back(value);
  }
};

struct EventPixels {
  PixelList<float> charge;
  PixelList<std::uint8_t> label;  ///< those that are background are left out

  void clear() {
    charge.clear();
    label.clear();
  }
};

/// Turns sparse events of one grid into lists of pixels: put in place, they are the dense image
/// that a DenseConverter with these options makes, bit by bit. It keeps its memory, so it belongs
/// to one thread.
class PixelConverter {
 public:
  PixelConverter(const ImageMeta& grid, const DenseOptions& options);

  const DenseShape& shape() const { return shape_; }
  /// Replaces what `pixels` holds, reusing its memory. Throws as DenseConverter::convert does.
  void convert(const SparseEvent& event, EventPixels& pixels);

 private:
  /// Stored pixels come column by column, images are row by row. Counts the pixels of each row
  /// first, so that each then goes to its place at once.
  void gather(const SparsePlane& stored, Pooling pooling);
  void sort_by_row();

  DenseOptions options_;
  Downsampler downsampler_;
  DenseShape shape_;

  // Of the plane that is being converted.
  std::vector<std::uint32_t> rows_;          ///< as stored
  std::vector<std::int32_t> places_;         ///< in the plane, as stored
  std::vector<float> values_;                ///< as stored
  std::vector<std::size_t> begins_;          ///< of each row, and then of what is still free of it
  std::vector<std::int32_t> sorted_places_;  ///< by row and column
  std::vector<float> sorted_values_;
};

}  // namespace cosmic::data
