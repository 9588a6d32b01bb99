// Products of one larcv3 file into another, as they are stored: chunks travel compressed. Internal,
// as hdf5_handle.hpp is.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "data/larcv/hdf5_handle.hpp"
#include "data/larcv/product_name.hpp"
#include "data/larcv/record_types.hpp"

namespace cosmic::data::larcv {

/// Where products and event ids go.
struct OutputGroups {
  Hdf5Group events;
  Hdf5Group data;
};

/// Copies the event ids and all products but `except`; returns the event ids. Refuses links, which
/// could bring in other files. Hold an Hdf5Session.
std::vector<EventIdRow> copy_stored_products(const std::filesystem::path& input,
                                             const OutputGroups& output,
                                             std::span<const ProductName> except);

}  // namespace cosmic::data::larcv
