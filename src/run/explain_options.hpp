// What `cosmictagger explain` can be asked beside settings. The command line fills it in, and so do
// the rows of docs/models.md, each of which shows the command that reproduces it.
#pragma once

#include <string>
#include <vector>

#include "run/explained_run.hpp"

namespace cosmic::run {

struct ExplainOptions {
  bool recompute = false;
  bool stream_optimizer = false;
  int replicas = 1;
  int pipeline = 0;  ///< 0 for run.stages
  std::string stack = {};
  std::string published = {};
  double share = 1;
  int iterations_per_call = 1;
  double temporary_share = 0;  ///< 0 for the machine's own
};

RunChoice choice_of(const config::Configuration& configuration, const ExplainOptions& options);

/// "cosmictagger explain --stack mxnet ... run.precision=mixed".
std::string command_of(const std::vector<std::string>& settings, const ExplainOptions& options);

}  // namespace cosmic::run
