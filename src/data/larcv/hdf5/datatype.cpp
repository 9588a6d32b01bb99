#include "data/larcv/hdf5/datatype.hpp"

#include <array>
#include <functional>
#include <numeric>

#include "core/error.hpp"
#include "data/larcv/hdf5/advice.hpp"
#include "data/larcv/hdf5/block_reader.hpp"
#include "data/larcv/hdf5/unsupported.hpp"

namespace cosmic::data::larcv::hdf5 {
namespace {

// A particle holds points that hold numbers; arrays add one.
constexpr int kMaxDepth = 4;
constexpr std::size_t kMaxRowBytes = 1 << 16;
constexpr unsigned kNewestVersion = 3;
constexpr const char* kClassNames[] = {
    "integer",   "real number",     "time",     "text",
    "bit field", "opaque",          "compound", "object reference",
    "enum",      "variable-length", "array"};

Datatype read(ByteReader& cursor, int depth);

void read_integer(ByteReader& cursor, std::uint32_t flags, Datatype& type) {
  type.big_endian = (flags & 1) != 0;
  type.is_signed = (flags & 8) != 0;
  const unsigned offset = cursor.u16();
  const unsigned bits = cursor.u16();
  const std::size_t bytes = type.bytes;
  COSMIC_REQUIRE(
      DataError,
      (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) && offset == 0 && bits == bytes * 8,
      cursor.what() << " has integers of " << bits << " bits in " << bytes
                    << " bytes (8, 16, 32 or 64 bits can be read); " << kDamaged);
}

void read_real(ByteReader& cursor, std::uint32_t flags, Datatype& type) {
  /// Where IEEE 754 puts sign, exponent and mantissa.
  struct Form {
    unsigned sign, bits, exponent_at, exponent_bits, mantissa_bits;
    std::uint32_t bias;
    bool operator==(const Form&) const = default;
  };
  constexpr Form kSingle{31, 32, 23, 8, 23, 127};
  constexpr Form kDouble{63, 64, 52, 11, 52, 1023};
  type.big_endian = (flags & 1) != 0;
  const bool vax = (flags & 0x40) != 0;
  Form form{};
  form.sign = (flags >> 8) & 0xff;
  const unsigned offset = cursor.u16();
  form.bits = cursor.u16();
  form.exponent_at = cursor.u8();
  form.exponent_bits = cursor.u8();
  const unsigned mantissa_at = cursor.u8();
  form.mantissa_bits = cursor.u8();
  form.bias = cursor.u32();
  COSMIC_REQUIRE(DataError,
                 !vax && offset == 0 && mantissa_at == 0 && type.bytes * 8 == form.bits &&
                     (form == kSingle || form == kDouble),
                 cursor.what() << " has real numbers of " << form.bits << " bits in " << type.bytes
                               << " bytes (IEEE single and double precision can be read); "
                               << kDamaged);
}

std::vector<std::size_t> read_extents_of_array(ByteReader& cursor, std::size_t dimensions) {
  std::vector<std::size_t> extents;
  std::size_t count = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::size_t extent = cursor.u32();
    COSMIC_REQUIRE(DataError,
                   extent > 0 && extent <= kMaxRowBytes && count <= kMaxRowBytes / extent,
                   cursor.what() << " has a member that is an array of extent " << extent
                                 << " (more than a row of " << kMaxRowBytes
                                 << " bytes can hold, or nothing); " << kDamaged);
    count *= extent;
    extents.push_back(extent);
  }
  return extents;
}

std::size_t product(const std::vector<std::size_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::size_t{1}, std::multiplies<>());
}

Datatype array_of(Datatype element, std::vector<std::size_t> extents, std::size_t bytes,
                  const ByteReader& cursor) {
  const std::size_t count = product(extents);
  COSMIC_REQUIRE(DataError, bytes == count * element.bytes,
                 cursor.what() << " has an array of " << count << " elements of " << element.bytes
                               << " bytes in " << bytes << " bytes; " << kDamaged);
  Datatype type;
  type.type = TypeClass::array;
  type.bytes = bytes;
  type.count = count;
  type.extents = std::move(extents);
  type.element.push_back(std::move(element));
  return type;
}

/// Names are filled up with NULs to a multiple of eight bytes before version 3.
std::string read_member_name(ByteReader& cursor, unsigned version) {
  const std::size_t start = cursor.position();
  std::string name = read_name(cursor);
  if (version < 3) {
    const std::size_t used = cursor.position() - start;
    cursor.skip((8 - used % 8) % 8);
  }
  return name;
}

/// An offset has as many bytes as the size of the compound needs, from version 3 on.
std::size_t offset_bytes(unsigned version, std::size_t compound_bytes) {
  std::size_t bytes = 4;
  if (version >= 3) {
    bytes = 1;
    while (bytes < 4 && compound_bytes >> (8 * bytes) != 0) {
      ++bytes;
    }
  }
  return bytes;
}

void read_compound(ByteReader& cursor, unsigned version, std::size_t members, int depth,
                   Datatype& type) {
  for (std::size_t i = 0; i < members; ++i) {
    MemberType member;
    member.name = read_member_name(cursor, version);
    member.offset = static_cast<std::size_t>(cursor.unsigned_of(offset_bytes(version, type.bytes)));
    std::vector<std::size_t> extents;
    if (version == 1) {
      // Before there were array types, a member could have up to four dimensions.
      const std::size_t dimensions = cursor.u8();
      COSMIC_REQUIRE(DataError, dimensions <= 4,
                     cursor.what()
                         << " has a member of " << dimensions << " dimensions; " << kDamaged);
      cursor.skip(11);  // reserved, and a permutation that was never used
      ByteReader stored = block_reader(cursor.take(16), cursor.what());
      extents = read_extents_of_array(stored, dimensions);
    }
    member.type = read(cursor, depth + 1);
    if (product(extents) > 1) {
      const std::size_t bytes = product(extents) * member.type.bytes;
      member.type = array_of(std::move(member.type), std::move(extents), bytes, cursor);
    }
    COSMIC_REQUIRE(DataError,
                   member.offset <= type.bytes && member.type.bytes <= type.bytes - member.offset,
                   cursor.what() << " has a member '" << member.name << "' of " << member.type.bytes
                                 << " bytes at byte " << member.offset << " of rows of "
                                 << type.bytes << " bytes; " << kDamaged);
    type.members.push_back(std::move(member));
  }
}

Datatype read(ByteReader& cursor, int depth) {
  COSMIC_REQUIRE(
      DataError, depth < kMaxDepth,
      cursor.what() << " has types nested more than " << kMaxDepth << " deep; " << kDamaged);
  const unsigned head = cursor.u8();
  const unsigned version = head >> 4;
  const unsigned type_class = head & 0xf;
  const auto flags = static_cast<std::uint32_t>(cursor.unsigned_of(3));
  Datatype type;
  type.bytes = cursor.u32();
  COSMIC_REQUIRE_SUPPORTED(version >= 1 && version <= kNewestVersion,
                           cursor.what()
                               << " has a type of version " << version << " (known are 1 to "
                               << kNewestVersion << "); " << kRepack);
  COSMIC_REQUIRE(DataError, type.bytes > 0 && type.bytes <= kMaxRowBytes,
                 cursor.what() << " has values of " << type.bytes << " bytes (1 to " << kMaxRowBytes
                               << " are sensible); " << kDamaged);
  switch (type_class) {
    case 0:
      type.type = TypeClass::integer;
      read_integer(cursor, flags, type);
      return type;
    case 1:
      type.type = TypeClass::real;
      read_real(cursor, flags, type);
      return type;
    case 3:
      type.type = TypeClass::text;
      type.padding = flags & 0xf;
      type.character_set = flags >> 4 & 0xf;
      return type;
    case 6:
      type.type = TypeClass::compound;
      read_compound(cursor, version, flags & 0xffff, depth, type);
      return type;
    case 10: {
      const std::size_t dimensions = cursor.u8();
      cursor.skip(version < 3 ? 3 : 0);
      std::vector<std::size_t> extents = read_extents_of_array(cursor, dimensions);
      cursor.skip(version < 3 ? dimensions * 4 : 0);  // a permutation that was never used
      return array_of(read(cursor, depth + 1), std::move(extents), type.bytes, cursor);
    }
    default:
      throw Unsupported(
          cursor.what() + " holds values of the type '" +
          (type_class < std::size(kClassNames) ? kClassNames[type_class] : "unknown") +
          "' (no larcv3 table does); was it made by larcv3?");
  }
}

}  // namespace

std::string to_string(TypeClass type) {
  switch (type) {
    case TypeClass::integer:
      return "integer";
    case TypeClass::real:
      return "real number";
    case TypeClass::text:
      return "text";
    case TypeClass::compound:
      return "compound";
    case TypeClass::array:
      return "array";
  }
  throw InternalError("a type class without a name");
}

Datatype read_datatype(ByteReader& cursor) {
  return read(cursor, 0);
}

}  // namespace cosmic::data::larcv::hdf5
