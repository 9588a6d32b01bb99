#include "compile/pass.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/stopwatch.hpp"

namespace cosmic::compile {
namespace {

void require_known(const std::vector<Pass>& passes, const std::set<std::string>& disabled) {
  for (const std::string& name : disabled) {
    const auto found = std::find_if(passes.begin(), passes.end(),
                                    [&](const Pass& pass) { return pass.name == name; });
    std::string known;
    for (const Pass& pass : passes) {
      if (pass.required == Required::no) {
        known += (known.empty() ? "" : ", ") + pass.name;
      }
    }
    COSMIC_REQUIRE(UserError, found != passes.end(),
                   "cannot disable pass '" << name << "' (there is no such pass here); these "
                                           << "can be left out: " << known);
    COSMIC_REQUIRE(UserError, found->required == Required::no,
                   "cannot disable pass '" << name << "' (the program would not run without it); "
                                           << "these can be left out: " << known);
  }
}

}  // namespace

graph::Graph run_pipeline(graph::Graph graph, const std::vector<Pass>& passes,
                          const PipelineOptions& options, std::vector<PassReport>& report) {
  require_known(passes, options.disabled);
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const Pass& pass = passes[i];
    if (options.disabled.contains(pass.name)) {
      continue;
    }
    if (options.progress) {
      options.progress(static_cast<double>(i) / static_cast<double>(passes.size()), pass.name);
    }
    const Stopwatch watch;
    graph = pass.run(std::move(graph));
    const double seconds = watch.seconds();
    try {
      graph::verify(graph);
    } catch (const Error& error) {
      throw InternalError("pass '" + pass.name + "' broke the graph: " + error.what());
    }
    report.push_back({pass.name, seconds, graph.size()});
    if (options.dump) {
      options.dump(pass.name, graph);
    }
  }
  return graph;
}

}  // namespace cosmic::compile
