#include "data/larcv/hdf5/attribute.hpp"

#include <utility>

#include "core/error.hpp"
#include "data/larcv/hdf5/advice.hpp"
#include "data/larcv/hdf5/block_reader.hpp"
#include "data/larcv/hdf5/unsupported.hpp"

namespace cosmic::data::larcv::hdf5 {
namespace {

constexpr unsigned kNewestVersion = 3;
constexpr std::size_t kMostDimensions = 32;  // HDF5's own limit
constexpr std::uint8_t kShared = 0x02;       // of a message

/// The parts of the oldest version are filled up to a multiple of eight bytes.
std::size_t stored_bytes(std::size_t bytes, unsigned version) {
  return version == 1 ? (bytes + 7) / 8 * 8 : bytes;
}

std::vector<std::uint64_t> read_extents(ByteReader space) {
  constexpr unsigned kNull = 2;
  const unsigned version = space.u8();
  const std::size_t dimensions = space.u8();
  space.skip(1);  // whether the largest extents follow
  const unsigned kind = space.u8();
  COSMIC_REQUIRE_SUPPORTED(version == 1 || (version == 2 && kind != kNull),
                           space.what() << " has no value, or a dataspace of version " << version
                                        << " (known are 1 and 2)");
  space.skip(version == 1 ? 4 : 0);
  COSMIC_REQUIRE(DataError, dimensions <= kMostDimensions,
                 space.what() << " has " << dimensions << " dimensions (HDF5 allows "
                              << kMostDimensions << "); " << kDamaged);
  std::vector<std::uint64_t> extents(dimensions);
  for (std::uint64_t& extent : extents) {
    extent = space.u64();
  }
  return extents;
}

/// Bytes of all values, if they are no more than `most`.
bool has_bytes(const Attribute& attribute, std::size_t most, std::size_t& bytes) {
  bytes = attribute.type.bytes;
  for (const std::uint64_t extent : attribute.extents) {
    if (extent != 0 && bytes > most / extent) {
      return false;
    }
    bytes *= static_cast<std::size_t>(extent);
  }
  return bytes <= most;
}

Attribute read_attribute(ByteReader cursor, std::string& name) {
  const unsigned version = cursor.u8();
  COSMIC_REQUIRE_SUPPORTED(version >= 1 && version <= kNewestVersion,
                           cursor.what() << " has an attribute of version " << version
                                         << " (known are 1 to " << kNewestVersion << ")");
  const unsigned shared = version == 1 ? 0 : cursor.u8();
  cursor.skip(version == 1 ? 1 : 0);
  const std::size_t name_bytes = cursor.u16();
  const std::size_t type_bytes = cursor.u16();
  const std::size_t space_bytes = cursor.u16();
  cursor.skip(version == 3 ? 1 : 0);  // the character set of the name
  ByteReader stored_name =
      block_reader(cursor.take(stored_bytes(name_bytes, version)), cursor.what());
  Attribute attribute;
  name = attribute.name = read_name(stored_name);
  ByteReader type = block_reader(cursor.take(stored_bytes(type_bytes, version)), cursor.what());
  ByteReader space = block_reader(cursor.take(stored_bytes(space_bytes, version)), cursor.what());
  COSMIC_REQUIRE_SUPPORTED(shared == 0, cursor.what() << " shares its type with other objects");
  attribute.type = read_datatype(type);
  attribute.extents = read_extents(space);
  std::size_t bytes = 0;
  COSMIC_REQUIRE(DataError, has_bytes(attribute, cursor.left(), bytes),
                 cursor.what() << " has the attribute '" << name
                               << "', whose values are not in the " << cursor.left()
                               << " bytes there are; " << kDamaged);
  const auto values = cursor.take(bytes);
  attribute.values.assign(values.begin(), values.end());
  return attribute;
}

/// Many or large attributes are kept elsewhere.
bool keeps_some_elsewhere(const ObjectHeader& header) {
  if (!header.has(MessageType::attribute_info)) {
    return false;
  }
  ByteReader cursor = header.read(MessageType::attribute_info, "attributes");
  constexpr unsigned kHasOrder = 0x01;
  cursor.skip(1);  // the version
  cursor.skip((cursor.u8() & kHasOrder) != 0 ? 2 : 0);
  return cursor.u64() != kNoAddress;
}

}  // namespace

std::vector<Attribute> read_attributes(const ObjectHeader& header, std::vector<Skipped>& skipped) {
  std::vector<Attribute> attributes;
  for (const Message& message : header.messages()) {
    if (message.type != MessageType::attribute) {
      continue;
    }
    std::string name = "without a readable name";
    try {
      COSMIC_REQUIRE_SUPPORTED((message.flags & kShared) == 0,
                               header.what() << " shares an attribute with other objects");
      attributes.push_back(read_attribute(block_reader(message.body, header.what()), name));
    } catch (const Unsupported& error) {
      skipped.push_back({"attribute '" + name + "' of " + header.what(), error.what()});
    }
  }
  if (keeps_some_elsewhere(header)) {
    skipped.push_back({"attributes of " + header.what(), "they are kept in a fractal heap"});
  }
  return attributes;
}

}  // namespace cosmic::data::larcv::hdf5
