#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "machine/family.hpp"

namespace cosmic::machine {
namespace {

constexpr std::size_t kLargestShown = 8;  // tensors named in a verdict

/// The error bar: each unknown alone at the ends of its range, and how far the family's formulas
/// have been off; independent of each other, so their squares add up.
class ErrorBar {
 public:
  explicit ErrorBar(double best) : best_(best) {}

  void add(double one_end, double other_end) {
    const double least = std::min({one_end, best_, other_end});
    const double most = std::max({one_end, best_, other_end});
    below_ += (best_ - least) * (best_ - least);
    above_ += (most - best_) * (most - best_);
  }

  double low() const { return std::max(0.0, best_ - std::sqrt(below_)); }
  double high() const { return best_ + std::sqrt(above_); }

 private:
  double best_;
  double below_ = 0;
  double above_ = 0;
};

Fit fit_of(const ErrorBar& needed, double available) {
  if (needed.high() <= available) {
    return Fit::yes;
  }
  return needed.low() > available ? Fit::no : Fit::uncertain;
}

MemoryVerdict verdict(const MemoryForecast& memory, const ErrorBar& needed,
                      const Liveness& liveness) {
  MemoryVerdict verdict;
  verdict.fits = fit_of(needed, memory.available);
  verdict.needed_low = ModelledBytes(needed.low());
  verdict.needed_high = ModelledBytes(needed.high());
  verdict.place = memory.place;
  verdict.needed = ModelledBytes(memory.needed());
  verdict.available = ModelledBytes(memory.available);
  verdict.always_live = ModelledBytes(memory.always_live);
  verdict.transient = ModelledBytes(memory.transient);
  verdict.temporary = ModelledBytes(memory.temporary);
  verdict.overhead = ModelledBytes(memory.overhead);
  std::vector<LiveTensor> all = liveness.at_peak;
  all.insert(all.end(), liveness.states.begin(), liveness.states.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const LiveTensor& a, const LiveTensor& b) { return a.bytes > b.bytes; });
  all.resize(std::min(all.size(), kLargestShown));
  for (const LiveTensor& tensor : all) {
    verdict.largest.push_back({tensor.layer, tensor.op, ModelledBytes(tensor.bytes)});
  }
  return verdict;
}

}  // namespace

double Parts::total() const {
  double sum = 0;
  for (const double part : seconds) {
    sum += part;
  }
  return sum;
}

Bound Parts::largest() const {
  return static_cast<Bound>(
      std::distance(seconds.begin(), std::max_element(seconds.begin(), seconds.end())));
}

Parts& Parts::operator+=(const Parts& other) {
  for (std::size_t i = 0; i < kBounds; ++i) {
    seconds[i] += other.seconds[i];
  }
  return *this;
}

Parts& Parts::operator*=(double factor) {
  for (double& part : seconds) {
    part *= factor;
  }
  return *this;
}

double all_reduce_seconds(const Workload& workload, const ExecutionOptions& options,
                          double link_bandwidth) {
  const double replicas = options.replicas;
  return 2 * (replicas - 1) / replicas * workload.gradient_bytes / link_bandwidth /
         options.accumulation;
}

void add_prefetched_input(const Workload& workload, const ExecutionOptions& options,
                          double host_bandwidth, Parts& step) {
  if (options.host_data == HostData::real) {
    step[Bound::host] += std::max(0.0, workload.input_bytes / host_bandwidth - step.total());
  }
}

double runs_per_execution(const Work& work, const ExecutionOptions& options) {
  return work.kind == Work::Kind::update ? options.accumulation : 1;
}

void validate(const ExecutionOptions& options) {
  const auto require_positive = [](int value, const char* what) {
    COSMIC_REQUIRE(UserError, value >= 1,
                   what << " is " << value << " (there is always one); give 1 or more");
  };
  require_positive(options.replicas, "the number of replicas");
  require_positive(options.accumulation, "gradient accumulation");
  require_positive(options.pipeline, "the number of pipeline stages");
  require_positive(options.iterations_per_call, "the number of iterations per call");
  COSMIC_REQUIRE(UserError, options.share > 0 && options.share <= 1,
                 "the share of a machine is " << options.share
                                              << " (of one machine); give more than 0 and at most "
                                                 "1, and replicas for more machines");
  const double temporary = options.temporary_share.value_or(1);
  COSMIC_REQUIRE(UserError, temporary > 0 && temporary <= 1,
                 "the share of memory for temporaries is "
                     << temporary << " (of a tile's memory); give more than 0 and at most 1");
}

Prediction predict(const Description& machine, const graph::Graph& graph,
                   const ExecutionOptions& options) {
  validate(options);
  COSMIC_REQUIRE(UserError, options.pipeline == 1 || machine.family->pipelines(),
                 "a pipeline of " << options.pipeline << " was asked of " << machine.name
                                  << " (machines of the family " << machine.family->name()
                                  << " run whole programs); ask for replicas instead");
  const Workload workload = workload_of(graph);
  // A stage and its backward pass are two, fused in the last; all must have a batch of the update.
  const int stages = 2 * options.pipeline - 1;
  COSMIC_REQUIRE(
      UserError,
      options.pipeline == 1 || workload.gradient_bytes == 0 || options.accumulation >= stages,
      "a pipeline of " << options.pipeline << " machines with gradients of " << options.accumulation
                       << " batches an update (its " << stages
                       << " stages would never be full); accumulate over at least " << stages
                       << " batches");
  const Liveness liveness = liveness_of(graph);
  const Program program{workload, liveness};
  const Forecast best = machine.family->forecast(machine, program, options);
  const double step = best.step.total();

  Prediction prediction;
  prediction.machine = machine.name;
  ErrorBar time(step);
  ErrorBar memory(best.memory.needed());
  for (const Unknown& unknown : machine.unknowns) {
    const auto forecast_at = [&](double value) {
      return machine.family->forecast(with_unknown(machine, unknown.figure.name, value), program,
                                      options);
    };
    const Forecast low = forecast_at(unknown.low);
    const Forecast high = forecast_at(unknown.high);
    time.add(low.step.total(), high.step.total());
    memory.add(low.memory.needed(), high.memory.needed());
    prediction.unknowns.push_back(
        {unknown, ModelledTime(low.step.total()), ModelledTime(high.step.total())});
  }
  const double model_error = machine["model_error"] * step;
  time.add(step - model_error, step + model_error);
  prediction.step = {ModelledTime(step), ModelledTime(time.low()), ModelledTime(time.high())};

  for (const OpForecast& op : best.ops) {
    const Work& work = workload.works[op.node];
    prediction.ops.push_back(
        {work.value, work.layer, work.op, ModelledTime(op.parts.total()), op.parts.largest()});
  }
  for (const double part : best.step.seconds) {
    prediction.by_bound.emplace_back(part);
  }
  prediction.bound = best.step.largest();
  prediction.memory = verdict(best.memory, memory, liveness);
  prediction.launches = best.launches;
  return prediction;
}

}  // namespace cosmic::machine
