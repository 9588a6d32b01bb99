#include "api/stored_events.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"

namespace cosmic::api {
namespace {

void require_number(float charge, std::uint64_t row, std::uint64_t column,
                    const std::string& place) {
  COSMIC_REQUIRE(DataError, std::isfinite(charge),
                 place << " has the charge " << charge << " at row " << row << ", column " << column
                       << " (the network would spread it over the image); leave the pixel out, or "
                          "mend what made it");
}

}  // namespace

data::ImageMeta grid_of(std::uint32_t rows, std::uint32_t columns, std::size_t plane) {
  return {
      plane, {columns, rows}, {static_cast<double>(columns), static_cast<double>(rows)}, {0, 0}};
}

void OrderedPlane::write(const infer::StoredPixels& found, std::size_t number,
                         const WantedTags& wanted) const {
  const auto put = [&](const data::SparseImage& from, const auto& to) {
    using Element = typename std::remove_cvref_t<decltype(to)>::element_type;
    for (std::size_t i = 0; i < given.size() && !to.empty(); ++i) {
      to[given[i]] = static_cast<Element>(from[number].values[i]);
    }
  };
  put(found.tag, wanted.tag);
  put(found.cosmic, wanted.cosmic);
  put(found.neutrino, wanted.neutrino);
}

OrderedPlane ordered(const GivenPixels& pixels, const data::ImageMeta& grid,
                     const std::string& place) {
  const std::size_t count = pixels.charges.size();
  COSMIC_REQUIRE(DataError, pixels.rows.size() == count && pixels.columns.size() == count,
                 place << " has " << pixels.rows.size() << " rows, " << pixels.columns.size()
                       << " columns and " << count
                       << " charges (each pixel has one of each); give equally many");
  std::vector<std::uint64_t> ids(count);
  for (std::size_t i = 0; i < count; ++i) {
    COSMIC_REQUIRE(DataError, pixels.rows[i] < grid.rows() && pixels.columns[i] < grid.columns(),
                   place << " has a pixel at row " << pixels.rows[i] << ", column "
                         << pixels.columns[i] << " of an image of " << grid.rows() << " rows and "
                         << grid.columns()
                         << " columns (both count from 0); load the weights with the size of these "
                            "images");
    require_number(pixels.charges[i], pixels.rows[i], pixels.columns[i], place);
    ids[i] = pixels.columns[i] * grid.rows() + pixels.rows[i];
  }
  OrderedPlane result;
  result.plane.meta = grid;
  result.given.resize(count);
  std::iota(result.given.begin(), result.given.end(), std::size_t{0});
  if (!std::is_sorted(ids.begin(), ids.end())) {
    std::sort(result.given.begin(), result.given.end(),
              [&](std::size_t a, std::size_t b) { return ids[a] < ids[b]; });
  }
  result.plane.ids.reserve(count);
  result.plane.values.reserve(count);
  for (const std::size_t from : result.given) {
    COSMIC_REQUIRE(DataError, result.plane.ids.empty() || ids[from] != result.plane.ids.back(),
                   place << " has two pixels at row " << pixels.rows[from] << ", column "
                         << pixels.columns[from]
                         << " (one place has one charge); add them up before");
    result.plane.ids.push_back(ids[from]);
    result.plane.values.push_back(pixels.charges[from]);
  }
  return result;
}

data::SparsePlane stored(std::span<const float> charges, const data::ImageMeta& grid,
                         const std::string& place) {
  data::SparsePlane plane;
  plane.meta = grid;
  for (std::uint64_t column = 0; column < grid.columns(); ++column) {
    for (std::uint64_t row = 0; row < grid.rows(); ++row) {
      const float charge = charges[row * grid.columns() + column];
      if (charge != 0) {
        require_number(charge, row, column, place);
        plane.ids.push_back(column * grid.rows() + row);
        plane.values.push_back(charge);
      }
    }
  }
  return plane;
}

void write_dense(const infer::StoredPixels& found, std::size_t number, const WantedTags& wanted) {
  const auto put = [&](const data::SparseImage& from, const auto& to) {
    using Element = typename std::remove_cvref_t<decltype(to)>::element_type;
    std::fill(to.begin(), to.end(), Element{0});
    const data::SparsePlane& plane = from[number];
    for (std::size_t i = 0; i < plane.ids.size() && !to.empty(); ++i) {
      const std::uint64_t row = plane.ids[i] % plane.meta.rows();
      const std::uint64_t column = plane.ids[i] / plane.meta.rows();
      to[row * plane.meta.columns() + column] = static_cast<Element>(plane.values[i]);
    }
  };
  put(found.tag, wanted.tag);
  put(found.cosmic, wanted.cosmic);
  put(found.neutrino, wanted.neutrino);
}

}  // namespace cosmic::api
