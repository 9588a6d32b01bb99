// The HDF5 library's type for one that our reader found in a file. Internal, as hdf5_handle.hpp is.
#pragma once

#include <string>

#include "data/larcv/hdf5/datatype.hpp"
#include "data/larcv/hdf5_handle.hpp"

namespace cosmic::data::larcv {

/// Sizes, offsets, byte order and names as in the file. Throws DataError "cannot <doing> ..." for
/// one that the library refuses, such as members that overlap. Hold an Hdf5Session.
Hdf5Type hdf5_stored_type(const hdf5::Datatype& type, const std::string& doing);

}  // namespace cosmic::data::larcv
