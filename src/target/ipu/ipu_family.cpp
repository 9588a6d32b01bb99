// The IPU: all tiles compute, then all exchange, then all wait for each other, over and over (bulk
// synchronous). Everything lives in the tiles' own memory, code included.
#include "target/ipu/ipu_family.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "machine/family.hpp"
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
    {"clock", hertz, "cycles a second"},
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
    {"link_bandwidth", bytes_per_second, "to other chips"},
    {"host_bandwidth", bytes_per_second, "from the host, as reached"},
    {"host_call", seconds, "one call from the host"},
    {"streaming_memory", bytes, "memory beside the chip"},
    {"model_error", ratio, "how far predictions have been from published figures"},
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
    for (std::size_t i = 0; i < workload_.works.size(); ++i) {
      const Work& work = workload_.works[i];
      if (work.kind == Work::Kind::nothing) {
        continue;
      }
      Parts parts = superstep_parts(work, i);
      parts *= 1 / runs_per_execution(work, options_);
      result.ops.push_back({i, parts});
      result.step += parts;
    }
    result.launches = static_cast<std::size_t>(supersteps_);
    share_among_stages(result);
    add_host_and_links(result.step);
    result.map = tile_memory();
    result.memory = memory(result.map);
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
        const ConvolutionPlan plan =
            plan_convolution(m_, *work.contraction, mode(work), temporary_limit());
        compute = plan.compute_cycles + plan.reduction_cycles;
        exchange_bytes = plan.exchange_bytes;
        exchanges = supersteps = plan.supersteps;
        remember_fullest(node, plan.temporary_bytes);
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
    if (work.kind != Work::Kind::contraction) {
      remember_fullest(node, 0);
    }
    supersteps_ += supersteps;
    parts[Bound::compute] = compute / m_["compute_efficiency"] / m_["clock"];
    parts[Bound::exchange] =
        (exchange_bytes / m_["exchange_rate"] + exchanges * m_["exchange_cycles"]) / m_["clock"];
    parts[Bound::launch] = supersteps * (m_["sync_cycles"] + sync_delay()) / m_["clock"];
    return parts;
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

  bool trains() const { return workload_.gradient_bytes > 0; }

  /// Stages of a pipeline: forward and backward of a chip are two, fused in the last one.
  double stages() const { return trains() ? 2.0 * options_.pipeline - 1 : options_.pipeline; }

  /// 4a: T = (GA + S - 1) * slowest stage / GA for each run; stages are taken to be balanced.
  void share_among_stages(Forecast& result) const {
    const int runs = std::max(options_.accumulation, options_.iterations_per_call);
    if (options_.pipeline > 1) {
      result.pipeline = {.machines = options_.pipeline,
                         .stages = static_cast<int>(stages()),
                         .micro_batches = runs,
                         .slot = ModelledTime(result.step.total() / options_.pipeline)};
    }
    result.step *= (runs + stages() - 1) / runs / options_.pipeline;
  }

  /// 4a: T_call = T_host + DI * (T_dev + bytes in / BW_host); links once per update. Data that is
  /// made on the machine needs a call now and then all the same.
  void add_host_and_links(Parts& step) const {
    const double runs_per_call = options_.iterations_per_call * options_.accumulation;
    step[Bound::host] += m_["host_call"] / runs_per_call;
    if (options_.host_data == HostData::real) {
      step[Bound::host] += workload_.input_bytes * options_.replicas / m_["host_bandwidth"];
    }
    step[Bound::link] += all_reduce_seconds(workload_, options_, m_, m_["link_bandwidth"]);
  }

  double temporary_limit() const {
    return options_.temporary_share.value_or(m_["temporary_share"]) * m_["tile_memory"];
  }

  double per_tile() const { return m_["tile_imbalance"] / m_["tiles"] / options_.pipeline; }

  /// Where activations that are alive and an op's temporaries together need the most.
  void remember_fullest(std::size_t node, double temporary) {
    const double transient = liveness_.over_program[node] * in_flight() * per_tile();
    if (transient + temporary > fullest_transient_ + fullest_temporary_) {
      fullest_transient_ = transient;
      fullest_temporary_ = temporary;
      fullest_node_ = node;
    }
  }

  /// A pipeline keeps the activations of every run that is under way: as many as there are stages
  /// in the first one. With recomputation it keeps the inputs of stages only.
  double in_flight() const {
    return trains() && options_.recompute == Recompute::no ? stages() : 1;
  }

  double stashed_inputs() const {
    if (options_.pipeline == 1 || !trains() || options_.recompute == Recompute::no) {
      return 0;
    }
    const double boundary = liveness_.at_peak.empty() ? 0 : liveness_.at_peak.front().bytes;
    return boundary * stages();
  }

  MemoryMap tile_memory() const {
    const double machines = options_.pipeline;
    return spread_over_tiles(
        {.tiles = static_cast<std::size_t>(m_["tiles"]),
         .tile_bytes = m_["tile_memory"],
         .grain_bytes = m_["vector_bytes"],
         .node = fullest_node_,
         .states_share = 1 / machines,
         .transient_share = in_flight() / machines,
         .stash = stashed_inputs() / machines,
         .temporary = fullest_temporary_,
         .overhead = m_["code_share"] * m_["tile_memory"] + m_["exchange_code"],
         .imbalance = m_["tile_imbalance"]},
        liveness_);
  }

  /// 4a: always live + the most that is not + code + exchange code on the fullest tile. What is
  /// kept free for less even layouts counts with what it is kept for.
  MemoryForecast memory(const MemoryMap& map) const {
    const MemoryPlace& fullest = map.places[map.fullest];
    const double always_live = fullest.always_live.modelled_bytes();
    const double transient = fullest.transient.modelled_bytes();
    const double with_reserve =
        1 + fullest.reserve.modelled_bytes() / std::max(1.0, always_live + transient);
    MemoryForecast memory;
    memory.place = "the fullest of " + std::to_string(map.places.size()) + " tiles";
    memory.available = m_["tile_memory"];
    memory.always_live = always_live * with_reserve;
    memory.transient = transient * with_reserve;
    memory.temporary = fullest.temporary.modelled_bytes();
    memory.overhead = fullest.overhead.modelled_bytes();
    return memory;
  }

  const Description& m_;
  const Workload& workload_;
  const Liveness& liveness_;
  const ExecutionOptions& options_;
  double supersteps_ = 0;
  double fullest_transient_ = 0;
  double fullest_temporary_ = 0;
  std::size_t fullest_node_ = 0;
};

class IpuFamily final : public Family {
 public:
  std::string_view name() const override { return kName; }
  std::span<const FigureRule> figures() const override { return kFigures; }
  std::span<const FigureRule> unknowns() const override { return kUnknowns; }
  std::span<const NumberFormat> formats() const override { return kFormats; }
  bool pipelines() const override { return true; }
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
