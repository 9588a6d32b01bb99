#include "data/larcv/hdf5/dataset.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "data/larcv/hdf5/advice.hpp"
#include "data/larcv/hdf5/chunk_tree.hpp"
#include "data/larcv/hdf5/object_header.hpp"
#include "data/larcv/hdf5/unsupported.hpp"

namespace cosmic::data::larcv::hdf5 {
namespace {

// Hundreds of times larcv3's largest chunk (500 particles); a reader keeps two unpacked.
constexpr std::uint64_t kMaxChunkBytes = 64 << 20;
// Tables without chunks are read in pieces of about this size.
constexpr std::uint64_t kPieceBytes = 64 << 10;

enum class Layout : std::uint8_t { compact, contiguous, chunked, virtual_dataset };

void read_rows(ByteReader cursor, Dataset& dataset) {
  constexpr unsigned kCanGrow = 0x01;
  const unsigned version = cursor.u8();
  const unsigned rank = cursor.u8();
  const unsigned flags = cursor.u8();
  cursor.skip(version == 1 ? 5 : 1);
  COSMIC_REQUIRE_SUPPORTED(version == 1 || version == 2,
                           cursor.what() << " has a dataspace of version " << version
                                         << " (known are 1 and 2); " << kRepack);
  COSMIC_REQUIRE_SUPPORTED(
      rank == 1, cursor.what() << " has " << rank
                               << " dimensions (every larcv3 table has 1); was it made by larcv3?");
  dataset.rows = cursor.u64();
  dataset.most_rows = (flags & kCanGrow) != 0 ? cursor.u64() : dataset.rows;
}

class LayoutReader {
 public:
  LayoutReader(const File& file, const ObjectHeader& header, Dataset& dataset)
      : file_(file), dataset_(dataset), cursor_(header.read(MessageType::layout, "layout")) {
    body_ = header.find(MessageType::layout)->address;
  }

  void read() {
    constexpr unsigned kClassic = 3;
    constexpr unsigned kNewest = 4;
    version_ = cursor_.u8();
    COSMIC_REQUIRE_SUPPORTED(version_ == kClassic || version_ == kNewest,
                             dataset_.what << " has a layout of version " << version_
                                           << " (known are " << kClassic << " and " << kNewest
                                           << "); " << kRepack);
    const auto layout = static_cast<Layout>(cursor_.u8());
    switch (layout) {
      case Layout::compact: {
        const std::uint64_t bytes = cursor_.u16();
        return in_one_piece(body_ + cursor_.position(), bytes);
      }
      case Layout::contiguous: {
        const std::uint64_t address = cursor_.u64();
        return in_one_piece(address, cursor_.u64());
      }
      case Layout::chunked:
        return version_ == kClassic ? chunked() : chunked_newest();
      case Layout::virtual_dataset:
        throw Unsupported(dataset_.what +
                          " is a virtual dataset (its rows are in other files, which the maker of "
                          "this one chose); copy the data into one file");
    }
    throw DataError(dataset_.what + " has an unknown layout, " +
                    std::to_string(static_cast<int>(layout)) + "; " + kDamaged);
  }

 private:
  void in_one_piece(std::uint64_t address, std::uint64_t bytes) {
    if (dataset_.rows == 0) {
      return;
    }
    COSMIC_REQUIRE(
        DataError, address != kNoAddress,
        dataset_.what << " has " << dataset_.rows << " rows that were never written; " << kDamaged);
    const std::uint64_t row_bytes = dataset_.type.bytes;
    COSMIC_REQUIRE(DataError, bytes / row_bytes >= dataset_.rows && file_.contains(address, bytes),
                   dataset_.what << " has " << dataset_.rows << " rows of " << row_bytes
                                 << " bytes, stored in " << bytes << " bytes at address " << address
                                 << " (the file has " << file_.bytes() << " bytes); " << kCutShort);
    dataset_.filters.clear();  // they apply to chunks only
    dataset_.last_chunk_is_full = false;
    dataset_.chunk_rows = std::max<std::uint64_t>(1, kPieceBytes / row_bytes);
    for (std::uint64_t row = 0; row < dataset_.rows; row += dataset_.chunk_rows) {
      const std::uint64_t rows = std::min(dataset_.chunk_rows, dataset_.rows - row);
      dataset_.chunks.push_back(
          {address + row * row_bytes, static_cast<std::uint32_t>(rows * row_bytes), 0});
    }
  }

  void require_chunk_shape(unsigned dimensions, std::uint64_t value_bytes) const {
    COSMIC_REQUIRE(DataError, dimensions == 2 && value_bytes == dataset_.type.bytes,
                   dataset_.what << " has chunks of " << dimensions - 1
                                 << " dimensions and rows of " << value_bytes
                                 << " bytes (1 dimension and " << dataset_.type.bytes
                                 << " bytes are expected); " << kDamaged);
    COSMIC_REQUIRE(DataError,
                   dataset_.chunk_rows > 0 && dataset_.chunk_rows <= kMaxChunkBytes / value_bytes,
                   dataset_.what << " has chunks of " << dataset_.chunk_rows << " rows of "
                                 << value_bytes << " bytes (1 row to " << kMaxChunkBytes
                                 << " bytes are sensible); " << kRepack);
  }

  std::uint64_t chunk_count() const {
    return dataset_.rows / dataset_.chunk_rows + (dataset_.rows % dataset_.chunk_rows != 0 ? 1 : 0);
  }

  void chunked() {
    const unsigned dimensions = cursor_.u8();
    const std::uint64_t tree = cursor_.u64();
    dataset_.chunk_rows = cursor_.u32();
    require_chunk_shape(dimensions, cursor_.u32());
    dataset_.chunks =
        read_chunk_tree(file_, tree, dataset_.chunk_rows, chunk_count(), dataset_.what);
    require_chunks_in_file();
  }

  /// The version that came with HDF5 1.10 has an index for every occasion. Only the trivial one is
  /// understood: a dataset that is one chunk.
  void chunked_newest() {
    constexpr unsigned kFilteredSingleChunk = 2;
    constexpr unsigned kSingleChunk = 1;
    const unsigned flags = cursor_.u8();
    const unsigned dimensions = cursor_.u8();
    const std::size_t width = cursor_.u8();
    COSMIC_REQUIRE(DataError, width >= 1 && width <= 8,
                   dataset_.what << " writes chunk sizes in " << width << " bytes; " << kDamaged);
    dataset_.chunk_rows = cursor_.unsigned_of(width);
    require_chunk_shape(dimensions, cursor_.unsigned_of(width));
    const unsigned index = cursor_.u8();
    COSMIC_REQUIRE_SUPPORTED(index == kSingleChunk && chunk_count() <= 1,
                             dataset_.what
                                 << " lists its chunks in an index of kind " << index
                                 << ", which came with HDF5 1.10 (larcv3 writes version 1 B-trees)"
                                 << "; " << kRepack);
    Chunk chunk{0, static_cast<std::uint32_t>(dataset_.chunk_rows * dataset_.type.bytes), 0};
    if ((flags & kFilteredSingleChunk) != 0) {
      const std::uint64_t bytes = cursor_.u64();
      COSMIC_REQUIRE(DataError, bytes <= kMaxChunkBytes,
                     dataset_.what << " has a chunk of " << bytes << " bytes; " << kDamaged);
      chunk.bytes = static_cast<std::uint32_t>(bytes);
      chunk.skipped_filters = cursor_.u32();
    }
    chunk.address = cursor_.u64();
    dataset_.chunks.assign(static_cast<std::size_t>(chunk_count()), chunk);
    require_chunks_in_file();
  }

  void require_chunks_in_file() const {
    const std::uint64_t unpacked = dataset_.chunk_rows * dataset_.type.bytes;
    const std::uint64_t least = least_packed_bytes(dataset_.filters, unpacked);
    std::uint64_t all = 0;
    for (const Chunk& chunk : dataset_.chunks) {
      const auto number = &chunk - dataset_.chunks.data();
      COSMIC_REQUIRE(DataError, file_.contains(chunk.address, chunk.bytes),
                     dataset_.what << " has chunk " << number << " in " << chunk.bytes
                                   << " bytes at address " << chunk.address << " (the file has "
                                   << file_.bytes() << " bytes); " << kCutShort);
      // Not an exact check, which comes with unpacking, but it keeps memory in proportion to the
      // file.
      COSMIC_REQUIRE(DataError, chunk.bytes >= least,
                     dataset_.what << " has chunk " << number << " in " << chunk.bytes
                                   << " bytes, too few to be " << dataset_.chunk_rows << " rows of "
                                   << dataset_.type.bytes << " bytes; " << kDamaged);
      // Without it a few bytes could be a million chunks, each to be unpacked.
      all += chunk.bytes;
      COSMIC_REQUIRE(DataError, all <= file_.bytes(),
                     dataset_.what << " has chunks of more than " << file_.bytes()
                                   << " bytes together, the size of the file (they lie over each "
                                   << "other); " << kDamaged);
    }
  }

  const File& file_;
  Dataset& dataset_;
  ByteReader cursor_;
  std::uint64_t body_ = 0;
  unsigned version_ = 0;
};

}  // namespace

Dataset read_dataset(const File& file, std::uint64_t header_address, const std::string& path) {
  const std::string what = "table '" + path + "'";
  const ObjectHeader header(file, header_address, what);
  Dataset dataset;
  dataset.what = what;
  read_rows(header.read(MessageType::dataspace, "size"), dataset);
  ByteReader type = header.read(MessageType::datatype, "type");
  dataset.type = read_datatype(type);
  COSMIC_REQUIRE_SUPPORTED(
      !header.has(MessageType::external_files),
      what << " keeps its rows in other files (external storage, which the maker of this "
           << "file chose); copy the data into one file");
  if (header.has(MessageType::filters)) {
    dataset.filters = read_filters(header.read(MessageType::filters, "filters"));
  }
  LayoutReader(file, header, dataset).read();
  return dataset;
}

}  // namespace cosmic::data::larcv::hdf5
