// Gaudi: a matrix engine of a fixed geometry and vector cores beside it, both fed from one memory.
// The compiler cuts a program into bundles, in which both work at the same time as far as they can.
#include "target/hpu/hpu_family.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "machine/family.hpp"
#include "machine/machine_formats.hpp"

namespace cosmic::target::hpu {
namespace {

using namespace machine;
using enum Dimension;

constexpr std::array kFigures = std::to_array<FigureRule>({
    {"clock", hertz, "of the matrix engine"},
    {"matrix_outputs_half", count, "parallel outputs in 16 bits"},
    {"matrix_outputs_float", count, "the same in float"},
    {"matrix_shortest_side", count, "of the rectangle of outputs"},
    {"least_common_half", count, "shortest common dimension in 16 bits"},
    {"least_common_float", count, "the same in float"},
    {"vector_cores", count, "cores for elementwise work"},
    {"vector_bytes", bytes_per_cycle, "of one such core"},
    {"sram", bytes, "on the chip"},
    {"memory", bytes, "of the pool that tensors live in"},
    {"memory_bandwidth", bytes_per_second, "as usable"},
    {"slice_cycles", cycles, "for each slice that passes through the memory on the chip"},
    {"slice_buffers", count, "slices in flight"},
    {"link_bandwidth", bytes_per_second, "to other chips"},
    {"host_bandwidth", bytes_per_second, "from the host"},
});

constexpr std::array kUnknowns = std::to_array<FigureRule>({
    {"matrix_efficiency", ratio, "of the matrix engine, against its geometry"},
    {"overlap", ratio, "of the shorter of matrix and vector work that is hidden"},
    {"launch_time", seconds, "of a recipe"},
    {"eager_op_time", seconds, "of one op outside a recipe"},
    {"compile_time_per_node", seconds, "of a recipe, on a new shape"},
    {"pool_slack", ratio, "of the pool, for each byte of tensors: alignment and gaps"},
    {"pool_overhead", bytes, "of the pool: code, workspaces, buffers of collectives"},
    {"unaligned_factor", ratio, "on matrix work whose rows miss 128 bytes"},
});

constexpr std::array kFormats{NumberFormat::f32, NumberFormat::bf16};

constexpr double kAlignment = 128;  // bytes of a row that the matrix engine reads at full rate

class Hpu {
 public:
  Hpu(const Description& machine, const Program& program, const ExecutionOptions& options)
      : m_(machine), workload_(program.workload), liveness_(program.liveness), options_(options) {}

  Forecast forecast() const {
    Forecast result;
    std::vector<std::size_t> bundle;
    const auto close = [&] {
      add_bundle(bundle, result);
      bundle.clear();
    };
    for (std::size_t i = 0; i < workload_.works.size(); ++i) {
      const Work& work = workload_.works[i];
      if (work.kind == Work::Kind::nothing) {
        continue;
      }
      // A bundle is matrix work and the vector work that follows it.
      if (work.kind == Work::Kind::contraction || options_.launching == Launching::per_op) {
        close();
      }
      bundle.push_back(i);
    }
    close();
    add_launches(result);
    result.step[Bound::link] += all_reduce_seconds(workload_, options_, m_, m_["link_bandwidth"]);
    add_input(m_, workload_, options_, result.step);
    result.memory = {
        .place = "the memory pool",
        .available = m_["memory"],
        .always_live = liveness_.always_live + accumulator_bytes({workload_, liveness_}, options_),
        .transient = liveness_.peak};
    result.memory.overhead = (m_["pool_slack"] - 1) * result.memory.needed() + m_["pool_overhead"];
    return result;
  }

 private:
  /// 4b: MME cycles = ceil(H/gh) * ceil(W/gw) * max(CD*kh*kw, minCD), best geometry.
  double matrix_seconds(const Work& work) const {
    const Contraction& c = *work.contraction;
    const bool half = work.element_bytes <= 2;
    const double outputs = m_[half ? "matrix_outputs_half" : "matrix_outputs_float"];
    const double common = std::max(static_cast<double>(c.common * c.kernel_rows * c.kernel_columns),
                                   m_[half ? "least_common_half" : "least_common_float"]);
    double least = 0;
    const double shortest = m_["matrix_shortest_side"];
    for (double height = shortest; outputs / height >= shortest; height *= 2) {
      const double passes = std::ceil(c.rows / height) *
                            std::ceil(static_cast<double>(c.columns) / (outputs / height));
      least = least == 0 ? passes : std::min(least, passes);
    }
    return least * common * unaligned(work) / m_["matrix_efficiency"] / m_["clock"];
  }

  double unaligned(const Work& work) const {
    const auto misses = [&](std::int64_t channels) {
      return std::fmod(static_cast<double>(channels * work.element_bytes), kAlignment) != 0;
    };
    const Contraction& c = *work.contraction;
    return misses(c.common) && misses(c.columns) ? m_["unaligned_factor"] : 1;
  }

  /// 4b: TPC time = bytes / memory bandwidth; never less than its arithmetic takes.
  double vector_seconds(const Work& work) const {
    const double lanes =
        m_["vector_cores"] * m_["vector_bytes"] / static_cast<double>(work.element_bytes);
    return std::max(work.bytes() / m_["memory_bandwidth"], work.flops / (lanes * m_["clock"]));
  }

  /// 4b: T = matrix + vector - overlap * the shorter one, at least traffic / bandwidth, and 1500
  /// cycles for each slice that passes through the memory on the chip.
  void add_bundle(const std::vector<std::size_t>& bundle, Forecast& result) const {
    double matrix = 0;
    double vector = 0;
    double bytes = 0;
    std::vector<double> alone;
    for (const std::size_t i : bundle) {
      const Work& work = workload_.works[i];
      const double runs = runs_per_execution(work, options_);
      const bool is_matrix = work.kind == Work::Kind::contraction;
      const double seconds = (is_matrix ? matrix_seconds(work) : vector_seconds(work)) / runs;
      (is_matrix ? matrix : vector) += seconds;
      bytes += work.bytes() / runs;
      alone.push_back(std::max(seconds, work.bytes() / runs / m_["memory_bandwidth"]));
    }
    const double engines = matrix + vector - m_["overlap"] * std::min(matrix, vector);
    const double traffic = bytes / m_["memory_bandwidth"];
    const double slices = std::ceil(bytes / (m_["sram"] / m_["slice_buffers"]));
    const double slicing = m_["slice_cycles"] * slices / m_["slice_buffers"] / m_["clock"];
    const double total = std::max(engines, traffic) + (matrix > 0 ? slicing : 0);

    // An op gets its share of the bundle, by what it would take alone.
    double all_alone = 0;
    for (const double seconds : alone) {
      all_alone += seconds;
    }
    for (std::size_t k = 0; k < bundle.size(); ++k) {
      const Work& work = workload_.works[bundle[k]];
      const bool computes = work.kind == Work::Kind::contraction &&
                            matrix_seconds(work) >= work.bytes() / m_["memory_bandwidth"];
      Parts parts;
      parts[computes ? Bound::compute : Bound::memory] =
          all_alone > 0 ? total * alone[k] / all_alone : 0;
      result.ops.push_back({bundle[k], parts});
      result.step += parts;
    }
  }

  /// Lazy: ops are recorded and the graph is cut by a mark step after each backward pass and after
  /// each update, so there are two recipes. Eager: each op by itself. Either way something must be
  /// compiled for every shape that was not seen before.
  void add_launches(Forecast& result) const {
    const auto nodes = static_cast<double>(result.ops.size());
    if (options_.launching == Launching::per_op) {
      result.launches = result.ops.size();
      result.step[Bound::launch] += nodes * m_["eager_op_time"];
      result.compilations = distinct_ops(result);
      result.notes.push_back(
          fmt::format("eager: {} ops, each launched separately; {} of them differ in op or shape "
                      "and are compiled once each",
                      result.launches, result.compilations));
    } else {
      const bool trains = workload_.trains();
      result.launches = trains ? 2 : 1;
      result.step[Bound::launch] +=
          m_["launch_time"] * (trains ? 1 + 1.0 / options_.accumulation : 1);
      result.compilations = result.launches;
      result.notes.push_back(
          trains ? "lazy: two recipes, cut by mark steps after the backward pass and after the "
                   "update; both are recompiled for every new batch shape"
                 : "lazy: one recipe, recompiled for every new batch shape");
    }
    result.compile_seconds =
        m_["compile_time_per_node"] * (options_.launching == Launching::per_op
                                           ? static_cast<double>(result.compilations)
                                           : nodes);
  }

  std::size_t distinct_ops(const Forecast& result) const {
    std::set<std::string> signatures;
    for (const OpForecast& op : result.ops) {
      signatures.insert(workload_.works[op.node].signature);
    }
    return signatures.size();
  }

  const Description& m_;
  const Workload& workload_;
  const Liveness& liveness_;
  const ExecutionOptions& options_;
};

class HpuFamily final : public Family {
 public:
  std::string_view name() const override { return kName; }
  std::span<const FigureRule> figures() const override { return kFigures; }
  std::span<const FigureRule> unknowns() const override { return kUnknowns; }
  std::span<const NumberFormat> formats() const override { return kFormats; }
  std::vector<compile::Pass> format_passes() const override { return {narrow_scores()}; }
  std::string_view execution() const override {
    return "lazy, as recipes cut by mark steps, or eager, op by op (run.lazy_mode); replicas "
           "(--replicas), gradient accumulation";
  }
  Forecast forecast(const Description& machine, const Program& program,
                    const ExecutionOptions& options) const override {
    return Hpu(machine, program, options).forecast();
  }
};

}  // namespace

const Family& family() {
  static const HpuFamily instance;
  return instance;
}

}  // namespace cosmic::target::hpu
