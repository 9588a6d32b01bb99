// How fast events come out of a loader when nobody does anything with them, and where the time
// goes: the logic behind `cosmictagger iotest`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/loader/batch_loader.hpp"
#include "data/sample_source.hpp"

namespace cosmic::data {

struct Throughput {
  std::int64_t batches = 0;
  std::int64_t events = 0;      ///< handed out, by this rank
  double seconds = 0;           ///< from before the loader was made, so that its start counts
  LoaderTimes times;            ///< of all events that were read, those read ahead included
  std::string remark;           ///< the loader's
  std::vector<ReadNote> notes;  ///< what was odd in what was read

  std::int64_t bytes = 0;  ///< of the batches that were handed out, in their form

  double events_per_second() const;
  double megabytes_per_event() const;
  /// Counts stored pixels, as they are in memory after reading.
  double megabytes_per_second() const;
  /// Threads' time for one event.
  double reading_ms_per_event() const;
  double converting_ms_per_event() const;
};

/// Takes batches until there were `events` events, or until the source ends. `progress` hears of
/// every batch. Throws DataError if nothing of use was read.
Throughput measure_throughput(const SampleSource& source, const LoaderOptions& options,
                              std::int64_t events,
                              const std::function<void(const Throughput&)>& progress);

}  // namespace cosmic::data
