// One table of a larcv3 file. A Table knows where its rows are; it is opened once and shared by all
// threads. A TableReader fetches and unpacks chunks for one thread, without any lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "data/larcv/hdf5/content_sum.hpp"
#include "data/larcv/hdf5/dataset.hpp"
#include "data/larcv/hdf5/file.hpp"
#include "data/larcv/hdf5/filters.hpp"
#include "data/larcv/record_types.hpp"
#include "data/larcv/row_conversion.hpp"

namespace cosmic::data::larcv {

/// What a thread needs to unpack chunks, whichever table they are from.
struct ChunkWorkspace {
  hdf5::Unpacker unpacker;
  std::vector<std::byte> packed;
  std::vector<std::byte> rows;  ///< as in the file, where they must be converted
};

class Table {
 public:
  /// `header` is the address of the dataset's object header, `path` its name in the file, `record`
  /// the rows it must have. The file outlives the table.
  Table(const hdf5::File& file, std::uint64_t header, const std::string& path,
        const RecordType& record);

  std::uint64_t rows() const { return dataset_.rows; }
  std::uint64_t chunk_rows() const { return dataset_.chunk_rows; }
  std::uint64_t rows_in_chunk(std::uint64_t chunk) const { return dataset_.rows_in(chunk); }
  const RecordType& record() const { return record_; }
  /// "table '/Events/event_id'"
  const std::string& what() const { return dataset_.what; }

  /// Fills `to` with the rows of a chunk, rows_in_chunk(chunk) of our kind.
  void read_chunk(std::uint64_t chunk, ChunkWorkspace& workspace, std::span<std::byte> to) const;
  /// Stands for all rows as the file has them; see hdf5/content_sum.hpp.
  std::uint32_t content_sum() const { return content_sum_.value(file_); }

 private:
  const hdf5::File& file_;
  hdf5::Dataset dataset_;
  mutable hdf5::ContentSum content_sum_;
  const RecordType& record_;
  RowConversion conversion_;
};

/// Reads rows of a table for one thread. It keeps the last two chunks it unpacked, so that reading
/// forward unpacks each chunk once even where somebody looks back at the row before.
template <class Row>
class TableReader {
 public:
  TableReader(const Table& table, ChunkWorkspace& workspace)
      : table_(&table), workspace_(&workspace) {
    COSMIC_ASSERT(&table.record() == &record_type<Row>());
  }

  const Table& table() const { return *table_; }

  const Row& row(std::uint64_t row) {
    COSMIC_ASSERT(row < table_->rows());
    return chunk(row / table_->chunk_rows())[row % table_->chunk_rows()];
  }

  /// Calls use(std::span<const Row>) for the pieces of `count` rows from `first` on, in order.
  template <class Use>
  void each_piece(std::uint64_t first, std::uint64_t count, const Use& use) {
    COSMIC_ASSERT(first <= table_->rows() && count <= table_->rows() - first);
    while (count > 0) {
      const std::uint64_t skip = first % table_->chunk_rows();
      const std::uint64_t here = std::min(count, table_->chunk_rows() - skip);
      use(chunk(first / table_->chunk_rows())
              .subspan(static_cast<std::size_t>(skip), static_cast<std::size_t>(here)));
      first += here;
      count -= here;
    }
  }

 private:
  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};

  struct Slot {
    std::uint64_t chunk = kNothing;
    std::vector<Row> rows;
  };

  std::span<const Row> chunk(std::uint64_t number) {
    if (slots_[0].chunk != number) {
      std::swap(slots_[0], slots_[1]);
      if (slots_[0].chunk != number) {
        load(number, slots_[0]);
      }
    }
    return slots_[0].rows;
  }

  void load(std::uint64_t number, Slot& slot) {
    slot.chunk = kNothing;  // half a chunk must not be found again after an error
    slot.rows.resize(static_cast<std::size_t>(table_->rows_in_chunk(number)));
    table_->read_chunk(number, *workspace_, std::as_writable_bytes(std::span(slot.rows)));
    slot.chunk = number;
  }

  const Table* table_;
  ChunkWorkspace* workspace_;
  std::array<Slot, 2> slots_;
};

}  // namespace cosmic::data::larcv
