// The rows of a larcv3 file, byte for byte, and the names and chunk sizes of the tables that hold
// them. Reader and writer share this one description, so that they cannot drift apart. Padding has
// a name here because a row is written as it lies in memory, and bytes nobody set would differ from
// run to run.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cosmic::data::larcv {

static_assert(std::endian::native == std::endian::little,
              "rows are copied as they are, and larcv3 stores them little-endian");

/// What a member of a row holds.
enum class ValueType : std::uint8_t {
  u8,
  u16,
  i16,
  u32,
  i32,
  u64,
  i64,
  f32,
  f64,
  text,   ///< one byte of a fixed-length text, ended by a NUL
  point,  ///< a compound of four f64, x y z t
};

/// Bytes of one value.
std::size_t size_of(ValueType type);

struct Member {
  std::string_view name;  ///< HDF5 finds members by name; it is case sensitive
  std::size_t offset = 0;
  ValueType type = ValueType::u8;
  std::size_t count = 1;  ///< more than one: a one-dimensional array, or the length of a text
};

/// The compound type of a table.
struct RecordType {
  std::string_view name;
  std::size_t bytes = 0;
  std::span<const Member> members;
};

struct EventIdRow {
  std::int64_t run = 0;
  std::int64_t subrun = 0;
  std::int64_t event = 0;
};

/// Which rows of the next table belong to an event.
struct ExtentsRow {
  std::uint64_t first = 0;
  std::uint32_t n = 0;
  std::uint32_t padding = 0;
};

/// Which rows of the next table belong to a plane or a cluster.
struct IdExtentsRow {
  std::uint64_t first = 0;
  std::uint32_t n = 0;
  std::uint32_t id = 0;
};

struct VoxelRow {
  std::uint64_t id = 0;
  float value = 0;
  std::uint32_t padding = 0;
};

struct ImageMetaRow {
  std::uint8_t valid = 0;
  std::array<std::uint8_t, 7> padding{};
  std::uint64_t projection_id = 0;
  std::array<double, 2> image_sizes{};
  std::array<std::uint64_t, 2> number_of_voxels{};
  std::array<double, 2> origin{};
  std::uint64_t unit = 0;  ///< larcv3 keeps it in memory but never made it a member
};

struct BoxRow {
  std::array<double, 2> centroid{};
  std::array<double, 2> half_length{};
  std::array<double, 4> rotation{};
};

struct PointRow {
  double x = 0;
  double y = 0;
  double z = 0;
  double t = 0;
};

inline constexpr std::size_t kProcessBytes = 64;  ///< with the NUL at its end

struct ParticleRow {
  std::uint16_t id = 0;
  std::uint16_t mcst_index = 0;
  std::uint16_t mct_index = 0;
  std::uint16_t padding = 0;
  std::int32_t shape = 0;
  std::int16_t current_type = 0;
  std::int16_t interaction_type = 0;
  std::uint32_t trackid = 0;
  std::int32_t pdg = 0;
  double px = 0;
  double py = 0;
  double pz = 0;
  PointRow vtx;
  PointRow end_pt;
  PointRow first_step;
  PointRow last_step;
  double dist_travel = 0;
  double energy_init = 0;
  double energy_deposit = 0;
  std::array<char, kProcessBytes> process{};
  std::uint32_t parent_trackid = 0;
  std::int32_t parent_pdg = 0;
  PointRow parent_vtx;
  std::uint32_t ancestor_trackid = 0;
  std::int32_t ancestor_pdg = 0;
  PointRow ancestor_vtx;
};

/// The compound type of a row as larcv3 stores it.
template <class Row>
const RecordType& record_type();

template <>
const RecordType& record_type<EventIdRow>();
template <>
const RecordType& record_type<ExtentsRow>();
template <>
const RecordType& record_type<IdExtentsRow>();
template <>
const RecordType& record_type<VoxelRow>();
template <>
const RecordType& record_type<ImageMetaRow>();
template <>
const RecordType& record_type<BoxRow>();
template <>
const RecordType& record_type<ParticleRow>();

// Names of groups and tables.
inline constexpr std::string_view kEventsGroup = "Events";
inline constexpr std::string_view kDataGroup = "Data";
inline constexpr std::string_view kEventIdTable = "event_id";
inline constexpr std::string_view kExtentsTable = "extents";
inline constexpr std::string_view kVoxelExtentsTable = "voxel_extents";
inline constexpr std::string_view kProjectionExtentsTable = "projection_extents";
inline constexpr std::string_view kClusterExtentsTable = "cluster_extents";
inline constexpr std::string_view kBoxExtentsTable = "bbox_extents";
inline constexpr std::string_view kImageMetaTable = "image_meta";
inline constexpr std::string_view kVoxelsTable = "voxels";
inline constexpr std::string_view kParticlesTable = "particles";
inline constexpr std::string_view kBoxesTable = "bboxes";

// Rows per chunk, as larcv3 writes them. A reader takes any size; a writer keeps these, so that its
// files cannot be told from larcv3's.
inline constexpr std::uint64_t kEventIdChunk = 100;
inline constexpr std::uint64_t kImageExtentsChunk = 10;  ///< `extents` of sparse2d and cluster2d
inline constexpr std::uint64_t kParticleExtentsChunk = 100;
inline constexpr std::uint64_t kBoxEventExtentsChunk = 1;  ///< `extents` of bbox2d
inline constexpr std::uint64_t kPlaneExtentsChunk = 100;   ///< voxel, projection, cluster extents
inline constexpr std::uint64_t kBoxExtentsChunk = 1;
inline constexpr std::uint64_t kImageMetaChunk = 100;
inline constexpr std::uint64_t kVoxelsChunk = 1000;
inline constexpr std::uint64_t kParticlesChunk = 500;
inline constexpr std::uint64_t kBoxesChunk = 1000;

/// Pixels on an axis: thirty times SBND's longer one. A dense image of the largest grid would have
/// 16 GiB.
inline constexpr std::uint64_t kMaxAxis = 65536;

/// larcv3's default; higher levels shrink these tables little and cost the reader nothing.
inline constexpr unsigned kDeflateLevel = 1;

}  // namespace cosmic::data::larcv
