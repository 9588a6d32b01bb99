// A job as a test would describe it.
#pragma once

#include "monitor/job.hpp"

namespace cosmic::monitor {

inline JobDescription example_job() {
  return {.command = "train",
          .run = "07",
          .target = "cpu",
          .machine = "node7",
          .compute_mode = "CPU",
          .provenance = "measured",
          .folder = "output/07"};
}

}  // namespace cosmic::monitor
