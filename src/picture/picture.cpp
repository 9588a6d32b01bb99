#include "picture/picture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace cosmic::picture {
namespace {

constexpr Color kBackground{18, 18, 24};
constexpr Color kLine{70, 70, 80};
constexpr Color kLabelColors[] = {kBackground, {70, 140, 255}, {255, 150, 40}};
constexpr std::int64_t kGap = 2;

int brightness(const Color& color) {
  return color.red + color.green + color.blue;
}

void paste(const Picture& from, Picture& to, std::int64_t row, std::int64_t column) {
  for (std::int64_t r = 0; r < from.rows; ++r) {
    for (std::int64_t c = 0; c < from.columns; ++c) {
      to.at(row + r, column + c) = from.at(r, c);
    }
  }
}

}  // namespace

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

Picture draw_charge(std::span<const float> charge, std::int64_t rows, std::int64_t columns) {
  constexpr float kFullScale = 3;
  Picture picture(rows, columns, kBackground);
  for (std::size_t i = 0; i < picture.pixels.size(); ++i) {
    if (charge[i] > 0) {
      const float share = std::min(charge[i] / kFullScale, 1.0F);
      const auto grey = static_cast<std::uint8_t>(90 + std::lround(165 * share));
      picture.pixels[i] = {grey, grey, grey};
    }
  }
  return picture;
}

Picture draw_labels(std::span<const std::uint8_t> labels, std::int64_t rows, std::int64_t columns) {
  Picture picture(rows, columns);
  for (std::size_t i = 0; i < picture.pixels.size(); ++i) {
    picture.pixels[i] = kLabelColors[std::min<std::size_t>(labels[i], 2)];
  }
  return picture;
}

Picture shrink_to(const Picture& picture, std::int64_t columns) {
  const std::int64_t factor = (picture.columns + columns - 1) / columns;
  Picture small((picture.rows + factor - 1) / factor, (picture.columns + factor - 1) / factor);
  for (std::int64_t row = 0; row < picture.rows; ++row) {
    for (std::int64_t column = 0; column < picture.columns; ++column) {
      Color& kept = small.at(row / factor, column / factor);
      kept = std::max(kept, picture.at(row, column),
                      [](const Color& a, const Color& b) { return brightness(a) < brightness(b); });
    }
  }
  return small;
}

Picture side_by_side(const std::vector<Picture>& pictures) {
  std::int64_t rows = 0;
  std::int64_t columns = -kGap;
  for (const Picture& picture : pictures) {
    rows = std::max(rows, picture.rows);
    columns += picture.columns + kGap;
  }
  Picture all(rows, std::max<std::int64_t>(columns, 0), kLine);
  std::int64_t column = 0;
  for (const Picture& picture : pictures) {
    paste(picture, all, 0, column);
    column += picture.columns + kGap;
  }
  return all;
}

Picture stacked(const std::vector<Picture>& pictures) {
  std::int64_t columns = 0;
  std::int64_t rows = -kGap;
  for (const Picture& picture : pictures) {
    columns = std::max(columns, picture.columns);
    rows += picture.rows + kGap;
  }
  Picture all(std::max<std::int64_t>(rows, 0), columns, kLine);
  std::int64_t row = 0;
  for (const Picture& picture : pictures) {
    paste(picture, all, row, 0);
    row += picture.rows + kGap;
  }
  return all;
}

std::string to_terminal(const Picture& picture) {
  std::string text;
  for (std::int64_t row = 0; row < picture.rows; row += 2) {
    for (std::int64_t column = 0; column < picture.columns; ++column) {
      const Color& top = picture.at(row, column);
      const Color& bottom = picture.at(std::min(row + 1, picture.rows - 1), column);
      text += fmt::format("\033[38;2;{};{};{};48;2;{};{};{}m▀", top.red, top.green, top.blue,
                          bottom.red, bottom.green, bottom.blue);
    }
    text += "\033[0m\n";
  }
  return text;
}

}  // namespace cosmic::picture
