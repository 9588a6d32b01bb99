#include "train/process_times.hpp"

#include <string>
#include <vector>

#include "output/number_text.hpp"

namespace cosmic::train {

void log_process_times(output::RunLog& log, const run::Processes& processes,
                       const ProcessTimes& own) {
  if (processes.size() == 1) {
    return;
  }
  const std::vector<double> waiting = processes.gather(processes.waiting_seconds());
  const std::vector<double> reading = processes.gather(own.data_seconds);
  std::string table = "Of " + output::fixed_point(own.whole_seconds, 1) +
                      " s, in seconds: computing and all else, waiting for data, waiting for "
                      "other processes";
  for (int rank = 0; rank < processes.size(); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    table += "\n  " + processes.name(rank) + ": " +
             output::fixed_point(own.whole_seconds - reading[at] - waiting[at], 1) + ", " +
             output::fixed_point(reading[at], 1) + ", " + output::fixed_point(waiting[at], 1);
  }
  log.info(table);
  const std::vector<ExchangeTimes::Update> medians = processes.gather(own.exchange);
  table = "Of an update, in ms (medians): the sums over processes on their way, waited for them";
  for (int rank = 0; rank < processes.size(); ++rank) {
    const ExchangeTimes::Update& median = medians[static_cast<std::size_t>(rank)];
    table += "\n  " + processes.name(rank) + ": " +
             output::fixed_point(median.exchange_seconds * 1e3, 3) + ", " +
             output::fixed_point(median.waiting_seconds * 1e3, 3);
  }
  log.info(table);
}

}  // namespace cosmic::train
