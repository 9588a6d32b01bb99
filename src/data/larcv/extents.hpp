// From a row of extents to the rows of the next table that it stands for, checked. larcv3 writes
// tables front to back, so ranges follow one another. One that reaches into the range before it
// would give an event pixels of another event: an error. One that leaves rows out is only odd.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.hpp"
#include "data/larcv/hdf5/advice.hpp"
#include "data/larcv/read_place.hpp"
#include "data/larcv/read_warnings.hpp"
#include "data/larcv/table.hpp"

namespace cosmic::data::larcv {

struct RowRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  std::uint64_t end() const { return first + count; }
};

/// "row 3 of table 'a' stands for 5 rows from 10 of table 'b', which has 12"
inline std::string describe(std::uint64_t number, const Table& extents, const RowRange& range,
                            const Table& target) {
  return "row " + std::to_string(number) + " of " + extents.what() + " stands for " +
         std::to_string(range.count) + " rows from " + std::to_string(range.first) + " of " +
         target.what() + ", which has " + std::to_string(target.rows());
}

/// Row `number` of `extents`, a range of `target`. Row is ExtentsRow or IdExtentsRow.
template <class Row>
RowRange read_range(TableReader<Row>& extents, std::uint64_t number, const Table& target,
                    const ReadPlace& place, ReadWarnings& warnings) {
  const Row row = extents.row(number);
  if (row.n == 0) {
    return {};  // `first` means nothing then
  }
  const RowRange range{row.first, row.n};
  const auto description = [&] { return describe(number, extents.table(), range, target); };
  COSMIC_REQUIRE(DataError,
                 range.first <= target.rows() && range.count <= target.rows() - range.first,
                 description() << "; " << hdf5::kDamaged);
  std::uint64_t previous_end = 0;
  if (number > 0) {
    const Row& previous = extents.row(number - 1);
    if (previous.n == 0) {
      return range;
    }
    const bool overflows = __builtin_add_overflow(previous.first, previous.n, &previous_end);
    COSMIC_REQUIRE(DataError, !overflows && previous_end <= range.first,
                   description() << ", but the row before stands for " << previous.n << " from "
                                 << previous.first << " (an event would get what belongs to "
                                 << "another); " << hdf5::kDamaged);
  }
  const bool is_last = number + 1 == extents.table().rows();
  if (previous_end < range.first || (is_last && range.end() < target.rows())) {
    warnings.add(WarningKind::gap_in_rows, 1, place, [&] {
      return place.text() + ": " + description() + "; the row before ends at " +
             std::to_string(previous_end);
    });
  }
  return range;
}

}  // namespace cosmic::data::larcv
