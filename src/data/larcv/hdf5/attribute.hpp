// Small values that HDF5 keeps beside a group or a table. larcv3 writes none, but people add their
// own: a version, a comment, a constant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/larcv/hdf5/datatype.hpp"
#include "data/larcv/hdf5/object_header.hpp"

namespace cosmic::data::larcv::hdf5 {

struct Attribute {
  std::string name;
  Datatype type;
  std::vector<std::uint64_t> extents;  ///< none: a single value
  std::vector<std::byte> values;
};

/// Something of a file that is not read, and why.
struct Skipped {
  std::string what;
  std::string why;
};

/// The attributes in an object's header, each value inside the header itself. Those of other kinds,
/// such as texts of variable length, are added to `skipped`.
std::vector<Attribute> read_attributes(const ObjectHeader& header, std::vector<Skipped>& skipped);

}  // namespace cosmic::data::larcv::hdf5
