// Running a case on a target, and what should come out of it.
#pragma once

#include <string>
#include <vector>

#include "compile/pipeline.hpp"
#include "conformance/op_cases.hpp"
#include "target/target.hpp"

namespace cosmic::conformance {

compile::Plan plan_for(const graph::Graph& graph, const target::Target& target,
                       const compile::PipelineOptions& options = {});

/// What a run of `graph`, the case's or one made from it, leaves behind: outputs in the graph's
/// order, then the new values of updated states.
std::vector<target::reference::Tensor> meaning_of(const graph::Graph& graph, const OpCase& op_case);

/// The same from the target. However small a case is, all threads share it: what they do at their
/// borders is under test.
std::vector<target::reference::Tensor> run_on(const target::Target& target, const OpCase& op_case,
                                              const compile::Plan& plan, int threads);

/// Not a number agrees only with itself: some scores have no value.
bool agree(double value, double expected, double tolerance);

/// Fails if an element is off by more than tolerance * (1 + |expected|).
void expect_agreement(const target::reference::Tensor& value,
                      const target::reference::Tensor& expected, double tolerance,
                      const std::string& what);

}  // namespace cosmic::conformance
