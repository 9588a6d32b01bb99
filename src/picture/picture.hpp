// Small colour pictures of events: for the terminal, for PNG files and for pages.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace cosmic::picture {

struct Color {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  bool operator==(const Color&) const = default;
};

struct Picture {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<Color> pixels;

  Picture(std::int64_t row_count, std::int64_t column_count, Color fill = {});
  Color& at(std::int64_t row, std::int64_t column);
  const Color& at(std::int64_t row, std::int64_t column) const;
};

/// Grey, the brighter the more charge.
Picture draw_charge(std::span<const float> charge, std::int64_t rows, std::int64_t columns);
/// Background dark, cosmic blue, neutrino orange.
Picture draw_labels(std::span<const std::uint8_t> labels, std::int64_t rows, std::int64_t columns);

/// The smallest whole factor that makes it fit `columns`; of the pixels that become one, the
/// brightest is kept, because an average would lose thin tracks.
Picture shrink_to(const Picture& picture, std::int64_t columns);
Picture side_by_side(const std::vector<Picture>& pictures);
Picture stacked(const std::vector<Picture>& pictures);

/// Two rows per line of text, in 24-bit colours.
std::string to_terminal(const Picture& picture);
/// The bytes of a PNG file.
std::string encode_png(const Picture& picture);
/// Throws DataError if the file cannot be written.
void write_png(const std::filesystem::path& path, const Picture& picture);

}  // namespace cosmic::picture
