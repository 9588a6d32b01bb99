// A pass rewrites a graph into an equivalent one. It is a value: adding one edits no switch. The
// pipeline that lists passes says why each stands where it does, runs them, times them, verifies
// the graph after each, and can leave one out or show the graph after each.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace cosmic::compile {

enum class Required { no, yes };

struct Pass {
  std::string name;     ///< a verb phrase: "drop-dead-nodes"
  std::string because;  ///< why it stands at its place in the pipeline
  std::function<graph::Graph(graph::Graph)> run;
  Required required = Required::no;  ///< an optional pass may be disabled without changing results
  /// Everything but the graph that decides what it does, such as "beta1=0.9": a pass with another
  /// setting makes another program, and a kept one must not be taken for it.
  std::string settings = {};
};

struct PassReport {
  std::string name;
  double seconds = 0;
  std::size_t nodes = 0;  ///< after the pass
};

struct PipelineOptions {
  std::set<std::string> disabled;  ///< names of optional passes to leave out
  /// Called with the name and the graph after each pass; empty for none.
  std::function<void(const std::string& pass, const graph::Graph& graph)> dump;
  /// Called before each pass with the share of the pipeline done, 0 to 1; empty for none.
  std::function<void(double done, const std::string& pass)> progress;
};

/// Throws UserError for a disabled name that is not an optional pass of this pipeline,
/// InternalError naming the pass that broke the graph.
graph::Graph run_pipeline(graph::Graph graph, const std::vector<Pass>& passes,
                          const PipelineOptions& options, std::vector<PassReport>& report);

}  // namespace cosmic::compile
