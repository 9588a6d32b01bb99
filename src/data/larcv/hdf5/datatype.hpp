// What the bytes of a dataset's rows mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/byte_reader.hpp"

namespace cosmic::data::larcv::hdf5 {

enum class TypeClass : std::uint8_t { integer, real, text, compound, array };

std::string to_string(TypeClass type);

struct MemberType;

struct Datatype {
  TypeClass type{};
  std::size_t bytes = 0;
  bool big_endian = false;           ///< of an integer or a real
  bool is_signed = false;            ///< of an integer
  std::vector<MemberType> members;   ///< of a compound
  std::size_t count = 1;             ///< of an array: its elements, however many dimensions it has
  std::vector<Datatype> element;     ///< of an array: one
  std::vector<std::size_t> extents;  ///< of an array: one for each dimension
  unsigned padding = 0;              ///< of a text: how HDF5 numbers the ways to end one
  unsigned character_set = 0;        ///< of a text: ASCII or UTF-8
};

struct MemberType {
  std::string name;
  std::size_t offset = 0;
  Datatype type;
};

/// Every member lies inside its compound, and an array is as long as its elements. Types that no
/// larcv3 table uses are an error that names them.
Datatype read_datatype(ByteReader& cursor);

}  // namespace cosmic::data::larcv::hdf5
