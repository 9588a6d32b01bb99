// PNG without compression: the few pictures written here are small, and a zlib stream of stored
// blocks is valid PNG that needs no library.
#include <algorithm>
#include <array>
#include <fstream>

#include "cli/picture.hpp"
#include "core/error.hpp"

namespace cosmic::cli {
namespace {

void append_big_endian(std::string& to, std::uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) {
    to += static_cast<char>(value >> shift & 0xff);
  }
}

void append_little_endian(std::string& to, std::uint16_t value) {
  to += static_cast<char>(value & 0xff);
  to += static_cast<char>(value >> 8);
}

std::uint32_t crc32(const std::string& bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320U : 0U);
    }
  }
  return ~crc;
}

std::uint32_t adler32(const std::string& bytes) {
  constexpr std::uint32_t kModulus = 65521;
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char byte : bytes) {
    a = (a + static_cast<unsigned char>(byte)) % kModulus;
    b = (b + a) % kModulus;
  }
  return b << 16 | a;
}

std::string chunk(const std::string& type, const std::string& data) {
  std::string result;
  append_big_endian(result, static_cast<std::uint32_t>(data.size()));
  result += type + data;
  append_big_endian(result, crc32(type + data));
  return result;
}

std::string zlib_stored(const std::string& data) {
  constexpr std::size_t kMaxBlock = 65535;
  std::string stream("\x78\x01", 2);
  std::size_t at = 0;
  do {
    const std::size_t size = std::min(kMaxBlock, data.size() - at);
    stream += at + size == data.size() ? '\x01' : '\x00';  // the last block?
    append_little_endian(stream, static_cast<std::uint16_t>(size));
    append_little_endian(stream, static_cast<std::uint16_t>(~size));
    stream += data.substr(at, size);
    at += size;
  } while (at < data.size());
  append_big_endian(stream, adler32(data));
  return stream;
}

}  // namespace

void write_png(const std::filesystem::path& path, const Picture& picture) {
  std::string header;
  append_big_endian(header, static_cast<std::uint32_t>(picture.columns));
  append_big_endian(header, static_cast<std::uint32_t>(picture.rows));
  header += std::string("\x08\x02\x00\x00\x00", 5);  // 8 bits, RGB, no interlace
  std::string lines;
  for (std::int64_t row = 0; row < picture.rows; ++row) {
    lines += '\0';  // no filter
    for (std::int64_t column = 0; column < picture.columns; ++column) {
      const Color& color = picture.at(row, column);
      for (const std::uint8_t part : {color.red, color.green, color.blue}) {
        lines += static_cast<char>(part);
      }
    }
  }
  std::ofstream file(path, std::ios::binary);
  file << "\x89PNG\r\n\x1a\n"
       << chunk("IHDR", header) << chunk("IDAT", zlib_stored(lines)) << chunk("IEND", "");
  file.close();
  COSMIC_REQUIRE(DataError, file.good(),
                 path.string() << ": the picture cannot be written (no such folder, no right to "
                                  "write, or no space); name another file");
}

}  // namespace cosmic::cli
