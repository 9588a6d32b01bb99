// What one run of an executable is given for an input: all of its bytes, only the pixels that
// differ from the background, or nothing. And host memory that a target reads well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include "graph/graph.hpp"

namespace cosmic::target {

/// Is the memory of an input such that a target may fetch it by itself? Pinned memory comes from
/// Target::host_buffer; a target that runs beside the host transfers it without copying it first.
enum class HostMemory { pageable, pinned };

/// The pixels of an input that differ from `fill`, so that a target can make the rest itself. An
/// image is one index of the input's first axis; detectors' images are nearly empty, and what has
/// to travel is then a small part of them.
struct SparsePixels {
  /// One more than there are images: those of image i are [first[i], first[i + 1]) of the others.
  std::span<const std::int64_t> first;
  /// The place of each pixel in its image, row-major. Within an image they ascend, so none comes
  /// twice: which of two values won would depend on the order in which a machine scatters them.
  std::span<const std::int32_t> indices;
  /// The elements, in the input's own type, one after the other.
  std::span<const std::byte> values;
  double fill = 0;  ///< of all other pixels, as that type holds it
};

/// Views of memory that stays as it is until Executable::wait has returned.
class RunInput {
 public:
  /// Keeps what the run before was given: data that stays on the target is not moved again.
  RunInput() = default;
  /// Every byte, row-major.
  // NOLINTNEXTLINE(google-explicit-constructor): bytes are what an input usually is
  RunInput(std::span<const std::byte> bytes, HostMemory memory = HostMemory::pageable)
      : content_(bytes), memory_(memory) {}
  // NOLINTNEXTLINE(google-explicit-constructor): likewise
  RunInput(const SparsePixels& pixels, HostMemory memory = HostMemory::pageable)
      : content_(pixels), memory_(memory) {}

  bool is_kept() const { return std::holds_alternative<std::monostate>(content_); }
  /// Empty unless every byte is given.
  std::span<const std::byte> bytes() const {
    const auto* const dense = std::get_if<std::span<const std::byte>>(&content_);
    return dense == nullptr ? std::span<const std::byte>{} : *dense;
  }
  /// Null unless only some pixels are given.
  const SparsePixels* pixels() const { return std::get_if<SparsePixels>(&content_); }
  HostMemory memory() const { return memory_; }
  /// How much travels to the target.
  std::int64_t transferred_bytes() const;

 private:
  std::variant<std::monostate, std::span<const std::byte>, SparsePixels> content_;
  HostMemory memory_ = HostMemory::pageable;
};

/// Are both views of the same memory, or both kept? What the memory holds is not looked at.
bool same_views(const RunInput& a, const RunInput& b);

/// Throws UserError that names the input, and of sparse pixels the image and the index, unless it
/// is as large as its type and every pixel lies within its image. An input that is kept always
/// fits.
void require_input(const std::string& name, const graph::TensorType& type, const RunInput& input);
/// The same for all inputs of a program.
void require_inputs(const graph::Graph& program, std::span<const RunInput> inputs);

/// Writes the whole input: the fill value, then the pixels over it. They were checked.
void scatter(const SparsePixels& pixels, const graph::TensorType& type, std::span<std::byte> out);

/// Memory of the host that a target hands out for what will travel to it. Zero at first.
class HostBuffer {
 public:
  using Free = std::function<void(std::byte*)>;

  /// Ordinary memory on page boundaries.
  explicit HostBuffer(std::int64_t bytes);
  /// Memory that a target has pinned, and how it is given back.
  HostBuffer(std::byte* pinned, std::int64_t bytes, Free free);

  std::span<std::byte> bytes() const { return {memory_.get(), size_}; }
  HostMemory memory() const { return kind_; }

 private:
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t size_;
  HostMemory kind_;
};

}  // namespace cosmic::target
