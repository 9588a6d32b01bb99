// Appends rows to one table of a larcv3 file. Rows wait in memory until they fill chunks; chunks
// are compressed here, by a team of threads, and handed to HDF5 as they are: its own deflate works
// under a global lock, in one thread. Internal, as hdf5_handle.hpp is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/threads.hpp"
#include "data/larcv/hdf5_handle.hpp"
#include "data/larcv/record_types.hpp"

namespace cosmic::data::larcv {

class TableWriter {
 public:
  /// Creates the empty table. `level` 0 leaves its chunks uncompressed. Hold an Hdf5Session.
  TableWriter(const Hdf5Group& group, std::string_view name, const RecordType& record,
              std::uint64_t chunk_rows, int level);

  /// Rows appended so far: the number of the next one.
  std::uint64_t rows() const { return written_rows_ + waiting_rows(); }
  std::size_t waiting_bytes() const { return waiting_.size(); }

  /// Needs no Hdf5Session: HDF5 sees the rows when they are written.
  template <class Row>
  void append(std::span<const Row> rows) {
    COSMIC_ASSERT(sizeof(Row) == row_bytes_);
    const auto bytes = std::as_bytes(rows);
    waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
  }
  template <class Row>
  void append(const Row& row) {
    append(std::span<const Row>(&row, 1));
  }

 private:
  friend class ChunkPress;

  std::uint64_t waiting_rows() const { return waiting_.size() / row_bytes_; }
  std::size_t chunk_bytes() const { return chunk_rows_ * row_bytes_; }
  std::size_t complete_chunks() const { return waiting_.size() / chunk_bytes(); }
  /// HDF5 stores the last chunk whole too; rows not yet written are zero.
  void fill_last_chunk();
  void set_extent(std::uint64_t rows);
  void write_chunk(std::uint64_t first_row, std::span<const std::byte> stored);

  std::string name_;
  std::size_t row_bytes_;
  std::uint64_t chunk_rows_;
  bool compressed_;
  Hdf5Dataset dataset_;
  std::uint64_t written_rows_ = 0;
  std::vector<std::byte> waiting_;
};

/// Compresses what waits in tables and writes it, always in the same order: the bytes of the file
/// depend on the rows alone, not on the number of threads.
class ChunkPress {
 public:
  enum class LastChunk { keep_waiting, write };

  ChunkPress(const Team& team, int level);
  ~ChunkPress();
  ChunkPress(const ChunkPress&) = delete;
  ChunkPress& operator=(const ChunkPress&) = delete;

  /// Writes the complete chunks of all tables. LastChunk::write also writes the incomplete ones,
  /// after which nothing can be appended.
  void write(std::span<TableWriter* const> tables, LastChunk last);

 private:
  struct Chunk;
  class Compressor;

  void compress(std::vector<Chunk>& chunks);

  Team team_;
  std::vector<Compressor> compressors_;  // one for each thread
  std::vector<std::byte> output_;
};

}  // namespace cosmic::data::larcv
