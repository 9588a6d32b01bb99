#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "machine/error_bar.hpp"
#include "machine/exchange_time.hpp"
#include "machine/family.hpp"
#include "machine/prepared_program.hpp"

namespace cosmic::machine {
namespace {

constexpr std::size_t kLargestShown = 8;  // tensors named in a verdict

Fit fit_of(const ErrorBar& needed, double available) {
  if (needed.high() <= available) {
    return Fit::yes;
  }
  if (needed.low() > available) {
    return Fit::no;
  }
  return needed.best() <= available ? Fit::probably : Fit::probably_not;
}

/// States too, largest first.
std::vector<LiveTensor> all_at_peak(const Liveness& liveness) {
  std::vector<LiveTensor> all = liveness.at_peak;
  all.insert(all.end(), liveness.states.begin(), liveness.states.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const LiveTensor& a, const LiveTensor& b) { return a.bytes > b.bytes; });
  return all;
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
  std::vector<LiveTensor> all = all_at_peak(liveness);
  all.resize(std::min(all.size(), kLargestShown));
  for (const LiveTensor& tensor : all) {
    verdict.largest.push_back({tensor.layer, tensor.op, ModelledBytes(tensor.bytes)});
  }
  return verdict;
}

std::vector<LargeTensor> large_tensors(const std::vector<LiveTensor>& tensors) {
  std::vector<LargeTensor> result;
  for (const LiveTensor& tensor : tensors) {
    result.push_back({tensor.layer, tensor.op, ModelledBytes(tensor.bytes)});
  }
  return result;
}

ProgramMemory program_memory(const graph::Graph& graph, const Liveness& liveness) {
  ProgramMemory memory;
  memory.always_live = ModelledBytes(liveness.always_live);
  for (const double bytes : liveness.over_program) {
    memory.over_program.emplace_back(bytes);
  }
  memory.peak_at = liveness.peak_at;
  if (liveness.peak_at < graph.size()) {
    const graph::Node& node = graph.node(graph::ValueId(liveness.peak_at));
    memory.peak_layer = node.name;
    memory.peak_op = graph::name_of(node.op);
  }
  memory.at_peak = large_tensors(liveness.at_peak);
  memory.states = large_tensors(liveness.states);
  return memory;
}

/// The family's, or one place that holds everything.
MemoryMap memory_map(const Forecast& forecast, const Liveness& liveness) {
  MemoryMap map = forecast.map;
  if (map.places.empty()) {
    const MemoryForecast& memory = forecast.memory;
    map.kind = "pool";
    map.rule = "All tensors share one memory.";
    map.available = ModelledBytes(memory.available);
    map.places.push_back({.name = memory.place,
                          .always_live = ModelledBytes(memory.always_live),
                          .transient = ModelledBytes(memory.transient),
                          .temporary = ModelledBytes(memory.temporary),
                          .overhead = ModelledBytes(memory.overhead)});
    map.in_fullest = large_tensors(all_at_peak(liveness));
  }
  return map;
}

}  // namespace

std::string precision_word(NumberFormat format) {
  constexpr std::array<std::string_view, 3> words{"float32", "bfloat16", "float16"};
  return std::string(words.at(static_cast<std::size_t>(format)));
}

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

Exchanged exchanged_by_replicas(const Workload& workload, const ExecutionOptions& options) {
  if (!workload.trains()) {
    return {};
  }
  Exchanged exchanged{.gradients = workload.gradient_bytes,
                      .buckets = workload.gradient_buckets,
                      .statistics = workload.statistics_bytes};
  if (options.exchange != NumberFormat::f32) {
    exchanged.gradients =
        graph::AllReduce::exchanged_bytes(workload.gradient_elements, options.exchange);
    for (double& bucket : exchanged.buckets) {
      bucket *= exchanged.gradients / workload.gradient_bytes;
    }
  }
  return exchanged;
}

double all_reduce_seconds(const Workload& workload, const ExecutionOptions& options,
                          const Description& machine, double bandwidth) {
  return workload.trains() ? exchange_seconds(machine, exchanged_by_replicas(workload, options),
                                              options, bandwidth)
                           : 0;
}

double accumulator_bytes(const Program& program, const ExecutionOptions& options) {
  double bytes = 0;
  for (const StageLiveness& stage : program.liveness.stages) {
    bytes += options.accumulation > 1 && program.workload.trains() ? stage.accumulators : 0;
  }
  return bytes;
}

void add_input(const Description& machine, const Workload& workload,
               const ExecutionOptions& options, Parts& step) {
  if (options.host_data == HostData::real) {
    const double hidden = machine.stack().input == StackInput::prefetched ? step.total() : 0;
    step[Bound::host] += std::max(0.0, workload.input_bytes / machine["host_bandwidth"] - hidden);
  }
}

double runs_per_execution(const Work& work, const ExecutionOptions& options) {
  return work.kind == Work::Kind::update ? options.accumulation : 1;
}

void validate(const ExecutionOptions& options) {
  const auto require_positive = [](int value, const char* what) {
    COSMIC_REQUIRE(UserError, value >= 1,
                   what << " is " << value << " (it must be at least 1); give 1 or more");
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

namespace {

std::string list_of(std::span<const NumberFormat> formats) {
  std::string text;
  for (const NumberFormat format : formats) {
    text += (text.empty() ? "" : ", ") + precision_word(format);
  }
  return text;
}

/// A format that the machine lacks is not replaced by another: that would be another run.
void require_formats(const Description& machine, const graph::Graph& graph) {
  const Family& family = *machine.family;
  for (const graph::Node& node : graph.nodes()) {
    const bool has = std::find(family.formats().begin(), family.formats().end(), node.format) !=
                     family.formats().end();
    COSMIC_REQUIRE(UserError, has || node.type.dtype != graph::DType::f32,
                   machine.name << " has no " << precision_word(node.format) << " (machines of the "
                                << "family " << family.name() << " compute in "
                                << list_of(family.formats())
                                << "); choose run.precision among those");
  }
  for (const graph::Node& node : graph.nodes()) {
    const std::string_view op = graph::name_of(node.op);
    const std::string why_not(family.why_not(op));
    COSMIC_REQUIRE(UserError, why_not.empty(), machine.name << " has no " << op << ": " << why_not);
  }
  COSMIC_REQUIRE(UserError,
                 graph.numerics.partials == NumberFormat::f32 || family.has_half_partials(),
                 machine.name << " adds up the products of a convolution in float32 (there is no "
                              << "choice); use run.partials=float32");
}

void require_options(const Description& machine, const ExecutionOptions& options,
                     const Workload& workload) {
  const Family& family = *machine.family;
  const auto stages_of_program = static_cast<int>(workload.stages);
  COSMIC_REQUIRE(UserError, options.pipeline == 1 || family.pipelines(),
                 "a pipeline of " << options.pipeline << " was asked of " << machine.name
                                  << " (machines of the family " << family.name()
                                  << " run whole programs); ask for replicas instead");
  COSMIC_REQUIRE(UserError, stages_of_program == 1 || stages_of_program == options.pipeline,
                 "the program has " << stages_of_program << " stages and the pipeline "
                                    << options.pipeline
                                    << " machines (each runs one stage); give as many");
  // A stage and its backward pass are two, fused in the last; all must have a batch of the update.
  const int stages = 2 * options.pipeline - 1;
  COSMIC_REQUIRE(UserError,
                 options.pipeline == 1 || !workload.trains() || options.accumulation >= stages,
                 "a pipeline of " << options.pipeline << " machines with gradients of "
                                  << options.accumulation << " batches an update (its " << stages
                                  << " stages would never be full); accumulate over at least "
                                  << stages << " batches");
  COSMIC_REQUIRE(
      UserError,
      options.optimizer_state == OptimizerState::on_chip || family.streams_optimizer_state(),
      machine.name << " has one memory (the optimizer's state is in it); leave it there");
  COSMIC_REQUIRE(UserError, options.sections.empty() || family.has_sections(),
                 "a plan of sections was given for " << machine.name << " (machines of the family "
                                                     << family.name()
                                                     << " have none); leave run.section_plan out");
}

}  // namespace

PreparedProgram::PreparedProgram(graph::Graph program)
    : graph(std::move(program)), workload(workload_of(graph)), liveness(liveness_of(graph)) {}

Prediction predict(const Description& machine, const graph::Graph& graph,
                   const ExecutionOptions& options) {
  return predict(machine, PreparedProgram(graph), options);
}

BestEstimate best_estimate(const Description& machine, const PreparedProgram& prepared,
                           const ExecutionOptions& options) {
  const Forecast best =
      machine.family->forecast(machine, {prepared.workload, prepared.liveness}, options);
  return {ModelledTime(best.step.total()), ModelledBytes(best.memory.needed())};
}

Prediction predict(const Description& machine, const PreparedProgram& prepared,
                   const ExecutionOptions& options) {
  const graph::Graph& graph = prepared.graph;
  validate(options);
  require_formats(machine, graph);
  const Workload& workload = prepared.workload;
  require_options(machine, options, workload);
  const Liveness& liveness = prepared.liveness;
  const Program program{workload, liveness};
  const Forecast best = machine.family->forecast(machine, program, options);
  const double step = best.step.total();
  COSMIC_REQUIRE(UserError, std::isfinite(step),
                 "a step on " << machine.name
                              << " would never end (a share or an efficiency of its "
                              << "description is 0); correct it");

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
        {unknown, ModelledTime(low.step.total()), ModelledTime(high.step.total()),
         ModelledBytes(low.memory.needed()), ModelledBytes(high.memory.needed())});
  }
  prediction.past_error =
      past_error(machine, workload.trains() ? Judged::training : Judged::inference);
  if (prediction.past_error) {
    const double factor = prediction.past_error->factor;
    time.add(step / factor, step * factor);
  }
  prediction.past_memory_error = past_error(machine, Judged::memory);
  if (prediction.past_memory_error) {
    const double factor = prediction.past_memory_error->factor;
    memory.add(best.memory.needed() / factor, best.memory.needed() * factor);
  }
  prediction.step = {ModelledTime(step), ModelledTime(time.low()), ModelledTime(time.high())};

  for (const OpForecast& op : best.ops) {
    const Work& work = workload.works[op.node];
    prediction.ops.push_back({work.value, work.layer, work.op, ModelledTime(op.parts.total()),
                              op.parts.largest(), work.flops, ModelledBytes(work.bytes()),
                              ModelledBytes(work.bytes_written)});
  }
  for (const double part : best.step.seconds) {
    prediction.by_bound.emplace_back(part);
  }
  prediction.bound = best.step.largest();
  prediction.memory = verdict(best.memory, memory, liveness);
  prediction.launches = best.launches;
  prediction.options = options;
  prediction.input = ModelledBytes(workload.input_bytes);
  const Exchanged exchanged = exchanged_by_replicas(workload, options);
  prediction.gradients = ModelledBytes(exchanged.gradients);
  for (const double bytes : exchanged.buckets) {
    prediction.gradient_buckets.emplace_back(bytes);
  }
  for (const double bytes : exchanged.statistics) {
    prediction.statistics.emplace_back(bytes);
  }
  prediction.trains = workload.trains();
  const Stack& stack = machine.stack();
  prediction.stack = stack.name + ": " + stack.about + " (stored: " + to_string(stack.stored) +
                     ", launched: " + to_string(options.launching) + "; " +
                     to_string(stack.status) + ", " + stack.source + ")";
  prediction.program_memory = program_memory(graph, liveness);
  prediction.memory_map = memory_map(best, liveness);
  prediction.pipeline = best.pipeline;
  prediction.compilations = best.compilations;
  prediction.compiling = ModelledTime(best.compile_seconds);
  prediction.notes = best.notes;
  return prediction;
}

}  // namespace cosmic::machine
