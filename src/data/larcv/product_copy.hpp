// Products of one larcv3 file into another: read by our own reader, written by the HDF5 library,
// which never sees the input. Chunks travel compressed, after it is known that they unpack.
// Internal, as hdf5_handle.hpp is.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "data/larcv/hdf5_handle.hpp"
#include "data/larcv/hdf5_output.hpp"
#include "data/larcv/left_out.hpp"
#include "data/larcv/product_name.hpp"
#include "data/larcv/record_types.hpp"

namespace cosmic::data::larcv {

/// Where products and event ids go.
struct OutputGroups {
  Hdf5Group events;
  Hdf5Group data;
};

struct CopiedProducts {
  std::vector<EventIdRow> event_ids;
  std::vector<LeftOut> left_out;
};

/// Copies the event ids, all products but `except`, and their attributes. A product is a group of
/// tables; it is copied whole or, if anything in it is not a table of our reader's kinds, left out:
/// links, external storage, unknown filters and types, groups in groups. Throws DataError, with the
/// input's name, for a damaged file. Hold an Hdf5Session.
CopiedProducts copy_stored_products(const std::filesystem::path& input, const Hdf5File& file,
                                    const OutputGroups& groups, const Hdf5Output& output,
                                    std::span<const ProductName> except);

}  // namespace cosmic::data::larcv
