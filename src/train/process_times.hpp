// How the processes of a run have spent its time, side by side in the log: who worked, and who
// waited for whom.
#pragma once

#include "output/run_log.hpp"
#include "run/processes.hpp"
#include "train/exchange_times.hpp"

namespace cosmic::train {

/// Of this process.
struct ProcessTimes {
  double whole_seconds = 0;
  double data_seconds = 0;  ///< waiting for data
  ExchangeTimes::Update exchange;
};

/// Each process calls it with its own times. Nothing is said about one that is alone.
void log_process_times(output::RunLog& log, const run::Processes& processes,
                       const ProcessTimes& own);

}  // namespace cosmic::train
