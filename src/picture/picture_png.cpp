#include <fstream>

#include "core/error.hpp"
#include "picture/picture.hpp"
#include "picture/png.hpp"

namespace cosmic::picture {

std::string encode_png(const Picture& picture) {
  std::vector<std::uint8_t> samples;
  samples.reserve(3 * picture.pixels.size());
  for (const Color& color : picture.pixels) {
    samples.insert(samples.end(), {color.red, color.green, color.blue});
  }
  return encode_png(PngSource{picture.rows, picture.columns, PngColor::rgb, samples});
}

void write_png(const std::filesystem::path& path, const Picture& picture) {
  std::ofstream file(path, std::ios::binary);
  file << encode_png(picture);
  file.close();
  COSMIC_REQUIRE(DataError, file.good(),
                 path.string() << ": the picture cannot be written (no such folder, no permission, "
                                  "or no space); name another file");
}

}  // namespace cosmic::picture
