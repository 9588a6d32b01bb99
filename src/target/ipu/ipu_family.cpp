// The IPU: all tiles compute, then all exchange, then all wait for each other, over and over (bulk
// synchronous). Everything lives in the tiles' own memory, code included.
#include "target/ipu/ipu_family.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "machine/family.hpp"
#include "machine/machine_formats.hpp"
#include "target/ipu/convolution_plan.hpp"
#include "target/ipu/tile_memory.hpp"

namespace cosmic::target::ipu {
namespace {

using namespace machine;
using enum Dimension;

constexpr std::array kFigures = std::to_array<FigureRule>({
    {"tiles", count, "processors with memory of their own"},
    {"worker_contexts", count, "threads of a tile"},
    {"tile_memory", bytes, "memory of one tile, code included"},
    {"clock", hertz, "cycles per second"},
    {"half_units", count, "convolution units with half partial sums"},
    {"half_float_units", count, "convolution units with half operands and float partial sums"},
    {"float_units", count, "convolution units in float"},
    {"half_depth", count, "weights of a convolution unit in half"},
    {"float_depth", count, "weights of a convolution unit in float"},
    {"half_least_group", count, "fewest input channels of a block in half"},
    {"float_least_group", count, "fewest input channels of a block in float"},
    {"half_block_cycles", cycles, "for one pixel of a block in half"},
    {"float_block_cycles", cycles, "for one pixel of a block in float"},
    {"half_worker_cycles", cycles, "fixed part of a worker's call in half"},
    {"float_worker_cycles", cycles, "fixed part of a worker's call in float"},
    {"supervisor_cycles", cycles, "fixed part of a convolution on a tile"},
    {"group_cycles", cycles, "per group of channels"},
    {"weight_load_rate", bytes_per_cycle, "loading weights into convolution units"},
    {"vector_bytes", bytes_per_cycle, "elementwise work of a tile"},
    {"exchange_rate", bytes_per_cycle, "into one tile"},
    {"exchange_cycles", cycles, "fixed part of an exchange"},
    {"sync_cycles", cycles, "of a superstep"},
    {"temporary_share", ratio, "of tile memory that a convolution's temporaries may take"},
    {"link_bandwidth", bytes_per_second, "to a neighbouring chip"},
    {"host_bandwidth", bytes_per_second, "from the host, as reached"},
    {"host_call", seconds, "one call from the host"},
    {"streaming_memory", bytes, "memory beside the chip"},
});

constexpr std::array kUnknowns = std::to_array<FigureRule>({
    {"compute_efficiency", ratio, "of computing, against the planner's cycles"},
    {"code_share", ratio, "of tile memory taken by code"},
    {"exchange_code", bytes, "of a tile, for programs of exchanges"},
    {"sync_delay", cycles, "between chips"},
    {"tile_imbalance", ratio, "fullest tile against the mean"},
    {"vertex_cycles", cycles, "fixed part of elementwise work"},
    {"streaming_bandwidth", bytes_per_second, "to the memory beside the chip"},
});

constexpr std::array kFormats{NumberFormat::f32, NumberFormat::f16};

class Ipu {
 public:
  Ipu(const Description& machine, const Program& program, const ExecutionOptions& options)
      : m_(machine), workload_(program.workload), liveness_(program.liveness), options_(options) {}

  Forecast forecast() {
    Forecast result;
    temporaries_.resize(workload_.works.size(), 0);
    std::vector<Parts> stages(workload_.stages);
    for (std::size_t i = 0; i < workload_.works.size(); ++i) {
      const Work& work = workload_.works[i];
      if (work.kind == Work::Kind::nothing) {
        continue;
      }
      Parts parts = superstep_parts(work, i);
      parts *= 1 / runs_per_execution(work, options_);
      result.ops.push_back({i, parts});
      stages[work.stage] += parts;
    }
    result.launches = static_cast<std::size_t>(supersteps_);
    share_among_stages(stages, result);
    add_host_and_links(result.step);
    const std::size_t stage = fullest_stage();
    result.map = tile_memory(stage);
    result.memory = memory(stage, result.map);
    result.notes = notes(stages);
    return result;
  }

 private:
  /// 4a: t = (C_max + bytes into the busiest tile / rate + exchange + sync) / f, per superstep.
  Parts superstep_parts(const Work& work, std::size_t node) {
    Parts parts;
    double compute = 0;
    double exchange_bytes = 0;
    double exchanges = 1;
    double supersteps = 1;
    switch (work.kind) {
      case Work::Kind::contraction: {
        const ConvolutionPlan& plan = plan_of(*work.contraction, mode(work));
        compute = plan.compute_cycles + plan.reduction_cycles;
        exchange_bytes = plan.exchange_bytes;
        exchanges = supersteps = plan.supersteps;
        computes_in_half_ = computes_in_half_ || work.element_bytes <= 2;
        temporaries_[node] = plan.temporary_bytes;
        break;
      }
      case Work::Kind::reduction:
        // Each tile adds up its elements; the sums travel and are added up once more.
        compute = vector_cycles(work) + m_["vertex_cycles"];
        supersteps = 2;
        break;
      case Work::Kind::rearrangement:
        compute = vector_cycles(work);
        exchange_bytes = work.bytes_written / m_["tiles"];
        break;
      case Work::Kind::elementwise:
      case Work::Kind::update:
      case Work::Kind::nothing:
        compute = vector_cycles(work);
        exchanges = 0;
        break;
    }
    supersteps_ += supersteps;
    parts[Bound::compute] = compute / m_["compute_efficiency"] / m_["clock"];
    parts[Bound::exchange] =
        (exchange_bytes / m_["exchange_rate"] + exchanges * m_["exchange_cycles"]) / m_["clock"];
    parts[Bound::launch] = supersteps * (m_["sync_cycles"] + sync_delay()) / m_["clock"];
    return parts;
  }

  /// Networks repeat their convolutions, and a plan takes long to find.
  const ConvolutionPlan& plan_of(const Contraction& c, ConvolutionMode mode) {
    const Planned key{c.rows,           c.common,           c.columns, c.kernel_rows,
                      c.kernel_columns, c.rows_per_element, mode};
    auto known = plans_.find(key);
    if (known == plans_.end()) {
      known = plans_.emplace(key, plan_convolution(m_, c, mode, temporary_limit())).first;
    }
    return known->second;
  }

  /// Only chips that wait for each other pay it.
  double sync_delay() const {
    return options_.replicas * options_.pipeline > 1 ? m_["sync_delay"] : 0;
  }

  /// 4a: ceil(elements of a tile / lanes) * passes + the fixed part of a vertex.
  double vector_cycles(const Work& work) const {
    const double elements = std::ceil(work.elements / m_["tiles"]);
    const double lanes = m_["vector_bytes"] / static_cast<double>(work.element_bytes);
    const double passes = std::max(1.0, work.flops / std::max(1.0, work.elements));
    return std::ceil(elements / lanes) * passes + m_["vertex_cycles"];
  }

  ConvolutionMode mode(const Work& work) const {
    if (work.element_bytes > 2) {
      return ConvolutionMode::float_float;
    }
    return workload_.partials == NumberFormat::f32 ? ConvolutionMode::half_float
                                                   : ConvolutionMode::half_half;
  }

  /// Runs between two times that the pipeline is empty: it is at every update.
  double runs_in_a_row() const {
    return workload_.trains() ? options_.accumulation : options_.iterations_per_call;
  }

  /// Forward and backward of a chip are two stages, fused in the last one.
  double stage_count() const {
    return workload_.trains() ? 2.0 * options_.pipeline - 1 : options_.pipeline;
  }

  /// 4a: T = (GA + S - 1) * slowest stage / GA for each run. The optimizer streams its state, each
  /// replica its share (replicated tensor sharding); adding up gradients part by part and handing
  /// out the new weights is an all-reduce in two halves.
  void share_among_stages(const std::vector<Parts>& stages, Forecast& result) const {
    result.step =
        *std::max_element(stages.begin(), stages.end(),
                          [](const Parts& a, const Parts& b) { return a.total() < b.total(); });
    result.step *= 1 / chips_of_stage();
    if (options_.pipeline > 1) {
      result.pipeline = {.machines = options_.pipeline,
                         .stages = static_cast<int>(stage_count()),
                         .micro_batches = static_cast<int>(runs_in_a_row()),
                         .slot = ModelledTime(result.step.total())};
    }
    result.step *= (runs_in_a_row() + stage_count() - 1) / runs_in_a_row();
    if (options_.optimizer_state == OptimizerState::streamed) {
      result.step[Bound::memory] += 2 * most(&StageLiveness::optimizer) / chips_of_stage() /
                                    options_.replicas / m_["streaming_bandwidth"] /
                                    options_.accumulation;
    }
  }

  /// The value of the stage that has the most.
  double most(double StageLiveness::*bytes) const {
    double result = 0;
    for (const StageLiveness& stage : liveness_.stages) {
      result = std::max(result, stage.*bytes);
    }
    return result;
  }

  /// 4a: T_call = T_host + DI * (T_dev + bytes in / BW_host); links once per update. Data that is
  /// made on the machine needs a call now and then all the same.
  void add_host_and_links(Parts& step) const {
    const double runs_per_call = options_.iterations_per_call * options_.accumulation;
    step[Bound::host] += m_["host_call"] / runs_per_call;
    if (options_.host_data == HostData::real) {
      step[Bound::host] += workload_.input_bytes * options_.replicas / m_["host_bandwidth"];
    }
    step[Bound::link] += all_reduce_seconds(workload_, options_, m_, m_["link_bandwidth"]) +
                         most(&StageLiveness::received) / m_["link_bandwidth"];
  }

  double temporary_limit() const {
    return options_.temporary_share.value_or(m_["temporary_share"]) * m_["tile_memory"];
  }

  /// Stages that the program does not have are taken to be even.
  double chips_of_stage() const {
    return static_cast<double>(options_.pipeline) / static_cast<double>(workload_.stages);
  }

  /// 4a: stash. Stages that the program does not have are taken to wait as the first does.
  double other_runs_in_flight(std::size_t stage) const {
    return workload_.trains()
               ? runs_in_flight(stage, static_cast<std::size_t>(options_.pipeline)) - 1
               : 0;
  }

  bool streams_optimizer() const { return options_.optimizer_state == OptimizerState::streamed; }

  double accumulators_of(std::size_t stage) const {
    const bool accumulates = options_.accumulation > 1 && workload_.trains();
    return accumulates ? liveness_.stages[stage].accumulators : 0;
  }

  double stash_of(std::size_t stage) const {
    return other_runs_in_flight(stage) * liveness_.stages[stage].kept_for_backward;
  }

  /// The moment of a stage when its values and an op's temporaries together need the most.
  struct Moment {
    std::size_t node = 0;
    double temporary = 0;
    double bytes_of_tile = 0;
  };

  Moment fullest_moment(std::size_t stage) const {
    const StageLiveness& live = liveness_.stages[stage];
    const double per_tile = m_["tile_imbalance"] / m_["tiles"] / chips_of_stage();
    Moment fullest;
    for (std::size_t i = 0; i < workload_.works.size(); ++i) {
      const double temporary = workload_.works[i].stage == stage ? temporaries_[i] : 0;
      const double bytes = live.over_program[i] * per_tile + temporary;
      if (bytes > fullest.bytes_of_tile) {
        fullest = {i, temporary, bytes};
      }
    }
    const double always = live.states + accumulators_of(stage) -
                          (streams_optimizer() ? live.optimizer : 0) + stash_of(stage);
    fullest.bytes_of_tile += always * per_tile;
    return fullest;
  }

  std::size_t fullest_stage() const {
    std::size_t fullest = 0;
    for (std::size_t stage = 1; stage < workload_.stages; ++stage) {
      if (fullest_moment(stage).bytes_of_tile > fullest_moment(fullest).bytes_of_tile) {
        fullest = stage;
      }
    }
    return fullest;
  }

  MemoryMap tile_memory(std::size_t stage) const {
    const Moment moment = fullest_moment(stage);
    return spread_over_tiles(
        {.tiles = static_cast<std::size_t>(m_["tiles"]),
         .tile_bytes = m_["tile_memory"],
         .grain_bytes = m_["vector_bytes"],
         .node = moment.node,
         .share = 1 / chips_of_stage(),
         .optimizer_on_chip = !streams_optimizer(),
         .accumulators = accumulators_of(stage),
         .stash = stash_of(stage),
         .temporary = moment.temporary,
         .overhead = m_["code_share"] * m_["tile_memory"] + m_["exchange_code"],
         .imbalance = m_["tile_imbalance"]},
        liveness_.stages[stage]);
  }

  /// 4a: always live + the most that is not + code + exchange code on the fullest tile. What is
  /// kept free for less even layouts counts with what it is kept for.
  MemoryForecast memory(std::size_t stage, const MemoryMap& map) const {
    const MemoryPlace& fullest = map.places[map.fullest];
    const double always_live = fullest.always_live.modelled_bytes();
    const double transient = fullest.transient.modelled_bytes();
    const double with_reserve =
        1 + fullest.reserve.modelled_bytes() / std::max(1.0, always_live + transient);
    MemoryForecast memory;
    memory.place = "the fullest of " + std::to_string(map.places.size()) + " tiles" +
                   (workload_.stages == 1 ? ""
                                          : " of stage " + std::to_string(stage) + " of " +
                                                std::to_string(workload_.stages));
    memory.available = m_["tile_memory"];
    memory.always_live = always_live * with_reserve;
    memory.transient = transient * with_reserve;
    memory.temporary = fullest.temporary.modelled_bytes();
    memory.overhead = fullest.overhead.modelled_bytes();
    return memory;
  }

  std::vector<std::string> notes(const std::vector<Parts>& stages) const {
    std::vector<std::string> notes{fmt::format(
        "{} supersteps; convolutions {}", static_cast<std::size_t>(supersteps_),
        !computes_in_half_                        ? "in float32"
        : workload_.partials == NumberFormat::f32 ? "in half with float partial sums (16.32)"
                                                  : "in half with half partial sums (16.16)")};
    if (stages.size() > 1) {
      double slowest = 0;
      double all = 0;
      for (const Parts& stage : stages) {
        slowest = std::max(slowest, stage.total());
        all += stage.total();
      }
      notes.push_back(fmt::format(
          "a pipeline of {} chips: the slowest stage has {:.0f} % of the work, filling and "
          "draining it costs {:.0f} %",
          stages.size(), 100 * slowest / all, 100 * (stage_count() - 1) / runs_in_a_row()));
    }
    if (options_.optimizer_state == OptimizerState::streamed) {
      notes.push_back(
          fmt::format("the optimizer's state is kept beside the chip, {:.3g} of {:.3g} GB{}",
                      liveness_.stages.front().optimizer / options_.replicas / 1e9,
                      m_["streaming_memory"] / 1e9,
                      options_.replicas > 1 ? ", shared among the replicas" : ""));
    }
    return notes;
  }

  const Description& m_;
  const Workload& workload_;
  const Liveness& liveness_;
  const ExecutionOptions& options_;
  double supersteps_ = 0;
  bool computes_in_half_ = false;
  std::vector<double> temporaries_;  ///< of each node, on a tile
  /// All of a contraction, and how it is computed.
  using Planned = std::tuple<double, std::int64_t, std::int64_t, std::int64_t, std::int64_t, double,
                             ConvolutionMode>;
  std::map<Planned, ConvolutionPlan> plans_;
};

class IpuFamily final : public Family {
 public:
  std::string_view name() const override { return kName; }
  std::span<const FigureRule> figures() const override { return kFigures; }
  std::span<const FigureRule> unknowns() const override { return kUnknowns; }
  std::span<const NumberFormat> formats() const override { return kFormats; }
  std::vector<compile::Pass> format_passes() const override { return {narrow_gradients()}; }
  bool pipelines() const override { return true; }
  bool has_half_partials() const override { return true; }
  bool streams_optimizer_state() const override { return true; }
  std::string_view execution() const override {
    return "one compiled program for forward, backward and update, called from the host; pipelines "
           "over several chips (--pipeline), replicas (--replicas), gradient accumulation, partial "
           "sums in float32 or float16 (run.partials)";
  }
  Forecast forecast(const Description& machine, const Program& program,
                    const ExecutionOptions& options) const override {
    return Ipu(machine, program, options).forecast();
  }
};

}  // namespace

const Family& family() {
  static const IpuFamily instance;
  return instance;
}

}  // namespace cosmic::target::ipu
