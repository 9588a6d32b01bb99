#include "data/larcv/hdf5_record_type.hpp"

namespace cosmic::data::larcv {
namespace {

Hdf5Type copy_of(hid_t type) {
  return {H5Tcopy(type), "copy an HDF5 type"};
}

void insert(const Hdf5Type& compound, const std::string& name, std::size_t offset, hid_t type) {
  require_hdf5(H5Tinsert(compound.get(), name.c_str(), offset, type) >= 0,
               "insert member '" + name + "' into an HDF5 type");
}

Hdf5Type point_type() {
  Hdf5Type point(H5Tcreate(H5T_COMPOUND, sizeof(PointRow)), "create an HDF5 type");
  insert(point, "x", offsetof(PointRow, x), H5T_IEEE_F64LE);
  insert(point, "y", offsetof(PointRow, y), H5T_IEEE_F64LE);
  insert(point, "z", offsetof(PointRow, z), H5T_IEEE_F64LE);
  insert(point, "t", offsetof(PointRow, t), H5T_IEEE_F64LE);
  return point;
}

Hdf5Type text_type(std::size_t bytes) {
  Hdf5Type text = copy_of(H5T_C_S1);
  require_hdf5(H5Tset_size(text.get(), bytes) >= 0, "set the length of an HDF5 text");
  return text;
}

Hdf5Type scalar_type(ValueType type) {
  switch (type) {
    case ValueType::u8:
      return copy_of(H5T_STD_U8LE);
    case ValueType::u16:
      return copy_of(H5T_STD_U16LE);
    case ValueType::i16:
      return copy_of(H5T_STD_I16LE);
    case ValueType::u32:
      return copy_of(H5T_STD_U32LE);
    case ValueType::i32:
      return copy_of(H5T_STD_I32LE);
    case ValueType::u64:
      return copy_of(H5T_STD_U64LE);
    case ValueType::i64:
      return copy_of(H5T_STD_I64LE);
    case ValueType::f32:
      return copy_of(H5T_IEEE_F32LE);
    case ValueType::f64:
      return copy_of(H5T_IEEE_F64LE);
    case ValueType::point:
      return point_type();
    case ValueType::text:
      break;  // its length is part of its type
  }
  throw InternalError("a text is not a scalar");
}

Hdf5Type member_type(const Member& member) {
  if (member.type == ValueType::text) {
    return text_type(member.count);
  }
  Hdf5Type scalar = scalar_type(member.type);
  if (member.count == 1) {
    return scalar;
  }
  const hsize_t count = member.count;
  return {H5Tarray_create2(scalar.get(), 1, &count), "create an HDF5 array type"};
}

}  // namespace

Hdf5Type hdf5_record_type(const RecordType& record) {
  Hdf5Type compound(H5Tcreate(H5T_COMPOUND, record.bytes), "create an HDF5 type");
  for (const Member& member : record.members) {
    insert(compound, std::string(member.name), member.offset, member_type(member).get());
  }
  return compound;
}

}  // namespace cosmic::data::larcv
