// How this folder reads a block of an HDF5 file: with the words of its errors, and with the two
// things that HDF5's blocks have of their own, signatures and names.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/byte_reader.hpp"

namespace cosmic::data::larcv::hdf5 {

/// `what` names the block in errors. The bytes must live as long as the reader.
ByteReader block_reader(std::span<const std::byte> block, std::string_view what);

void expect_signature(ByteReader& reader, std::string_view signature);

/// larcv3's names have fewer than 128.
inline constexpr std::size_t kMaxName = 1024;

/// A name that ends with a NUL, which is taken too.
std::string read_name(ByteReader& reader);
/// A name of known length. Names are shown to people, on terminals that obey control characters, so
/// one that has any is an error.
std::string read_name(ByteReader& reader, std::size_t length);

}  // namespace cosmic::data::larcv::hdf5
