// Memory on cache-line boundaries, zero at first. Large buffers ask for huge pages: a step walks
// through gigabytes, and address translation would otherwise be a visible part of its time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cosmic::target::cpu {

class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::int64_t floats);

  float* data() const { return reinterpret_cast<float*>(memory_.get()); }
  std::byte* raw() const { return memory_.get(); }
  std::int64_t bytes() const { return memory_.get_deleter().bytes; }

 private:
  struct Unmap {
    std::int64_t bytes;
    void operator()(std::byte* memory) const;
  };

  std::unique_ptr<std::byte, Unmap> memory_{nullptr, Unmap{0}};
};

}  // namespace cosmic::target::cpu
