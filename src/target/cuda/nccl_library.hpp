// NCCL, as far as sums over processes need it. The library is loaded when several processes with
// GPUs ask for it, so that the program starts without it; a build without its header has none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/support.hpp"

namespace cosmic::target::cuda {

/// The part of this process in a group of processes, each with a device.
class NcclGroup {
 public:
  virtual ~NcclGroup() = default;
  /// Queues the sum, each in its place, on a stream of CUDA. What went wrong; empty for nothing.
  virtual std::string add_up(float* numbers, std::int64_t count, void* stream) = 0;
  /// What went wrong since, beside whoever asked for sums; empty for nothing.
  virtual std::string error() = 0;
};

class NcclLibrary {
 public:
  /// That a group knows itself by; one process makes it and tells all.
  using Id = std::array<std::byte, 128>;

  virtual ~NcclLibrary() = default;
  /// Is it there, and new enough?
  virtual Support usable() const = 0;
  /// Both throw TargetError with what NCCL says.
  virtual Id make_id() = 0;
  virtual std::unique_ptr<NcclGroup> join(const Id& id, int rank, int size, int device) = 0;
};

/// That of this build, or one that says that there is none.
std::shared_ptr<NcclLibrary> nccl_library();

inline constexpr const char* kNcclFile = "libnccl.so.2";

/// Of a library that was found or not, by the version that it gives itself: no version, and what
/// the system says, if it cannot be loaded.
Support nccl_usable(const std::optional<int>& version, const std::string& why_not_loaded);

}  // namespace cosmic::target::cuda
