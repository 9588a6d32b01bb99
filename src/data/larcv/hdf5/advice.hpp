// What to do about a file that cannot be read: the last part of this folder's error messages.
#pragma once

namespace cosmic::data::larcv::hdf5 {

inline constexpr const char* kDamaged =
    "the file is damaged or was made by a faulty program; copy or make it again";
inline constexpr const char* kCutShort = "the file is cut short; copy it again";
inline constexpr const char* kRepack =
    "rewrite the file with `h5repack OLD NEW`, which chooses the common format";

}  // namespace cosmic::data::larcv::hdf5
