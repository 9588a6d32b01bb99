// Sound HDF5 that this folder does not read, apart from damage: whoever copies a file leaves such a
// part out and says so, while a damaged file is refused.
#pragma once

#include "core/error.hpp"

namespace cosmic::data::larcv::hdf5 {

struct Unsupported : DataError {
  using DataError::DataError;
};

}  // namespace cosmic::data::larcv::hdf5

/// COSMIC_REQUIRE for it: the macro looks for errors in ::cosmic.
#define COSMIC_REQUIRE_SUPPORTED(condition, message) \
  COSMIC_REQUIRE(data::larcv::hdf5::Unsupported, condition, message)
