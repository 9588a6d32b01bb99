// PNG: a header, one zlib stream of filtered lines, an end; libdeflate has the stream and the
// checksums.
#include "picture/png.hpp"

#include <libdeflate.h>

#include <memory>
#include <new>

#include "core/error.hpp"

namespace cosmic::picture {
namespace {

// Pictures are written one at a time and kept for long.
constexpr int kDeflateLevel = 9;

void append_big_endian(std::string& to, std::uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) {
    to += static_cast<char>(value >> shift & 0xff);
  }
}

std::string chunk(const std::string& type, const std::string& data) {
  std::string result;
  append_big_endian(result, static_cast<std::uint32_t>(data.size()));
  const std::string checked = type + data;
  result += checked;
  append_big_endian(result, libdeflate_crc32(0, checked.data(), checked.size()));
  return result;
}

std::string zlib_stream(const std::string& data) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(kDeflateLevel), &libdeflate_free_compressor);
  if (compressor == nullptr) {
    throw std::bad_alloc();
  }
  std::string stream(libdeflate_zlib_compress_bound(compressor.get(), data.size()), '\0');
  stream.resize(libdeflate_zlib_compress(compressor.get(), data.data(), data.size(), stream.data(),
                                         stream.size()));
  return stream;
}

std::string header_of(const PngSource& picture) {
  std::string header;
  append_big_endian(header, static_cast<std::uint32_t>(picture.columns));
  append_big_endian(header, static_cast<std::uint32_t>(picture.rows));
  header += '\x08';  // bits a sample
  header += picture.color == PngColor::rgb ? '\x02' : '\x00';
  header += std::string(3, '\0');  // deflate, the five standard filters, no interlace
  return header;
}

}  // namespace

std::string encode_png(const PngSource& picture) {
  const std::int64_t line = picture.columns * (picture.color == PngColor::rgb ? 3 : 1);
  COSMIC_ASSERT(static_cast<std::int64_t>(picture.samples.size()) == picture.rows * line);
  std::string lines;
  lines.reserve(picture.samples.size() + static_cast<std::size_t>(picture.rows));
  for (std::int64_t row = 0; row < picture.rows; ++row) {
    lines += '\0';  // no filter: few colours and large even areas compress best as they are
    const auto samples = picture.samples.subspan(static_cast<std::size_t>(row * line),
                                                 static_cast<std::size_t>(line));
    lines.append(samples.begin(), samples.end());
  }
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header_of(picture)) +
         chunk("IDAT", zlib_stream(lines)) + chunk("IEND", "");
}

}  // namespace cosmic::picture
