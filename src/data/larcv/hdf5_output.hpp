// Where the bytes of a file go that the HDF5 library writes: into a pending file, through a driver
// of our own. The library cannot be told that the disk is full. After a write that failed, closing
// the file or ending the process crashes in it, so the driver never lets one fail: it keeps the
// first error for us, and the pages that did not reach the disk in memory, where the library finds
// them again. Whoever writes asks for the error and gives up. Internal, as hdf5_handle.hpp is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/pending_file.hpp"
#include "data/larcv/hdf5_handle.hpp"

namespace cosmic::data::larcv {

class Hdf5Output {
 public:
  /// The file outlives this.
  explicit Hdf5Output(PendingFile& file) : file_(file) {}
  Hdf5Output(const Hdf5Output&) = delete;
  Hdf5Output& operator=(const Hdf5Output&) = delete;

  /// A new HDF5 file in the pending one, which this must outlive. Hold an Hdf5Session.
  Hdf5File create();

  /// The errno of the first operation that failed; 0 if none has.
  int error() const { return error_; }
  /// Throws DataError if one has. To be called every few megabytes, which are in memory until then.
  void require_written() const;

  /// From now on nothing reaches the disk: the file is given up, and has yet to be closed.
  void discard() { discarded_ = true; }

  // What the library asks for.
  bool write(std::uint64_t address, std::span<const std::byte> bytes);
  bool read(std::uint64_t address, std::span<std::byte> to) const;
  bool resize(std::uint64_t bytes);

 private:
  static constexpr std::size_t kPageBytes = 4096;
  using Page = std::vector<std::byte>;

  bool to_disk() const { return error_ == 0 && !discarded_; }
  bool write_to_disk(std::uint64_t address, std::span<const std::byte> bytes);
  void read_from_disk(std::uint64_t address, std::span<std::byte> to) const;

  PendingFile& file_;
  mutable int error_ = 0;  // reading can fail too
  bool discarded_ = false;
  std::unordered_map<std::uint64_t, Page> pages_;  ///< what is not on the disk, by page number
};

}  // namespace cosmic::data::larcv
