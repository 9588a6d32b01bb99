// What the formulas of one family compute, in plain numbers; predict.cpp turns it into a
// Prediction, which cannot be taken for a measurement. For families only.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "machine/description.hpp"
#include "machine/exchange_time.hpp"
#include "machine/liveness.hpp"
#include "machine/prediction.hpp"
#include "machine/workload.hpp"

namespace cosmic::machine {

/// Seconds by what they are spent on, indexed by Bound.
struct Parts {
  std::array<double, kBounds> seconds{};

  double& operator[](Bound bound) { return seconds[static_cast<std::size_t>(bound)]; }
  double operator[](Bound bound) const { return seconds[static_cast<std::size_t>(bound)]; }
  double total() const;
  Bound largest() const;
  Parts& operator+=(const Parts& other);
  Parts& operator*=(double factor);
};

struct OpForecast {
  std::size_t node = 0;
  Parts parts;
};

struct MemoryForecast {
  std::string place;
  double available = 0;
  double always_live = 0;
  double transient = 0;
  double temporary = 0;
  double overhead = 0;

  double needed() const { return always_live + transient + temporary + overhead; }
};

struct Forecast {
  std::vector<OpForecast> ops;
  Parts step;  ///< all ops, and what belongs to none
  MemoryForecast memory;
  MemoryMap map;  ///< one place with all of `memory` if there are no places
  std::size_t launches = 0;
  std::optional<PipelineTimes> pipeline = {};
  std::size_t compilations = 0;
  double compile_seconds = 0;
  std::vector<std::string> notes;
};

struct Program {
  const Workload& workload;
  const Liveness& liveness;
};

/// What replicas agree on: gradients in the format that they travel in, and batch statistics that
/// are to be over all (graph::Over).
Exchanged exchanged_by_replicas(const Workload& workload, const ExecutionOptions& options);

/// Seconds that replicas need to all-reduce it, for each run of the program (see
/// exchange_time.hpp). `bandwidth` is for machines whose links are not described.
double all_reduce_seconds(const Workload& workload, const ExecutionOptions& options,
                          const Description& machine, double bandwidth);

/// Bytes that sums of gradients take between updates; they are float32 whatever the program is.
double accumulator_bytes(const Program& program, const ExecutionOptions& options);

/// Adds the time that the next batch needs to arrive, as far as the machine waits for it: with most
/// stacks it comes while the present one is worked on.
void add_input(const Description& machine, const Workload& workload,
               const ExecutionOptions& options, Parts& step);

/// Runs of the program that share the time of this work.
double runs_per_execution(const Work& work, const ExecutionOptions& options);

}  // namespace cosmic::machine
