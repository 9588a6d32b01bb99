#include "data/larcv/hdf5/chunk_tree.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "data/larcv/hdf5/advice.hpp"
#include "data/larcv/hdf5/block_reader.hpp"

namespace cosmic::data::larcv::hdf5 {
namespace {

constexpr std::size_t kHeaderBytes = 24;
// A key: stored size, filter mask, first row, and the place inside a row, which is always 0.
constexpr std::size_t kKeyBytes = 24;
constexpr std::size_t kEntryBytes = kKeyBytes + 8;
constexpr unsigned kChunkTree = 1;

class ChunkTree {
 public:
  ChunkTree(const File& file, std::uint64_t chunk_rows, std::uint64_t count, std::string_view what)
      : file_(file), chunk_rows_(chunk_rows), count_(count), what_(what) {}

  std::vector<Chunk> read(std::uint64_t root) {
    if (root != kNoAddress) {
      read_node(root, -1);
    }
    require_chunk(chunks_.size() == count_);
    return std::move(chunks_);
  }

 private:
  /// `level` is what the parent promised. Since every leaf adds chunks in order and no node may be
  /// empty below the root, a tree that bites its tail comes to an end.
  void read_node(std::uint64_t address, int level) {
    const auto header = file_.read(address, kHeaderBytes, what_);
    ByteReader cursor = block_reader(header, what_);
    expect_signature(cursor, "TREE");
    const unsigned type = cursor.u8();
    const int own_level = cursor.u8();
    const std::size_t entries = cursor.u16();
    COSMIC_REQUIRE(DataError,
                   type == kChunkTree && (level < 0 || (own_level == level && entries > 0)),
                   what_ << " has a node of type " << type << ", level " << own_level << " with "
                         << entries << " entries in its tree of chunks (type 1 and level " << level
                         << " is expected); " << kDamaged);
    const auto body = file_.read(address + kHeaderBytes, entries * kEntryBytes, what_);
    ByteReader keys = block_reader(body, what_);
    for (std::size_t i = 0; i < entries; ++i) {
      Chunk chunk;
      chunk.bytes = keys.u32();
      chunk.skipped_filters = keys.u32();
      const std::uint64_t first_row = keys.u64();
      keys.skip(8);
      chunk.address = keys.u64();
      if (own_level > 0) {
        read_node(chunk.address, own_level - 1);
      } else {
        require_chunk(chunks_.size() < count_ && first_row == chunks_.size() * chunk_rows_);
        chunks_.push_back(chunk);
      }
    }
  }

  void require_chunk(bool present) const {
    COSMIC_REQUIRE(
        DataError, present,
        what_ << " has no chunk " << chunks_.size() << " of " << count_ << " (rows "
              << chunks_.size() * chunk_rows_ << " to " << (chunks_.size() + 1) * chunk_rows_ - 1
              << " were never written, or the index of chunks is out of order); " << kDamaged);
  }

  const File& file_;
  std::uint64_t chunk_rows_;
  std::uint64_t count_;
  std::string_view what_;
  std::vector<Chunk> chunks_;
};

}  // namespace

std::vector<Chunk> read_chunk_tree(const File& file, std::uint64_t root, std::uint64_t chunk_rows,
                                   std::uint64_t count, std::string_view what) {
  return ChunkTree(file, chunk_rows, count, what).read(root);
}

}  // namespace cosmic::data::larcv::hdf5
