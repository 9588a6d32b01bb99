// The bytes of an HDF5 file. This folder reads HDF5's metadata itself instead of through the HDF5
// library, for three reasons: the library finds one chunk by walking over all chunks before it (so
// the time to list them grows with the square of their number), it works under one global lock, and
// it trusts what a file says. Here every number that comes from a file is checked before it is
// used. Only what larcv3, our writer and h5py's defaults produce is understood, and a little more;
// for the rest there is an error that says what to do.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace cosmic::data::larcv::hdf5 {

/// The address of something that is not stored.
inline constexpr std::uint64_t kNoAddress = ~std::uint64_t{0};

/// An open HDF5 file whose superblock made sense. Any number of threads may read from it.
class File {
 public:
  explicit File(const std::filesystem::path& path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// Where the object header of the root group is.
  std::uint64_t root() const { return root_; }
  /// Bytes that addresses can reach.
  std::uint64_t bytes() const { return size_ - base_; }

  bool contains(std::uint64_t address, std::uint64_t bytes) const;
  /// Fills `to` with the bytes at an HDF5 address. `what` names them in the error when they are not
  /// all there.
  void read(std::uint64_t address, std::span<std::byte> to, std::string_view what) const;
  /// For descriptions, such as headers and trees. A file whose descriptions refer to the same bytes
  /// again and again would keep a reader busy for ever, so all of them together have a limit that
  /// is in proportion to the file.
  std::vector<std::byte> read(std::uint64_t address, std::size_t bytes,
                              std::string_view what) const;

 private:
  void find_superblock();
  void read_superblock(std::uint64_t offset);
  void read_bytes(std::uint64_t offset, std::span<std::byte> to, std::string_view what) const;

  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t base_ = 0;  ///< where address 0 is: after the user block, where there is one
  std::uint64_t root_ = kNoAddress;
  mutable std::atomic<std::uint64_t> described_{0};  ///< bytes of descriptions read so far
};

}  // namespace cosmic::data::larcv::hdf5
