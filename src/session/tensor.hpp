// A tensor in host memory: a type and its bytes, row-major.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/tensor_type.hpp"

namespace cosmic::session {

struct Tensor {
  graph::TensorType type;
  std::vector<std::byte> bytes;

  Tensor() = default;
  explicit Tensor(graph::TensorType tensor_type)
      : type(std::move(tensor_type)), bytes(static_cast<std::size_t>(type.bytes())) {}

  template <class Element>
  std::span<Element> as() {
    return {reinterpret_cast<Element*>(bytes.data()), bytes.size() / sizeof(Element)};
  }
  template <class Element>
  std::span<const Element> as() const {
    return {reinterpret_cast<const Element*>(bytes.data()), bytes.size() / sizeof(Element)};
  }
};

/// Tensors by name, such as all the weights of a network.
using NamedTensors = std::map<std::string, Tensor>;

}  // namespace cosmic::session
