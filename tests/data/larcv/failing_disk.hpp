// A disk that takes no more from a chosen operation on.
#pragma once

#include <cerrno>

#include "core/file_operations.hpp"

namespace cosmic {

class FailingDisk : public FileOperations {
 public:
  /// Operations that take space succeed `after` times, then fail with `error`.
  FailingDisk(std::size_t after, int error) : after_(after), error_(error) {}

  ssize_t write(int descriptor, std::span<const std::byte> bytes) override {
    return fails() ? -1 : FileOperations::write(descriptor, bytes);
  }
  /// The last that succeeds takes half of its bytes, as a disk does that is nearly full.
  ssize_t write_at(int descriptor, std::span<const std::byte> bytes,
                   std::uint64_t offset) override {
    if (fails()) {
      return -1;
    }
    const bool last = operations_ == after_ && bytes.size() > 1;
    return FileOperations::write_at(descriptor, last ? bytes.first(bytes.size() / 2) : bytes,
                                    offset);
  }
  int resize(int descriptor, std::uint64_t bytes) override {
    return fails() ? -1 : FileOperations::resize(descriptor, bytes);
  }
  int sync(int descriptor) override { return fails() ? -1 : FileOperations::sync(descriptor); }

  /// Whether an operation has failed.
  bool failed() const { return operations_ > after_; }

 private:
  bool fails() {
    errno = error_;
    return operations_++ >= after_;
  }

  std::size_t after_;
  int error_;
  std::size_t operations_ = 0;
};

}  // namespace cosmic
