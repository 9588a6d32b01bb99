// A run as its profile shows it: every figure of the page and of the JSON file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/profile/op_times.hpp"
#include "session/machine.hpp"
#include "session/memory_use.hpp"
#include "session/model.hpp"

namespace cosmic::report::profile {

/// What was profiled with what.
struct RunFacts {
  std::string date;  ///< UTC
  session::Purpose purpose = session::Purpose::training;
  std::string run_id;
  std::string network;
  std::string data;
  std::string batch;  ///< type of the images of one batch
  std::int64_t events_per_batch = 1;
  std::int64_t batches_per_step = 1;  ///< whose gradients make one update
  std::string configuration;          ///< YAML
};

/// A part of the time between the start of the run and the writing of its profile. The parts do not
/// overlap, and together they are the whole.
struct TimeShare {
  std::string what;
  double seconds = 0;
};

/// The parts with one more for what is left of the whole.
std::vector<TimeShare> with_rest(std::vector<TimeShare> parts, const std::string& what,
                                 double whole_seconds);

/// The part that is the program's ops; it comes first.
inline constexpr const char* kInsideProgram = "the program's ops";

struct RunProfile {
  RunFacts facts;
  session::Machine machine;
  session::CompileReport compiled;
  session::MemoryUse memory;
  std::int64_t steps = 0;           ///< in the means
  std::int64_t steps_left_out = 0;  ///< before them
  double call_seconds = 0;          ///< of one step: the program with its copies in and out
  std::vector<OpProfile> ops;       ///< in program order
  std::vector<TimeShare> time;
  double whole_seconds = 0;

  void take(const OpTimes& times);
};

/// Where the peak of the machine comes from: "measured".
std::string origin_of_peak(const session::Machine& machine);

/// How fast an op can be at most on a machine: as its arithmetic or its memory traffic, whichever
/// takes longer. Nothing if the machine's peak is not known or the op costs nothing.
std::optional<double> least_seconds(const OpProfile& op, const session::Machine& machine);
/// The same as a share of the time it took. Over 1 where tensors come from a cache, or an algorithm
/// needs less arithmetic than the op's own count.
std::optional<double> roofline_share(const OpProfile& op, const session::Machine& machine);

}  // namespace cosmic::report::profile
