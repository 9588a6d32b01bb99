#include "data/larcv/table.hpp"

namespace cosmic::data::larcv {

Table::Table(const hdf5::File& file, std::uint64_t header, const std::string& path,
             const RecordType& record)
    : file_(file),
      dataset_(hdf5::read_dataset(file, header, path)),
      content_sum_(dataset_),
      record_(record),
      conversion_(dataset_.type, record, dataset_.what) {}

void Table::read_chunk(std::uint64_t chunk, ChunkWorkspace& workspace,
                       std::span<std::byte> to) const {
  const hdf5::Chunk& place = dataset_.chunks.at(static_cast<std::size_t>(chunk));
  workspace.packed.resize(place.bytes);
  file_.read(place.address, workspace.packed, dataset_.what);
  std::span<std::byte> rows = to;
  if (!conversion_.is_copy()) {
    workspace.rows.resize(static_cast<std::size_t>(dataset_.rows_in(chunk)) * dataset_.type.bytes);
    rows = workspace.rows;
  }
  try {
    workspace.unpacker.unpack(dataset_.filters, place.skipped_filters, dataset_.type.bytes,
                              workspace.packed, rows);
    content_sum_.keep(chunk, workspace.packed);
    if (!conversion_.is_copy()) {
      conversion_.convert(rows, to);
    }
  } catch (const DataError& error) {
    throw DataError(dataset_.what + ": chunk " + std::to_string(chunk) + " " + error.what());
  }
}

}  // namespace cosmic::data::larcv
