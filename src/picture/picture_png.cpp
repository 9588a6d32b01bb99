#include "core/pending_file.hpp"
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

void write_png(const std::filesystem::path& path, const Picture& picture, Existing existing) {
  const std::string bytes = encode_png(picture);
  PendingFile file(path, existing);
  file.append(std::as_bytes(std::span(bytes)));
  file.commit();
}

}  // namespace cosmic::picture
