// What rounding may do to a value. A target computes in float32 and adds up in an order of its own;
// the reference computes in double. How far the two may be apart follows from the op: from how many
// roundings it takes, and from how long its sums are and how large their terms.
//
// Rounding errors behave like independent random numbers, so their variances add up. With unit
// roundoff u, one rounding of x has a variance of at most u^2 x^2 / 3. A sum of n terms t that is
// added up one by one rounds every partial sum; those drift to the result y and spread around the
// drift as a random walk that ends there (a bridge), so that
//
//   variance = u^2 / 3 * (n y^2 / 3 + n T / 6 + T),   T = sum of t^2
//
// where the last T is for rounding the products. Shorter chains, as vectors and threads make them,
// do better. Errors of operands are carried along to first order.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "target/reference/tensor.hpp"

namespace cosmic::target::check {

using reference::Tensor;

/// What a value is in exact arithmetic, and how far a sound target may be off.
struct Estimate {
  Tensor value;
  std::vector<double> variance;  ///< one per element; empty if there is nothing to round

  bool exact() const { return variance.empty(); }
};

/// Of one node, before it is written: rounding to its format is not part of it. Where the products
/// of the node are added up in a narrow format, that is.
Estimate estimate(const graph::Graph& graph, graph::ValueId id,
                  std::span<const Estimate* const> operands);

}  // namespace cosmic::target::check
