// Where values are on the device.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/graph.hpp"

namespace cosmic::target::cuda {

class Addresses {
 public:
  Addresses(const graph::Graph& graph, std::vector<std::byte*> addresses)
      : graph_(&graph), addresses_(std::move(addresses)) {}

  const graph::Graph& graph() const { return *graph_; }
  template <class Element = float>
  Element* at(graph::ValueId value) const {
    return reinterpret_cast<Element*>(addresses_.at(value.index()));
  }

 private:
  const graph::Graph* graph_;  // outlives this
  std::vector<std::byte*> addresses_;
};

}  // namespace cosmic::target::cuda
