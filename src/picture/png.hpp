// Pictures in PNG, 8 bits a sample.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace cosmic::picture {

enum class PngColor { grey, rgb };

/// Samples row by row, for each pixel one (grey) or three (red, green, blue).
struct PngSource {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  PngColor color = PngColor::grey;
  std::span<const std::uint8_t> samples = {};
};

/// The bytes of a PNG file.
std::string encode_png(const PngSource& picture);

}  // namespace cosmic::picture
