// Times the detector simulation, one thread: whole events, and what their parts take.
//
//   generate_bench [--benchmark_filter=REGEX]
#include <benchmark/benchmark.h>

#include <string>

#include "data/detector/cosmic_rays.hpp"
#include "data/detector/detector.hpp"
#include "data/detector/transport.hpp"

namespace {

using namespace cosmic;
using namespace cosmic::data;
using namespace cosmic::data::detector;

/// Events differ a lot, so every run times the same ones, over and over.
constexpr std::int64_t kEvents = 50;

void simulate_event(benchmark::State& state) {
  const Detector detector;
  Simulator simulator(detector, 1);
  SimulatedEvent event;
  std::int64_t index = 0;
  for (auto _ : state) {
    simulator.simulate(index++ % kEvents, event);
    benchmark::DoNotOptimize(event);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(simulate_event)->Unit(benchmark::kMillisecond)->Iterations(4 * kEvents);

/// Cosmic rays through the argon, without the readout.
void transport_cosmic_rays(benchmark::State& state) {
  Ionization ionization;
  std::int64_t index = 0;
  for (auto _ : state) {
    RandomStream random(1, "cosmic rays " + std::to_string(index++ % kEvents));
    ionization.clear();
    for (const CosmicRay& ray : draw_cosmic_rays(random, 1)) {
      ionization.begin_trail(Label::cosmic, ray.time);
      Transport(random, ionization).run(ray.particle);
    }
    benchmark::DoNotOptimize(ionization);
  }
}
BENCHMARK(transport_cosmic_rays)->Unit(benchmark::kMillisecond)->Iterations(4 * kEvents);

/// A plane without any charge: what noise costs.
void read_out_noise(benchmark::State& state) {
  const Detector detector;
  const Ionization nothing;
  Readout::Workspace workspace;
  SparsePlane image;
  SparsePlane labels;
  RandomStream random(1, "noise");
  for (auto _ : state) {
    detector.readout().read_out(nothing, static_cast<std::size_t>(state.range(0)), random,
                                workspace, image, labels);
    benchmark::DoNotOptimize(image);
  }
}
BENCHMARK(read_out_noise)->ArgName("plane")->Arg(0)->Arg(2)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
