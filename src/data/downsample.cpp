#include "data/downsample.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.hpp"

namespace cosmic::data {
namespace {

constexpr int kMostHalvings = 30;  // far more than any image bears, and no shift overflows

}  // namespace

ImageMeta downsampled(const ImageMeta& grid, int downsample) {
  COSMIC_REQUIRE(
      UserError, downsample >= 0 && downsample <= kMostHalvings,
      "downsample is " << downsample << " (the number of times both axes are halved, 0 to "
                       << kMostHalvings << "); choose 0 for full resolution, 1 for half");
  const std::uint64_t side = std::uint64_t{1} << downsample;
  COSMIC_REQUIRE(
      UserError, grid.columns() % side == 0 && grid.rows() % side == 0,
      "downsample is " << downsample << ", but images have " << grid.rows() << " rows and "
                       << grid.columns() << " columns (both must be multiples of " << side
                       << ", or pixels at the edge would be lost); choose a smaller one");
  ImageMeta result = grid;
  result.pixels = {grid.columns() / side, grid.rows() / side};
  return result;
}

Downsampler::Downsampler(const ImageMeta& grid, int downsample)
    : grid_(grid),
      result_grid_(downsampled(grid, downsample)),
      halvings_(downsample),
      pixel_share_(std::ldexp(1.0F, -2 * downsample)),
      blocks_(result_grid_.rows()),
      filled_((result_grid_.rows() + kWordBits - 1) / kWordBits) {
  COSMIC_REQUIRE(DataError, grid.rows() > 0 && grid.columns() > 0,
                 "images have " << grid.rows() << " rows and " << grid.columns()
                                << " columns (there is nothing to downsample); check the file with "
                                   "`cosmictagger data check`");
}

void Downsampler::downsample(const SparsePlane& plane, Pooling pooling, SparsePlane& result) {
  result.clear();
  result.meta = result_grid_;
  result.meta.projection = plane.meta.projection;
  const std::uint64_t rows = result_grid_.rows();
  for_each_pixel(plane, pooling, [&](std::uint64_t column, std::uint64_t row, float value) {
    result.ids.push_back(column * rows + row);
    result.values.push_back(value);
  });
}

void Downsampler::require_on_grid(const SparsePlane& plane) const {
  COSMIC_REQUIRE(DataError, plane.values.size() == plane.ids.size(),
                 "plane " << plane.meta.projection << " has " << plane.ids.size() << " pixels and "
                          << plane.values.size()
                          << " values (each pixel has one); check the file with "
                             "`cosmictagger data check`");
  COSMIC_REQUIRE(DataError, plane.ids.empty() || plane.meta.pixels == grid_.pixels,
                 "plane " << plane.meta.projection << " has " << plane.meta.rows() << " rows and "
                          << plane.meta.columns() << " columns where " << grid_.rows() << " and "
                          << grid_.columns()
                          << " are expected (all events of a batch must have the same size); keep "
                             "events of another size in a separate file");
}

void Downsampler::forget_blocks() {
  std::fill(blocks_.begin(), blocks_.end(), 0.0F);
  std::fill(filled_.begin(), filled_.end(), 0);
}

void Downsampler::ColumnCursor::throw_misplaced(std::uint64_t id) const {
  COSMIC_REQUIRE(DataError, id / rows_ < columns_,
                 "pixel id " << id << " is outside an image of " << rows_ << " rows and "
                             << columns_ << " columns (ids end at " << rows_ * columns_ - 1
                             << "); check the file with `cosmictagger data check`");
  throw DataError(
      "pixel id " + std::to_string(id) +
      " follows one of a later column (stored pixels are in ascending order); check the "
      "file with `cosmictagger data check`");
}

}  // namespace cosmic::data
