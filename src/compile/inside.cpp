#include "compile/inside.hpp"

#include <algorithm>

#include "compile/last_uses.hpp"
#include "compile/step.hpp"
#include "graph/ops/exchange_begins.hpp"

namespace cosmic::compile {
namespace {

using graph::Graph;
using graph::Node;
using graph::op_if;
using graph::ValueId;

bool is_plain_float(const Node& node) {
  return node.type.dtype == graph::DType::f32 && node.format == NumberFormat::f32 &&
         node.layout == graph::Layout::plain;
}

std::int64_t bytes_of_floats(std::int64_t floats) {
  return floats * static_cast<std::int64_t>(sizeof(float));
}

/// Operands of an all_reduce whose place their sum may take.
void add_operands(const Graph& graph, ValueId sum, const std::vector<std::size_t>& last,
                  std::vector<std::optional<Inside>>& inside) {
  const std::vector<ValueId>& operands = graph.node(sum).operands;
  std::vector<graph::TensorType> types;
  for (const ValueId operand : operands) {
    types.push_back(graph.type(operand));
  }
  const std::vector<std::int64_t> begins = graph::exchange_begins(types);
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const Node& node = graph.node(operands[i]);
    const bool lies_elsewhere =
        inside[operands[i].index()] || op_if<graph::AllReduce>(node) != nullptr;
    const bool once = std::count(operands.begin(), operands.end(), operands[i]) == 1;
    if (is_plain_float(node) && is_computed_and_stored(node) && !lies_elsewhere && once &&
        last[operands[i].index()] == sum.index()) {
      inside[operands[i].index()] = Inside{sum, bytes_of_floats(begins[i])};
    }
  }
}

/// What is taken from a sum, or from what was taken from one: some of its numbers, or another
/// shape.
std::optional<Inside> place_in_sum(const Graph& graph, const Node& node,
                                   const std::vector<std::optional<Inside>>& inside) {
  const auto* const slice = op_if<graph::Slice>(node);
  if ((slice == nullptr || slice->axis != 0) && op_if<graph::Reshape>(node) == nullptr) {
    return std::nullopt;
  }
  const ValueId from = node.operands[0];
  std::optional<Inside> place = inside[from.index()];
  if (op_if<graph::AllReduce>(graph.node(from)) != nullptr) {
    place = Inside{from, 0};
  }
  if (!place || from < place->whole) {  // an operand of a sum, which is read before that is made
    return std::nullopt;
  }
  if (slice != nullptr) {
    const graph::TensorType& type = graph.type(from);
    place->offset += bytes_of_floats(slice->begin * type.elements() / type.dim(0));
  }
  return place;
}

/// One per value: the result of an all_reduce that it could lie in.
std::vector<std::optional<Inside>> find_inside(const Graph& graph) {
  const std::vector<std::size_t> last = last_uses(graph);
  std::vector<std::optional<Inside>> inside(graph.size());
  for_each_node(graph, [&](ValueId id, const Node& node) {
    if (!is_plain_float(node) || !node.stored) {
      return;
    }
    if (op_if<graph::AllReduce>(node) != nullptr) {
      add_operands(graph, id, last, inside);
    } else {
      inside[id.index()] = place_in_sum(graph, node, inside);
    }
  });
  return inside;
}

}  // namespace

std::vector<std::optional<Inside>> choose_inside(const Graph& graph, const TargetInfo& target) {
  std::vector<std::optional<Inside>> inside = find_inside(graph);
  for_each_node(graph, [&](ValueId id, const Node& node) {
    std::optional<Inside>& place = inside[id.index()];
    if (!place) {
      return;
    }
    // The sum is written over an operand; what is taken from a sum is written over that.
    const bool may = id < place->whole ? target.can_write_over(graph, place->whole, id)
                                       : target.can_write_over(graph, id, node.operands[0]);
    if (!may || place->offset % target.alignment != 0 ||
        target.storage_bytes(node) != node.type.bytes()) {
      place.reset();
    }
  });
  return inside;
}

std::vector<std::optional<Inside>> values_inside(const Plan& plan) {
  std::vector<std::optional<Inside>> inside = find_inside(plan.graph);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (!inside[i]) {
      continue;
    }
    const std::optional<Placement>& part = plan.placements[i];
    const std::optional<Placement>& whole = plan.placements[inside[i]->whole.index()];
    const bool is_there = part && whole && part->offset == whole->offset + inside[i]->offset &&
                          inside[i]->offset + part->bytes <= whole->bytes &&
                          whole->first <= part->first && part->last <= whole->last;
    if (!is_there) {
      inside[i].reset();
    }
  }
  return inside;
}

}  // namespace cosmic::compile
