// The one list of small programs on which every target is compared with the reference. Each has an
// op under test; an op of AnyOp that none of them has is reported by every_op_has_a_case.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "target/reference/evaluate.hpp"

namespace cosmic::conformance {

struct OpCase {
  std::string name;  ///< letters, digits and underscores: it becomes part of a test's name
  graph::Graph graph;
  graph::ValueId under_test;
  /// In the graph's order; every number is one that its dtype can hold, so that all targets start
  /// from the same.
  std::vector<target::reference::Tensor> inputs;
  target::reference::States states;
  /// Of |y - reference| / (1 + |reference|), for every element of every output and new state.
  double tolerance = 1e-5;
  /// Why the gradient is not what finite differences give; empty where it is.
  std::string no_finite_differences;
};

const std::vector<OpCase>& op_cases();

std::ostream& operator<<(std::ostream& out, const OpCase& op_case);

}  // namespace cosmic::conformance
