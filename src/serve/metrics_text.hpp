// Metrics for Prometheus: under Triton's names what it has too, and ours beside them.
#pragma once

#include <cstdint>
#include <string>

#include "serve/model_repository.hpp"

namespace cosmic::serve {

/// Of the process.
struct ServerGauges {
  std::int64_t connections = 0;
  std::uint64_t connections_refused = 0;
  std::uint64_t log_lines_lost = 0;
  std::size_t body_bytes = 0;  ///< of requests that are being read
};

std::string metrics_text(const ModelRepository& models, const ServerGauges& gauges);

}  // namespace cosmic::serve
