// From the rows of a file to the rows of ours. HDF5 finds members by name, so a file may pack them,
// order them differently or store them in other sizes; most do none of that and are copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "data/larcv/hdf5/datatype.hpp"
#include "data/larcv/record_types.hpp"

namespace cosmic::data::larcv {

class RowConversion {
 public:
  /// Throws DataError if the file lacks a member or has it as something else. `what` names the
  /// table.
  RowConversion(const hdf5::Datatype& from, const RecordType& to, std::string_view what);

  /// Rows of the file are rows of ours.
  bool is_copy() const { return is_copy_; }
  /// `from` and `to` hold the same number of rows. Throws DataError for a number that does not fit.
  void convert(std::span<const std::byte> from, std::span<std::byte> to) const;

 private:
  struct Step {
    hdf5::TypeClass kind{};
    std::size_t from = 0;
    std::size_t from_bytes = 0;
    bool big_endian = false;
    bool is_signed = false;
    std::size_t to = 0;
    ValueType type{};
    std::size_t to_bytes = 0;
    std::string_view member;
  };

  void add_member(const hdf5::Datatype& from, std::size_t from_offset, const Member& to,
                  std::string_view what);
  void add_value(const hdf5::Datatype& from, std::size_t from_offset, const Member& to,
                 std::size_t to_offset, std::string_view what);
  void add_point(const hdf5::Datatype& from, std::size_t from_offset, const Member& to,
                 std::string_view what);
  static void run(const Step& step, const std::byte* from, std::byte* to);

  std::size_t from_bytes_;
  std::size_t to_bytes_;
  bool is_copy_ = false;
  std::vector<Step> steps_;
};

}  // namespace cosmic::data::larcv
