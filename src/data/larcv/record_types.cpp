#include "data/larcv/record_types.hpp"

#include <iterator>

#include "core/error.hpp"

namespace cosmic::data::larcv {
namespace {

// The file format as larcv3 fixed it. offsetof below follows our structs; these say that our
// structs follow the format.
static_assert(sizeof(EventIdRow) == 24);
static_assert(sizeof(ExtentsRow) == 16 && offsetof(ExtentsRow, n) == 8);
static_assert(sizeof(IdExtentsRow) == 16 && offsetof(IdExtentsRow, id) == 12);
static_assert(sizeof(VoxelRow) == 16 && offsetof(VoxelRow, value) == 8);
static_assert(sizeof(ImageMetaRow) == 72 && offsetof(ImageMetaRow, projection_id) == 8 &&
              offsetof(ImageMetaRow, image_sizes) == 16 &&
              offsetof(ImageMetaRow, number_of_voxels) == 32 &&
              offsetof(ImageMetaRow, origin) == 48);
static_assert(sizeof(BoxRow) == 64 && offsetof(BoxRow, half_length) == 16 &&
              offsetof(BoxRow, rotation) == 32);
static_assert(sizeof(PointRow) == 32);
static_assert(sizeof(ParticleRow) == 344 && offsetof(ParticleRow, shape) == 8 &&
              offsetof(ParticleRow, trackid) == 16 && offsetof(ParticleRow, px) == 24 &&
              offsetof(ParticleRow, vtx) == 48 && offsetof(ParticleRow, dist_travel) == 176 &&
              offsetof(ParticleRow, process) == 200 && offsetof(ParticleRow, parent_vtx) == 272 &&
              offsetof(ParticleRow, ancestor_vtx) == 312);

constexpr Member kEventIdMembers[] = {
    {"run", offsetof(EventIdRow, run), ValueType::i64},
    {"subrun", offsetof(EventIdRow, subrun), ValueType::i64},
    {"event", offsetof(EventIdRow, event), ValueType::i64},
};

constexpr Member kExtentsMembers[] = {
    {"first", offsetof(ExtentsRow, first), ValueType::u64},
    {"N", offsetof(ExtentsRow, n), ValueType::u32},
};

constexpr Member kIdExtentsMembers[] = {
    {"first", offsetof(IdExtentsRow, first), ValueType::u64},
    {"N", offsetof(IdExtentsRow, n), ValueType::u32},
    {"ID", offsetof(IdExtentsRow, id), ValueType::u32},
};

constexpr Member kVoxelMembers[] = {
    {"id", offsetof(VoxelRow, id), ValueType::u64},
    {"value", offsetof(VoxelRow, value), ValueType::f32},
};

constexpr Member kImageMetaMembers[] = {
    {"valid", offsetof(ImageMetaRow, valid), ValueType::u8},
    {"projection_id", offsetof(ImageMetaRow, projection_id), ValueType::u64},
    {"image_sizes", offsetof(ImageMetaRow, image_sizes), ValueType::f64, 2},
    {"number_of_voxels", offsetof(ImageMetaRow, number_of_voxels), ValueType::u64, 2},
    {"origin", offsetof(ImageMetaRow, origin), ValueType::f64, 2},
};

constexpr Member kBoxMembers[] = {
    {"centroid", offsetof(BoxRow, centroid), ValueType::f64, 2},
    {"half_length", offsetof(BoxRow, half_length), ValueType::f64, 2},
    {"rotation", offsetof(BoxRow, rotation), ValueType::f64, 4},
};

constexpr Member kParticleMembers[] = {
    {"id", offsetof(ParticleRow, id), ValueType::u16},
    {"mcst_index", offsetof(ParticleRow, mcst_index), ValueType::u16},
    {"mct_index", offsetof(ParticleRow, mct_index), ValueType::u16},
    {"shape", offsetof(ParticleRow, shape), ValueType::i32},
    {"current_type", offsetof(ParticleRow, current_type), ValueType::i16},
    {"interaction_type", offsetof(ParticleRow, interaction_type), ValueType::i16},
    {"trackid", offsetof(ParticleRow, trackid), ValueType::u32},
    {"pdg", offsetof(ParticleRow, pdg), ValueType::i32},
    {"px", offsetof(ParticleRow, px), ValueType::f64},
    {"py", offsetof(ParticleRow, py), ValueType::f64},
    {"pz", offsetof(ParticleRow, pz), ValueType::f64},
    {"vtx", offsetof(ParticleRow, vtx), ValueType::point},
    {"end_pt", offsetof(ParticleRow, end_pt), ValueType::point},
    {"first_step", offsetof(ParticleRow, first_step), ValueType::point},
    {"last_step", offsetof(ParticleRow, last_step), ValueType::point},
    {"dist_travel", offsetof(ParticleRow, dist_travel), ValueType::f64},
    {"energy_init", offsetof(ParticleRow, energy_init), ValueType::f64},
    {"energy_deposit", offsetof(ParticleRow, energy_deposit), ValueType::f64},
    {"process", offsetof(ParticleRow, process), ValueType::text, kProcessBytes},
    {"parent_trackid", offsetof(ParticleRow, parent_trackid), ValueType::u32},
    {"parent_pdg", offsetof(ParticleRow, parent_pdg), ValueType::i32},
    {"parent_vtx", offsetof(ParticleRow, parent_vtx), ValueType::point},
    {"ancestor_trackid", offsetof(ParticleRow, ancestor_trackid), ValueType::u32},
    {"ancestor_pdg", offsetof(ParticleRow, ancestor_pdg), ValueType::i32},
    {"ancestor_vtx", offsetof(ParticleRow, ancestor_vtx), ValueType::point},
};

constexpr RecordType kEventIdType{"event id", sizeof(EventIdRow), kEventIdMembers};
constexpr RecordType kExtentsType{"extents", sizeof(ExtentsRow), kExtentsMembers};
constexpr RecordType kIdExtentsType{"extents with ID", sizeof(IdExtentsRow), kIdExtentsMembers};
constexpr RecordType kVoxelType{"voxel", sizeof(VoxelRow), kVoxelMembers};
constexpr RecordType kImageMetaType{"image meta", sizeof(ImageMetaRow), kImageMetaMembers};
constexpr RecordType kBoxType{"box", sizeof(BoxRow), kBoxMembers};
constexpr RecordType kParticleType{"particle", sizeof(ParticleRow), kParticleMembers};

}  // namespace

std::size_t size_of(ValueType type) {
  switch (type) {
    case ValueType::u8:
    case ValueType::text:
      return 1;
    case ValueType::u16:
    case ValueType::i16:
      return 2;
    case ValueType::u32:
    case ValueType::i32:
    case ValueType::f32:
      return 4;
    case ValueType::u64:
    case ValueType::i64:
    case ValueType::f64:
      return 8;
    case ValueType::point:
      return sizeof(PointRow);
  }
  throw InternalError("a value type without a size");
}

template <>
const RecordType& record_type<EventIdRow>() {
  return kEventIdType;
}
template <>
const RecordType& record_type<ExtentsRow>() {
  return kExtentsType;
}
template <>
const RecordType& record_type<IdExtentsRow>() {
  return kIdExtentsType;
}
template <>
const RecordType& record_type<VoxelRow>() {
  return kVoxelType;
}
template <>
const RecordType& record_type<ImageMetaRow>() {
  return kImageMetaType;
}
template <>
const RecordType& record_type<BoxRow>() {
  return kBoxType;
}
template <>
const RecordType& record_type<ParticleRow>() {
  return kParticleType;
}

}  // namespace cosmic::data::larcv
