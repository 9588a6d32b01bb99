// Tags the events of files as `infer` does and writes the same files, but a server computes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "core/output_rule.hpp"
#include "infer/inference_outputs.hpp"
#include "output/run_log.hpp"
#include "serve/client/tagging_client.hpp"

namespace cosmic::serve::remote {

struct RemoteOptions {
  client::ClientOptions client;
  int connections = 4;  ///< requests in flight
};

struct RemoteSummary {
  std::int64_t events = 0;
  std::vector<infer::Findings> findings;  ///< of each file that was written
  std::vector<std::string> computed_by;   ///< each server that answered, once
};

/// `progress` hears of events that are done, of all. Throws client::Unreachable, client::Refused,
/// UserError if the events have another size than the model takes or if the weights of the servers
/// are not the same, and as infer::infer does; files that were not finished are not there then.
RemoteSummary tag_remotely(
    const config::Configuration& configuration, const RemoteOptions& options, output::RunLog& log,
    const OutputRule& rule, const infer::InferenceOutputs& outputs,
    const std::function<void(std::int64_t done, std::int64_t all)>& progress);

}  // namespace cosmic::serve::remote
