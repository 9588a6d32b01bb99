// The index of a dataset's chunks, as larcv3's files have it: a version 1 B-tree.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "data/larcv/hdf5/dataset.hpp"
#include "data/larcv/hdf5/file.hpp"

namespace cosmic::data::larcv::hdf5 {

/// The chunks in order. There must be exactly `count` of them, chunk c at row c * chunk_rows.
std::vector<Chunk> read_chunk_tree(const File& file, std::uint64_t root, std::uint64_t chunk_rows,
                                   std::uint64_t count, std::string_view what);

}  // namespace cosmic::data::larcv::hdf5
