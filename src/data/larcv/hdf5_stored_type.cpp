#include "data/larcv/hdf5_stored_type.hpp"

#include <bit>
#include <vector>

namespace cosmic::data::larcv {
namespace {

using hdf5::Datatype;
using hdf5::MemberType;
using hdf5::TypeClass;

hid_t integer_type(const Datatype& type) {
  const hid_t unsigned_little[] = {H5T_STD_U8LE, H5T_STD_U16LE, H5T_STD_U32LE, H5T_STD_U64LE};
  const hid_t unsigned_big[] = {H5T_STD_U8BE, H5T_STD_U16BE, H5T_STD_U32BE, H5T_STD_U64BE};
  const hid_t signed_little[] = {H5T_STD_I8LE, H5T_STD_I16LE, H5T_STD_I32LE, H5T_STD_I64LE};
  const hid_t signed_big[] = {H5T_STD_I8BE, H5T_STD_I16BE, H5T_STD_I32BE, H5T_STD_I64BE};
  const int size = std::countr_zero(type.bytes);  // 1, 2, 4 or 8: the reader takes no others
  if (type.is_signed) {
    return type.big_endian ? signed_big[size] : signed_little[size];
  }
  return type.big_endian ? unsigned_big[size] : unsigned_little[size];
}

hid_t real_type(const Datatype& type) {
  if (type.bytes == sizeof(float)) {
    return type.big_endian ? H5T_IEEE_F32BE : H5T_IEEE_F32LE;
  }
  return type.big_endian ? H5T_IEEE_F64BE : H5T_IEEE_F64LE;
}

Hdf5Type text_type_of(const Datatype& type, const std::string& doing) {
  Hdf5Type text(H5Tcopy(H5T_C_S1), doing);
  require_hdf5(H5Tset_size(text.get(), type.bytes) >= 0 &&
                   H5Tset_strpad(text.get(), static_cast<H5T_str_t>(type.padding)) >= 0 &&
                   H5Tset_cset(text.get(), static_cast<H5T_cset_t>(type.character_set)) >= 0,
               doing);
  return text;
}

}  // namespace

Hdf5Type hdf5_stored_type(const Datatype& type, const std::string& doing) {
  switch (type.type) {
    case TypeClass::integer:
      return {H5Tcopy(integer_type(type)), doing};
    case TypeClass::real:
      return {H5Tcopy(real_type(type)), doing};
    case TypeClass::text:
      return text_type_of(type, doing);
    case TypeClass::compound: {
      Hdf5Type compound(H5Tcreate(H5T_COMPOUND, type.bytes), doing);
      for (const MemberType& member : type.members) {
        const Hdf5Type of_member = hdf5_stored_type(member.type, doing);
        require_hdf5(
            H5Tinsert(compound.get(), member.name.c_str(), member.offset, of_member.get()) >= 0,
            doing);
      }
      return compound;
    }
    case TypeClass::array: {
      const Hdf5Type element = hdf5_stored_type(type.element.front(), doing);
      const std::vector<hsize_t> extents(type.extents.begin(), type.extents.end());
      return {
          H5Tarray_create2(element.get(), static_cast<unsigned>(extents.size()), extents.data()),
          doing};
    }
  }
  throw InternalError("a type class without an HDF5 type");
}

}  // namespace cosmic::data::larcv
