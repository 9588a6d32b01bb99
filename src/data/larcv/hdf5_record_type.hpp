// The HDF5 compound type of a row. Internal, as hdf5_handle.hpp is.
#pragma once

#include "data/larcv/hdf5_handle.hpp"
#include "data/larcv/record_types.hpp"

namespace cosmic::data::larcv {

/// Offsets, sizes and padding as larcv3 stores them. Hold an Hdf5Session.
Hdf5Type hdf5_record_type(const RecordType& record);

template <class Row>
Hdf5Type hdf5_record_type() {
  return hdf5_record_type(record_type<Row>());
}

}  // namespace cosmic::data::larcv
