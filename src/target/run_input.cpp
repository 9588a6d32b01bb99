#include "target/run_input.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/error.hpp"

namespace cosmic::target {
namespace {

constexpr std::align_val_t kPage{4096};

std::int64_t images_of(const graph::TensorType& type) {
  return type.rank() == 0 ? 1 : type.dim(0);
}

/// Whether the indices of an image ascend from 0 or more to less than its size. Without a way out
/// of the loop, so that it takes a small part of the time that the pixels take to travel.
bool ascend_within(const SparsePixels& pixels, std::int64_t image, std::int64_t size) {
  const auto begin = static_cast<std::size_t>(pixels.first[static_cast<std::size_t>(image)]);
  const auto end = static_cast<std::size_t>(pixels.first[static_cast<std::size_t>(image) + 1]);
  if (begin == end) {
    return true;
  }
  const std::int32_t* const indices = pixels.indices.data();
  bool ascend = indices[begin] >= 0 && indices[end - 1] < size;
  for (std::size_t i = begin + 1; i < end; ++i) {
    ascend &= indices[i] > indices[i - 1];
  }
  return ascend;
}

template <class Element>
bool same_view(std::span<Element> a, std::span<Element> b) {
  return a.data() == b.data() && a.size() == b.size();
}

void require_pixels(const SparsePixels& pixels, const std::string& name,
                    const graph::TensorType& type) {
  const std::int64_t images = images_of(type);
  const auto count = static_cast<std::int64_t>(pixels.indices.size());
  COSMIC_REQUIRE(UserError,
                 static_cast<std::int64_t>(pixels.first.size()) == images + 1 &&
                     pixels.first.front() == 0 && pixels.first.back() == count &&
                     std::is_sorted(pixels.first.begin(), pixels.first.end()),
                 "the sparse " << name << " does not say which of its " << count
                               << " pixels belong to which of the " << images << " images of "
                               << type << " (it has " << pixels.first.size()
                               << " offsets); give one offset per image and one more, ascending "
                                  "from 0 to the number of pixels");
  COSMIC_REQUIRE(
      UserError,
      static_cast<std::int64_t>(pixels.values.size()) == count * graph::size_of(type.dtype),
      "the sparse " << name << " has " << pixels.values.size() << " bytes of values for " << count
                    << " pixels (the input is " << type << "); give " << graph::size_of(type.dtype)
                    << " bytes for each");
  const std::int64_t size = images == 0 ? 0 : type.elements() / images;
  for (std::int64_t image = 0; image < images; ++image) {
    if (ascend_within(pixels, image, size)) {
      continue;
    }
    std::int64_t before = -1;
    for (std::int64_t i = pixels.first[static_cast<std::size_t>(image)];
         i < pixels.first[static_cast<std::size_t>(image) + 1]; ++i) {
      const std::int64_t index = pixels.indices[static_cast<std::size_t>(i)];
      COSMIC_REQUIRE(UserError, index >= 0 && index < size,
                     "image " << image << " of the sparse " << name << " has a pixel at index "
                              << index << " (an image of " << type << " has " << size
                              << " pixels); was it made for another image size?");
      COSMIC_REQUIRE(UserError, index > before,
                     "image " << image << " of the sparse " << name << " has index " << index
                              << " after index " << before
                              << " (indices of an image must ascend, so that each pixel has one "
                                 "value); sort them, and add up or drop duplicates");
      before = index;
    }
  }
}

void require_bytes(std::span<const std::byte> bytes, const std::string& name,
                   const graph::TensorType& type) {
  COSMIC_REQUIRE(UserError, static_cast<std::int64_t>(bytes.size()) == type.bytes(),
                 "the " << name << " has " << bytes.size() << " bytes, the model was compiled for "
                        << type << ", " << type.bytes()
                        << " bytes (shapes are fixed when compiling); compile a model for this "
                           "batch size and image size");
}

template <class Element>
void scatter_elements(const SparsePixels& pixels, std::size_t images, std::span<std::byte> out) {
  const auto fill = static_cast<Element>(pixels.fill);
  const std::size_t elements = out.size() / sizeof(Element);
  auto* const all = reinterpret_cast<Element*>(out.data());
  std::fill_n(all, elements, fill);
  for (std::size_t image = 0; image < images; ++image) {
    Element* const pixel = all + image * (elements / images);
    for (auto i = static_cast<std::size_t>(pixels.first[image]);
         i < static_cast<std::size_t>(pixels.first[image + 1]); ++i) {
      // The values may begin anywhere in memory.
      std::memcpy(pixel + pixels.indices[i], &pixels.values[i * sizeof(Element)], sizeof(Element));
    }
  }
}

}  // namespace

std::int64_t RunInput::transferred_bytes() const {
  if (const SparsePixels* const sparse = pixels()) {
    return static_cast<std::int64_t>(sparse->first.size_bytes() + sparse->indices.size_bytes() +
                                     sparse->values.size_bytes());
  }
  return static_cast<std::int64_t>(bytes().size());
}

bool same_views(const RunInput& a, const RunInput& b) {
  const SparsePixels* const x = a.pixels();
  const SparsePixels* const y = b.pixels();
  if (x != nullptr && y != nullptr) {
    return same_view(x->first, y->first) && same_view(x->indices, y->indices) &&
           same_view(x->values, y->values) && x->fill == y->fill && a.memory() == b.memory();
  }
  return x == y && a.is_kept() == b.is_kept() && same_view(a.bytes(), b.bytes()) &&
         a.memory() == b.memory();
}

void require_input(const std::string& name, const graph::TensorType& type, const RunInput& input) {
  if (const SparsePixels* const pixels = input.pixels()) {
    require_pixels(*pixels, name, type);
  } else if (!input.is_kept()) {
    require_bytes(input.bytes(), name, type);
  }
}

void require_inputs(const graph::Graph& program, std::span<const RunInput> inputs) {
  COSMIC_REQUIRE(
      InternalError, inputs.size() == program.inputs.size(),
      inputs.size() << " inputs were given to a program that has " << program.inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& [name, value] = program.inputs[i];
    require_input(name, program.type(value), inputs[i]);
  }
}

void scatter(const SparsePixels& pixels, const graph::TensorType& type, std::span<std::byte> out) {
  COSMIC_ASSERT(static_cast<std::int64_t>(out.size()) == type.bytes());
  const auto images = static_cast<std::size_t>(images_of(type));
  switch (type.dtype) {
    case graph::DType::f32:
      return scatter_elements<float>(pixels, images, out);
    case graph::DType::i64:
      return scatter_elements<std::int64_t>(pixels, images, out);
    case graph::DType::u8:
      return scatter_elements<std::uint8_t>(pixels, images, out);
  }
}

HostBuffer::HostBuffer(std::int64_t bytes)
    : memory_(static_cast<std::byte*>(::operator new(static_cast<std::size_t>(bytes), kPage)),
              [](std::byte* memory) { ::operator delete(memory, kPage); }),
      size_(static_cast<std::size_t>(bytes)),
      kind_(HostMemory::pageable) {
  std::memset(memory_.get(), 0, size_);
}

HostBuffer::HostBuffer(std::byte* pinned, std::int64_t bytes, Free free)
    : memory_(pinned, std::move(free)),
      size_(static_cast<std::size_t>(bytes)),
      kind_(HostMemory::pinned) {}

}  // namespace cosmic::target
