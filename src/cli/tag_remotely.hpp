// `cosmictagger tag FILE --server URL`: a server computes, the files are those of `tag`.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "config/configuration.hpp"
#include "core/output_rule.hpp"
#include "infer/inference_outputs.hpp"

namespace cosmic::cli {

struct ServerChoices {
  std::vector<std::string> servers;
  std::string model = "cosmictagger";
  std::string token_file;
  std::string certificates;
  bool local_fallback = false;

  void add_options(Command& command);
  bool given() const { return !servers.empty(); }
};

/// Options and settings that would do nothing. Throws UserError.
void require_sensible(const ServerChoices& choices, const std::string& weights,
                      const std::vector<std::string>& words);

enum class WhoTagged { server, nobody };

/// Tags, and says who computed. If no server answered and the fallback is allowed, says so and
/// returns nobody; otherwise throws TargetError.
WhoTagged tag_with_servers(const ServerChoices& choices, const config::Configuration& configuration,
                           const OutputRule& rule, const infer::InferenceOutputs& outputs,
                           std::vector<infer::Findings>& findings);

}  // namespace cosmic::cli
