// One table of an HDF5 file: how many rows, what a row is, and where the rows are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/larcv/hdf5/datatype.hpp"
#include "data/larcv/hdf5/file.hpp"
#include "data/larcv/hdf5/filters.hpp"

namespace cosmic::data::larcv::hdf5 {

/// A piece of a table as it lies in the file.
struct Chunk {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;            ///< stored, that is, packed
  std::uint32_t skipped_filters = 0;  ///< bit i: filter i was left out
};

struct Dataset {
  std::string what;  ///< names it in errors
  std::uint64_t rows = 0;
  std::uint64_t most_rows = 0;  ///< to which it may grow; HDF5 writes "any number" as the largest
  Datatype type;
  Filters filters;
  std::uint64_t chunk_rows = 1;
  /// Chunk c holds the rows from c * chunk_rows on; chunks together hold all rows. A table that is
  /// not stored in chunks is cut into some here.
  std::vector<Chunk> chunks;
  /// A chunk of HDF5 is as long as the others even where rows end in its middle. One of ours is
  /// not.
  bool last_chunk_is_full = true;
  bool in_chunks() const { return last_chunk_is_full; }

  std::uint64_t rows_in(std::uint64_t chunk) const {
    const std::uint64_t first = chunk * chunk_rows;
    return last_chunk_is_full || rows - first > chunk_rows ? chunk_rows : rows - first;
  }
};

/// Reads and checks the description of the dataset whose object header is at `header`, and the list
/// of its chunks: each chunk is there, once, inside the file.
Dataset read_dataset(const File& file, std::uint64_t header, const std::string& path);

}  // namespace cosmic::data::larcv::hdf5
