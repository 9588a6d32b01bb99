#include "data/loader/throughput.hpp"

#include "core/stopwatch.hpp"

namespace cosmic::data {
namespace {

constexpr double kBytesPerPixel = sizeof(std::uint64_t) + sizeof(float);  // an id and a value

double ms_per_event(double seconds, const LoaderTimes& times) {
  return times.events == 0 ? 0 : 1e3 * seconds / static_cast<double>(times.events);
}

}  // namespace

double Throughput::events_per_second() const {
  return seconds == 0 ? 0 : static_cast<double>(events) / seconds;
}

double Throughput::megabytes_per_event() const {
  return events == 0 ? 0 : 1e-6 * static_cast<double>(bytes) / static_cast<double>(events);
}

double Throughput::megabytes_per_second() const {
  return seconds == 0 ? 0 : 1e-6 * kBytesPerPixel * static_cast<double>(times.pixels) / seconds;
}

double Throughput::reading_ms_per_event() const {
  return ms_per_event(times.reading_seconds, times);
}

double Throughput::converting_ms_per_event() const {
  return ms_per_event(times.converting_seconds, times);
}

Throughput measure_throughput(const SampleSource& source, const LoaderOptions& options,
                              std::int64_t events,
                              const std::function<void(const Throughput&)>& progress) {
  const Stopwatch watch;
  Throughput result;
  BatchLoader loader(source, options);
  result.remark = loader.remark();
  while (result.events < events) {
    const Batch* batch = loader.next();
    if (batch == nullptr) {
      break;
    }
    result.batches += 1;
    result.events += batch->valid;
    result.bytes += batch->bytes();
    result.seconds = watch.seconds();
    result.times = loader.times();
    progress(result);
  }
  result.notes = loader.finish();
  return result;
}

}  // namespace cosmic::data
