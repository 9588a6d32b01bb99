// Times the way of an event from a file, or from its stored pixels, to dense images. Without a file
// the events are random pixels, as many as real events have, which is the worst case for the cache:
// real ones lie along tracks.
//
//   data_bench [FILE...] [--benchmark_filter=REGEX]
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/random.hpp"
#include "data/dense_image.hpp"
#include "data/downsample.hpp"
#include "data/event_source.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/loader/batch_loader.hpp"
#include "data/loader/event_samples.hpp"

namespace {

using namespace cosmic;
using namespace cosmic::data;

constexpr std::uint64_t kRows = 1280;
constexpr std::uint64_t kColumns = 2048;
constexpr std::int64_t kEvents = 5;
constexpr std::array<double, 3> kPixelsOfPlane{23'000, 23'000, 10'000};  // as in real events

SparseEvent random_event(std::int64_t number) {
  RandomStream random(1, "event " + std::to_string(number));
  SparseEvent event;
  event.labelled = true;
  for (std::size_t plane = 0; plane < event.image.size(); ++plane) {
    SparsePlane& image = event.image[plane];
    image.meta.projection = plane;
    image.meta.pixels = {kColumns, kRows};
    const double share = kPixelsOfPlane[plane] / static_cast<double>(kColumns * kRows);
    for (std::uint64_t id = 0; id < kColumns * kRows; ++id) {
      if (random.uniform() < share) {
        image.ids.push_back(id);
        image.values.push_back(static_cast<float>(random.uniform(5, 100)));
      }
    }
    event.labels[plane] = image;
    for (float& label : event.labels[plane].values) {
      label = static_cast<float>(random.next() % 3);
    }
  }
  return event;
}

/// Keeps events in memory, so that reading them is copying them.
class EventsInMemory final : public EventSource {
 public:
  explicit EventsInMemory(std::vector<SparseEvent> events) : events_(std::move(events)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(events_.size()); }
  ImageMeta meta() const override { return events_.front().image[0].meta; }
  bool labelled() const override { return true; }
  std::string description() const override { return "random events in memory"; }
  std::unique_ptr<EventReader> reader() const override { return std::make_unique<Reader>(events_); }

 private:
  class Reader final : public EventReader {
   public:
    explicit Reader(const std::vector<SparseEvent>& events) : events_(events) {}
    void read(std::int64_t entry, SparseEvent& event) override {
      event = events_[static_cast<std::size_t>(entry)];
    }

   private:
    const std::vector<SparseEvent>& events_;
  };

  std::vector<SparseEvent> events_;
};

std::unique_ptr<EventSource> random_source() {
  std::vector<SparseEvent> events;
  for (std::int64_t number = 0; number < kEvents; ++number) {
    events.push_back(random_event(number));
  }
  return std::make_unique<EventsInMemory>(std::move(events));
}

/// What all benchmarks read; main chooses it.
std::unique_ptr<EventSource>& chosen_source() {
  static std::unique_ptr<EventSource> chosen;
  return chosen;
}

const EventSource& source() {
  return *chosen_source();
}

std::vector<SparseEvent> all_events() {
  std::vector<SparseEvent> events(static_cast<std::size_t>(source().size()));
  const std::unique_ptr<EventReader> reader = source().reader();
  for (std::size_t entry = 0; entry < events.size(); ++entry) {
    reader->read(static_cast<std::int64_t>(entry), events[entry]);
  }
  return events;
}

void count_events(benchmark::State& state, std::int64_t per_iteration = 1) {
  state.counters["events/s"] = {static_cast<double>(per_iteration),
                                benchmark::Counter::kIsIterationInvariantRate};
}

/// Image and labels of one event, sparse to sparse.
void downsample_sparse(benchmark::State& state) {
  const std::vector<SparseEvent> events = all_events();
  Downsampler downsampler(source().meta(), static_cast<int>(state.range(0)));
  SparsePlane result;
  std::size_t next = 0;
  for (auto _ : state) {
    const SparseEvent& event = events[next++ % events.size()];
    for (std::size_t plane = 0; plane < event.image.size(); ++plane) {
      downsampler.downsample(event.image[plane], Pooling::average, result);
      benchmark::DoNotOptimize(result.values.data());
      downsampler.downsample(event.labels[plane], Pooling::maximum, result);
      benchmark::DoNotOptimize(result.values.data());
    }
  }
  count_events(state);
}
BENCHMARK(downsample_sparse)->Arg(1)->Arg(2)->Unit(benchmark::kMicrosecond);

struct Buffers {
  explicit Buffers(const DenseShape& shape)
      : charge(shape.event_pixels()), label(shape.event_pixels()) {}

  DenseImage dense() { return {charge, label}; }

  std::vector<float> charge;
  std::vector<std::uint8_t> label;
};

/// As many as the batches of a loader in use, more than the caches hold.
std::vector<std::unique_ptr<Buffers>> ring_of_buffers(const DenseShape& shape) {
  constexpr int kBuffers = 8;
  std::vector<std::unique_ptr<Buffers>> ring;
  ring.reserve(kBuffers);
  for (int buffer = 0; buffer < kBuffers; ++buffer) {
    ring.push_back(std::make_unique<Buffers>(shape));
  }
  return ring;
}

/// One event, sparse to dense, taking away the event before.
void dense_conversion(benchmark::State& state, ChargeScale scale) {
  const std::vector<SparseEvent> events = all_events();
  DenseConverter converter(source().meta(),
                           {.downsample = static_cast<int>(state.range(0)), .scale = scale});
  const auto ring = ring_of_buffers(converter.shape());
  std::size_t next = 0;
  for (auto _ : state) {
    converter.convert(events[next % events.size()], ring[next % ring.size()]->dense());
    benchmark::ClobberMemory();
    ++next;
  }
  count_events(state);
}
BENCHMARK_CAPTURE(dense_conversion, linear, ChargeScale::linear)
    ->Arg(0)
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(dense_conversion, logarithmic, ChargeScale::logarithmic)
    ->Arg(1)
    ->Unit(benchmark::kMicrosecond);

/// The part of it that is clearing.
void dense_clear(benchmark::State& state) {
  const auto ring = ring_of_buffers(dense_shape(source().meta(), static_cast<int>(state.range(0))));
  std::size_t next = 0;
  for (auto _ : state) {
    ring[next++ % ring.size()]->dense().clear();
    benchmark::ClobberMemory();
  }
  count_events(state);
}
BENCHMARK(dense_clear)->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMicrosecond);

/// All the way to batches of two at downsample 1.
void load_batches(benchmark::State& state) {
  LoaderOptions options;
  options.batch = 2;
  options.order.kind = OrderKind::shuffled;
  options.threads = static_cast<int>(state.range(0));
  const EventSamples samples(source(), {.dense = {.downsample = 1}});
  BatchLoader loader(samples, options);
  for (auto _ : state) {
    benchmark::DoNotOptimize(loader.next());
  }
  count_events(state, options.batch);
}
BENCHMARK(load_batches)
    ->ArgName("threads")
    ->Arg(0)
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);  // takes its own flags out
  try {
    const std::vector<std::filesystem::path> files(argv + 1, argv + argc);
    chosen_source() =
        files.empty() ? random_source()
                      : std::make_unique<larcv::LarcvSource>(larcv::LarcvOptions{.files = files});
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  } catch (const Error& error) {
    std::cerr << "data_bench: error: " << error.what() << '\n';
    return exit_status(error);
  }
}
