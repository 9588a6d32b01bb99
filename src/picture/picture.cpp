#include "picture/picture.hpp"

namespace cosmic::picture {

Picture::Picture(std::int64_t row_count, std::int64_t column_count, Color fill)
    : rows(row_count),
      columns(column_count),
      pixels(static_cast<std::size_t>(row_count * column_count), fill) {}

Color& Picture::at(std::int64_t row, std::int64_t column) {
  return pixels.at(static_cast<std::size_t>(row * columns + column));
}

const Color& Picture::at(std::int64_t row, std::int64_t column) const {
  return pixels.at(static_cast<std::size_t>(row * columns + column));
}

}  // namespace cosmic::picture
