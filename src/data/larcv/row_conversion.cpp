#include "data/larcv/row_conversion.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace cosmic::data::larcv {
namespace {

using hdf5::Datatype;
using hdf5::MemberType;
using hdf5::TypeClass;

constexpr const char* kAsLarcv3 =
    "larcv3 stores it so and finds it by its name; make the file again";

bool is_real(ValueType type) {
  return type == ValueType::f32 || type == ValueType::f64;
}

bool is_signed(ValueType type) {
  return type == ValueType::i16 || type == ValueType::i32 || type == ValueType::i64;
}

const MemberType* find_member(const Datatype& compound, std::string_view name) {
  const auto found = std::find_if(compound.members.begin(), compound.members.end(),
                                  [&](const MemberType& member) { return member.name == name; });
  return found != compound.members.end() ? &*found : nullptr;
}

const MemberType& member_of(const Datatype& compound, std::string_view name,
                            std::string_view what) {
  const MemberType* member = find_member(compound, name);
  COSMIC_REQUIRE(DataError, member != nullptr,
                 what << " has no member '" << name << "'; " << kAsLarcv3);
  return *member;
}

template <class T, class Stored>
void put_integer(Stored value, std::byte* to, std::string_view member) {
  COSMIC_REQUIRE(DataError, std::in_range<T>(value),
                 "member '" << member << "' has the value " << value << " (it does not fit the "
                            << sizeof(T) * 8 << " bits it is read into); make the file again");
  const T converted = static_cast<T>(value);
  std::memcpy(to, &converted, sizeof(T));
}

template <class Stored>
void put(Stored value, ValueType type, std::byte* to, std::string_view member) {
  switch (type) {
    case ValueType::u8:
      return put_integer<std::uint8_t>(value, to, member);
    case ValueType::u16:
      return put_integer<std::uint16_t>(value, to, member);
    case ValueType::i16:
      return put_integer<std::int16_t>(value, to, member);
    case ValueType::u32:
      return put_integer<std::uint32_t>(value, to, member);
    case ValueType::i32:
      return put_integer<std::int32_t>(value, to, member);
    case ValueType::u64:
      return put_integer<std::uint64_t>(value, to, member);
    case ValueType::i64:
      return put_integer<std::int64_t>(value, to, member);
    case ValueType::f32:
    case ValueType::f64:
    case ValueType::text:
    case ValueType::point:
      break;
  }
  throw InternalError("an integer is put into something else");
}

std::uint64_t load_bits(const std::byte* from, std::size_t bytes, bool big_endian) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::size_t at = big_endian ? bytes - 1 - i : i;
    bits |= std::to_integer<std::uint64_t>(from[at]) << (8 * i);
  }
  return bits;
}

std::int64_t extend_sign(std::uint64_t bits, std::size_t bytes) {
  const std::size_t unused = 64 - 8 * bytes;
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

double load_real(const std::byte* from, std::size_t bytes, bool big_endian) {
  const std::uint64_t bits = load_bits(from, bytes, big_endian);
  return bytes == sizeof(float) ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                                : std::bit_cast<double>(bits);
}

}  // namespace

RowConversion::RowConversion(const Datatype& from, const RecordType& to, std::string_view what)
    : from_bytes_(from.bytes), to_bytes_(to.bytes) {
  COSMIC_REQUIRE(DataError, from.type == TypeClass::compound,
                 what << " holds values of the type '" << to_string(from.type)
                      << "' (rows of the type '" << to.name << "' are expected); " << kAsLarcv3);
  for (const Member& member : to.members) {
    const MemberType& stored = member_of(from, member.name, what);
    add_member(stored.type, stored.offset, member, what);
  }
  is_copy_ =
      from_bytes_ == to_bytes_ && std::all_of(steps_.begin(), steps_.end(), [](const Step& step) {
        return step.from == step.to && step.from_bytes == step.to_bytes && !step.big_endian &&
               step.is_signed == larcv::is_signed(step.type);
      });
}

void RowConversion::add_member(const Datatype& from, std::size_t from_offset, const Member& to,
                               std::string_view what) {
  if (to.type == ValueType::point) {
    return add_point(from, from_offset, to, what);
  }
  if (to.type == ValueType::text || to.count == 1) {
    return add_value(from, from_offset, to, to.offset, what);
  }
  COSMIC_REQUIRE(DataError, from.type == TypeClass::array && from.count == to.count,
                 what << " has a member '" << to.name << "' of " << from.count << " value(s) ("
                      << to.count << " are expected); " << kAsLarcv3);
  const Datatype& element = from.element.front();
  for (std::size_t i = 0; i < to.count; ++i) {
    add_value(element, from_offset + i * element.bytes, to, to.offset + i * size_of(to.type), what);
  }
}

void RowConversion::add_point(const Datatype& from, std::size_t from_offset, const Member& to,
                              std::string_view what) {
  constexpr std::array<std::pair<const char*, std::size_t>, 4> kCoordinates{{
      {"x", offsetof(PointRow, x)},
      {"y", offsetof(PointRow, y)},
      {"z", offsetof(PointRow, z)},
      {"t", offsetof(PointRow, t)},
  }};
  COSMIC_REQUIRE(DataError, from.type == TypeClass::compound,
                 what << " has a member '" << to.name << "' of the type '" << to_string(from.type)
                      << "' (a compound of x, y, z and t is expected); " << kAsLarcv3);
  Member coordinate = to;
  coordinate.type = ValueType::f64;
  for (const auto& [name, offset] : kCoordinates) {
    const MemberType& stored = member_of(from, name, what);
    add_value(stored.type, from_offset + stored.offset, coordinate, to.offset + offset, what);
  }
}

void RowConversion::add_value(const Datatype& from, std::size_t from_offset, const Member& to,
                              std::size_t to_offset, std::string_view what) {
  const TypeClass expected = is_real(to.type)             ? TypeClass::real
                             : to.type == ValueType::text ? TypeClass::text
                                                          : TypeClass::integer;
  COSMIC_REQUIRE(DataError, from.type == expected,
                 what << " has a member '" << to.name << "' of the type '" << to_string(from.type)
                      << "' ('" << to_string(expected) << "' is expected); " << kAsLarcv3);
  steps_.push_back({.kind = expected,
                    .from = from_offset,
                    .from_bytes = from.bytes,
                    .big_endian = from.big_endian,
                    .is_signed = from.is_signed,
                    .to = to_offset,
                    .type = to.type,
                    .to_bytes = size_of(to.type) * (expected == TypeClass::text ? to.count : 1),
                    .member = to.name});
}

void RowConversion::run(const Step& step, const std::byte* from, std::byte* to) {
  switch (step.kind) {
    case TypeClass::integer: {
      const std::uint64_t bits = load_bits(from, step.from_bytes, step.big_endian);
      return step.is_signed ? put(extend_sign(bits, step.from_bytes), step.type, to, step.member)
                            : put(bits, step.type, to, step.member);
    }
    case TypeClass::real: {
      const double value = load_real(from, step.from_bytes, step.big_endian);
      if (step.type == ValueType::f64) {
        std::memcpy(to, &value, sizeof(value));
      } else {
        const auto single = static_cast<float>(value);
        std::memcpy(to, &single, sizeof(single));
      }
      return;
    }
    case TypeClass::text: {
      const std::size_t bytes = std::min(step.from_bytes, step.to_bytes);
      std::memcpy(to, from, bytes);
      std::memset(to + bytes, 0, step.to_bytes - bytes);
      return;
    }
    case TypeClass::compound:
    case TypeClass::array:
      break;
  }
  throw InternalError("a step converts a compound or an array");
}

void RowConversion::convert(std::span<const std::byte> from, std::span<std::byte> to) const {
  COSMIC_ASSERT(from.size() / from_bytes_ == to.size() / to_bytes_);
  if (is_copy_) {
    std::copy(from.begin(), from.end(), to.begin());
    return;
  }
  const std::byte* source = from.data();
  for (std::size_t at = 0; at < to.size(); at += to_bytes_, source += from_bytes_) {
    for (const Step& step : steps_) {
      run(step, source + step.from, to.data() + at + step.to);
    }
  }
}

}  // namespace cosmic::data::larcv
