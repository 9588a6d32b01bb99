// A colour picture, and PNG files of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/pending_file.hpp"

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

/// The bytes of a PNG file.
std::string encode_png(const Picture& picture);
/// Throws UserError if the file exists and may not be replaced, DataError if it cannot be written.
void write_png(const std::filesystem::path& path, const Picture& picture,
               Existing existing = Existing::refuse);

}  // namespace cosmic::picture
