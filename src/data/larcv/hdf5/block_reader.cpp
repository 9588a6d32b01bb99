#include "data/larcv/hdf5/block_reader.hpp"

#include <algorithm>

#include "data/larcv/hdf5/advice.hpp"

namespace cosmic::data::larcv::hdf5 {
namespace {

std::string checked_name(const ByteReader& reader, std::string_view name) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  reader.require(std::none_of(name.begin(), name.end(), is_control),
                 "has a name with control characters");
  return std::string(name);
}

void require_length(const ByteReader& reader, std::size_t length) {
  if (length > kMaxName) {
    reader.require(false, "has a name of more than " + std::to_string(kMaxName) + " bytes");
  }
}

}  // namespace

ByteReader block_reader(std::span<const std::byte> block, std::string_view what) {
  return {block, std::string(what), kDamaged};
}

void expect_signature(ByteReader& reader, std::string_view signature) {
  if (reader.text(signature.size()) != signature) {
    reader.require(false, "does not start with '" + std::string(signature) + "'");
  }
}

std::string read_name(ByteReader& reader) {
  const std::string_view name = reader.text_until('\0');
  require_length(reader, name.size());
  return checked_name(reader, name);
}

std::string read_name(ByteReader& reader, std::size_t length) {
  require_length(reader, length);
  return checked_name(reader, reader.text(length));
}

}  // namespace cosmic::data::larcv::hdf5
