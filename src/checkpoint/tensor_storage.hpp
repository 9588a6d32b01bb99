// Turns views into an archive's storages into tensors of ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/pickle_value.hpp"
#include "session/tensor.hpp"

namespace cosmic::checkpoint {

/// Where the bytes of storages come from.
class StorageSource {
 public:
  StorageSource() = default;
  virtual ~StorageSource() = default;
  StorageSource(const StorageSource&) = delete;
  StorageSource& operator=(const StorageSource&) = delete;

  /// Throws DataError if there is no such storage.
  virtual std::vector<std::byte> read(std::string_view key) const = 0;
  /// Throws DataError if there is no such storage.
  virtual std::uint64_t bytes(std::string_view key) const = 0;
  /// Size of the whole archive, the limit for all tensors together.
  virtual std::uint64_t total_bytes() const = 0;
};

/// Real numbers become float32 (float64 is rounded), whole numbers int64, truth values and uint8
/// stay bytes.
class TensorReader {
 public:
  explicit TensorReader(const StorageSource& source) : source_(source) {}

  /// Throws DataError if the storage is missing or does not have the size that its type and number
  /// of elements say, or if the tensors read so far are far larger than the archive.
  session::Tensor read(const PickleTensor& tensor);

 private:
  const StorageSource& source_;
  std::string cached_key_;  ///< of the storage read last: tensors that share one come together
  std::vector<std::byte> cached_;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t bytes_made_ = 0;
};

}  // namespace cosmic::checkpoint
