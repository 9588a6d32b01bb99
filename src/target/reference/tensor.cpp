#include "target/reference/tensor.hpp"

#include <cstring>

#include "core/error.hpp"

namespace cosmic::target::reference {
namespace {

template <class Element>
void read_elements(std::span<const std::byte> bytes, std::vector<double>& data) {
  for (std::size_t i = 0; i < data.size(); ++i) {
    Element element;
    std::memcpy(&element, bytes.data() + i * sizeof(Element), sizeof(Element));
    data[i] = static_cast<double>(element);
  }
}

template <class Element>
void write_elements(const std::vector<double>& data, std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto element = static_cast<Element>(data[i]);
    std::memcpy(bytes.data() + i * sizeof(Element), &element, sizeof(Element));
  }
}

void require_bytes(const graph::TensorType& type, std::size_t bytes) {
  COSMIC_REQUIRE(InternalError, static_cast<std::int64_t>(bytes) == type.bytes(),
                 "a tensor " << type << " was given " << bytes << " bytes (it has " << type.bytes()
                             << "); pass exactly its elements");
}

}  // namespace

Tensor zeros(const graph::TensorType& type) {
  return {type, std::vector<double>(static_cast<std::size_t>(type.elements()), 0.0)};
}

Tensor from_bytes(const graph::TensorType& type, std::span<const std::byte> bytes) {
  require_bytes(type, bytes.size());
  Tensor tensor = zeros(type);
  switch (type.dtype) {
    case graph::DType::f32:
      read_elements<float>(bytes, tensor.data);
      break;
    case graph::DType::i64:
      read_elements<std::int64_t>(bytes, tensor.data);
      break;
    case graph::DType::u8:
      read_elements<std::uint8_t>(bytes, tensor.data);
      break;
  }
  return tensor;
}

void to_bytes(const Tensor& tensor, std::span<std::byte> bytes) {
  require_bytes(tensor.type, bytes.size());
  switch (tensor.type.dtype) {
    case graph::DType::f32:
      write_elements<float>(tensor.data, bytes);
      break;
    case graph::DType::i64:
      write_elements<std::int64_t>(tensor.data, bytes);
      break;
    case graph::DType::u8:
      write_elements<std::uint8_t>(tensor.data, bytes);
      break;
  }
}

AxisView around_axis(const graph::TensorType& type, std::int64_t axis) {
  AxisView view;
  for (std::size_t i = 0; i < type.rank(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    (at < axis ? view.outer : at == axis ? view.extent : view.inner) *= type.dim(i);
  }
  return view;
}

}  // namespace cosmic::target::reference
