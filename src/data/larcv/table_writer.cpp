#include "data/larcv/table_writer.hpp"

#include <libdeflate.h>

#include <atomic>
#include <memory>

#include "data/larcv/hdf5_record_type.hpp"

namespace cosmic::data::larcv {
namespace {

Hdf5Dataset create_table(const Hdf5Group& group, const std::string& name, const RecordType& record,
                         hsize_t chunk_rows, bool compressed, int level) {
  const std::string doing = "create table '" + name + "'";
  const Hdf5Properties properties(H5Pcreate(H5P_DATASET_CREATE), doing);
  require_hdf5(H5Pset_chunk(properties.get(), 1, &chunk_rows) >= 0, doing);
  if (compressed) {
    require_hdf5(H5Pset_deflate(properties.get(), static_cast<unsigned>(level)) >= 0, doing);
  }
  // The same events must give the same bytes, whenever they are written.
  require_hdf5(H5Pset_obj_track_times(properties.get(), false) >= 0, doing);
  const hsize_t rows = 0;
  const hsize_t most_rows = H5S_UNLIMITED;
  const Hdf5Space space(H5Screate_simple(1, &rows, &most_rows), doing);
  const Hdf5Type type = hdf5_record_type(record);
  return {H5Dcreate2(group.get(), name.c_str(), type.get(), space.get(), H5P_DEFAULT,
                     properties.get(), H5P_DEFAULT),
          doing};
}

}  // namespace

TableWriter::TableWriter(const Hdf5Group& group, std::string_view name, const RecordType& record,
                         std::uint64_t chunk_rows, int level)
    : name_(name),
      row_bytes_(record.bytes),
      chunk_rows_(chunk_rows),
      // larcv3 asks for deflate on this one table whatever the level.
      compressed_(level > 0 || name == kEventIdTable),
      dataset_(create_table(group, name_, record, chunk_rows, compressed_, level)) {}

void TableWriter::fill_last_chunk() {
  const std::size_t partial = waiting_.size() % chunk_bytes();
  if (partial > 0) {
    waiting_.resize(waiting_.size() + chunk_bytes() - partial);
  }
}

void TableWriter::set_extent(std::uint64_t rows) {
  const hsize_t extent = rows;
  require_hdf5(H5Dset_extent(dataset_.get(), &extent) >= 0, "extend table '" + name_ + "'");
}

void TableWriter::write_chunk(std::uint64_t first_row, std::span<const std::byte> stored) {
  constexpr std::uint32_t kAllFilters = 0;  // a set bit would say that a filter was left out
  const hsize_t offset = first_row;
  require_hdf5(H5Dwrite_chunk(dataset_.get(), H5P_DEFAULT, kAllFilters, &offset, stored.size(),
                              stored.data()) >= 0,
               "write to table '" + name_ + "'");
}

struct ChunkPress::Chunk {
  TableWriter* table;
  std::uint64_t first_row;
  std::span<const std::byte> rows;
  std::span<std::byte> room;          ///< for the compressed rows
  std::span<const std::byte> stored;  ///< what goes into the file
};

class ChunkPress::Compressor {
 public:
  explicit Compressor(int level)
      : compressor_(libdeflate_alloc_compressor(level), &libdeflate_free_compressor) {
    if (compressor_ == nullptr) {
      throw std::bad_alloc();
    }
  }

  std::size_t bound(std::size_t bytes) const {
    return libdeflate_zlib_compress_bound(compressor_.get(), bytes);
  }

  std::span<const std::byte> compress(std::span<const std::byte> bytes, std::span<std::byte> room) {
    return room.first(libdeflate_zlib_compress(compressor_.get(), bytes.data(), bytes.size(),
                                               room.data(), room.size()));
  }

 private:
  std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor_;
};

ChunkPress::ChunkPress(const Team& team, int level) : team_(team) {
  for (int thread = 0; thread < team.size(); ++thread) {
    compressors_.emplace_back(level);
  }
}

ChunkPress::~ChunkPress() = default;

void ChunkPress::write(std::span<TableWriter* const> tables, LastChunk last) {
  std::vector<Chunk> chunks;
  std::size_t room = 0;
  std::vector<std::uint64_t> extents;
  for (TableWriter* table : tables) {
    extents.push_back(table->written_rows_ + (last == LastChunk::write
                                                  ? table->waiting_rows()
                                                  : table->complete_chunks() * table->chunk_rows_));
    if (last == LastChunk::write) {
      table->fill_last_chunk();
    }
    const std::span<const std::byte> waiting(table->waiting_);
    for (std::size_t i = 0; i < table->complete_chunks(); ++i) {
      const auto rows = waiting.subspan(i * table->chunk_bytes(), table->chunk_bytes());
      chunks.push_back({table, table->written_rows_ + i * table->chunk_rows_, rows, {}, rows});
      room += table->compressed_ ? compressors_.front().bound(rows.size()) : 0;
    }
  }
  output_.resize(std::max(room, output_.size()));
  compress(chunks);

  const Hdf5Session session;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (extents[i] > tables[i]->written_rows_) {
      tables[i]->set_extent(extents[i]);
    }
  }
  for (const Chunk& chunk : chunks) {
    chunk.table->write_chunk(chunk.first_row, chunk.stored);
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    std::vector<std::byte>& waiting = tables[i]->waiting_;
    const std::size_t written = tables[i]->complete_chunks() * tables[i]->chunk_bytes();
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(written));
    tables[i]->written_rows_ = extents[i];
  }
}

void ChunkPress::compress(std::vector<Chunk>& chunks) {
  std::span<std::byte> room(output_);
  for (Chunk& chunk : chunks) {
    if (chunk.table->compressed_) {
      const std::size_t bound = compressors_.front().bound(chunk.rows.size());
      chunk.room = room.first(bound);
      room = room.subspan(bound);
    }
  }
  std::atomic<std::size_t> next{0};
  team_.run([&](int thread) {
    for (std::size_t i = next++; i < chunks.size(); i = next++) {
      Chunk& chunk = chunks[i];
      if (chunk.table->compressed_) {
        chunk.stored =
            compressors_[static_cast<std::size_t>(thread)].compress(chunk.rows, chunk.room);
      }
    }
  });
}

}  // namespace cosmic::data::larcv
