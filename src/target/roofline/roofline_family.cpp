// Machines that run one kernel after another, each bound by arithmetic or by memory. They can be
// measured, so they show how good the method is.
#include "target/roofline/roofline_family.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "machine/family.hpp"

namespace cosmic::target::roofline {
namespace {

using namespace machine;
using enum Dimension;

constexpr std::array kFigures = std::to_array<FigureRule>({
    {"peak_float", flops_per_second, "in float32"},
    {"peak_tf32", flops_per_second,
     "of products with run.tf32; peak_float if it has no such units"},
    {"peak_half", flops_per_second, "in 16 bits"},
    {"memory", bytes, "for tensors"},
    {"memory_bandwidth", bytes_per_second, "of that memory"},
    {"bandwidth_share", ratio, "of the bandwidth that is reached"},
    {"processors", count, "that a kernel is spread over"},
    {"tile_channels", count,
     "that convolutions of the library work on at a time; fewer are padded"},
    {"host_bandwidth", bytes_per_second, "from the host"},
    {"link_bandwidth", bytes_per_second, "to other machines of the kind"},
});

constexpr std::array kUnknowns = std::to_array<FigureRule>({
    {"compute_efficiency", ratio, "of convolutions, against the peak"},
    {"float_efficiency", ratio, "of products in float32 without tf32, against peak_float"},
    {"layout_passes", ratio,
     "times that operands and result of a product in 16 bits or tf32 are moved; more than 1 if a "
     "library converts layouts"},
    {"winograd_savings", ratio,
     "multiplications of a direct 3x3 convolution in plain arithmetic for each that is done; 1 "
     "without Winograd's algorithm"},
    {"overlap", ratio,
     "of a kernel's arithmetic with its traffic: 1 if only the longer of them takes time, 0 if "
     "both do, one after the other"},
    {"launch_time", seconds, "of a kernel that follows another in one program"},
    {"kernel_latency", seconds,
     "of a kernel of products at least, launch included: on small images its loads wait for one "
     "another"},
    {"issue_time", seconds, "of an op that the host issues by itself"},
    {"host_call", seconds, "of the host for each step, while the machine waits"},
    {"channel_bandwidth_share", ratio,
     "of the bandwidth that normalization of few channels reaches"},
    {"riding_sums", ratio,
     "of the sums per channel that are taken along by kernels beside them, without traffic"},
    {"narrow_channels", count, "that are few: with n times as many it reaches n times as much"},
    {"pool_slack", ratio, "of the memory, for each byte of tensors: alignment and gaps"},
    {"pool_overhead", bytes, "of the memory: context, libraries, workspaces"},
});

constexpr std::array kFormats{NumberFormat::f32, NumberFormat::bf16, NumberFormat::f16};

constexpr double kRowsOfBlock = 64;  // results of a convolution that one processor works on

/// 4d: occupancy, min(1, blocks / processors): few results leave processors idle.
double occupancy(const Description& machine, const Contraction& contraction) {
  const double blocks =
      contraction.rows * static_cast<double>(contraction.columns) / (kRowsOfBlock * kRowsOfBlock);
  // What is summed over many pixels is split, and its parts added up.
  const double splits = std::max(1.0, static_cast<double>(contraction.common) / kRowsOfBlock);
  return std::min(1.0, std::max(1.0, blocks) * splits / machine["processors"]);
}

/// Rows, common channels and columns are worked on in tiles; a library pads what does not fill one.
double filled(const Description& machine, const Contraction& contraction) {
  const double tile = machine["tile_channels"];
  const auto share = [&](double extent) { return std::min(1.0, extent / tile); };
  return share(contraction.rows / contraction.rows_per_element) *
         share(static_cast<double>(contraction.common)) *
         share(static_cast<double>(contraction.columns));
}

double peak_of(const Description& m, const Work& work) {
  return m[work.element_bytes <= 2 ? "peak_half" : work.tf32 ? "peak_tf32" : "peak_float"];
}

/// Units for products pad what does not fill their tiles; plain arithmetic does not.
double efficiency(const Description& m, const Work& work) {
  const bool plain = work.element_bytes > 2 && !work.tf32;
  return occupancy(m, *work.contraction) *
         (plain ? m["float_efficiency"] : m["compute_efficiency"] * filled(m, *work.contraction));
}

/// Winograd's algorithm is for 3x3 kernels that move pixel by pixel and their gradients, in plain
/// arithmetic; others, and units for products, compute directly, and so does a library where few
/// channels would leave most of a tile empty.
double flops_done(const Description& m, const Work& work) {
  constexpr double kPositions = 9;
  const Contraction& contraction = *work.contraction;
  const bool plain = peak_of(m, work) <= m["peak_float"];
  const bool possible =
      plain && contraction.kernel_positions() == kPositions && !contraction.strided;
  const double savings = possible ? m["winograd_savings"] * filled(m, contraction) : 1;
  return work.flops / std::max(1.0, savings);
}

/// Libraries sum over images channel by channel, with too little in flight where channels are few.
double bandwidth_of(const Description& m, const Work& work) {
  double share = m["bandwidth_share"];
  if (work.per_channel && work.channels > 0) {
    const double many = std::max(1.0, static_cast<double>(work.channels) / m["narrow_channels"]);
    share = std::min(share, m["channel_bandwidth_share"] * many);
  }
  return m["memory_bandwidth"] * share;
}

/// 4d: per kernel max(flops / (peak * efficiency), bytes / (bandwidth * share)) + launch, and what
/// the shorter of the two is not hidden by; of products, no less than a kernel's latency.
Parts kernel_time(const Description& m, const Work& work) {
  const double peak = peak_of(m, work);
  Parts parts;
  parts[Bound::compute] =
      work.contraction ? flops_done(m, work) / (peak * efficiency(m, work)) : work.flops / peak;
  const bool sums = work.per_channel && work.kind == Work::Kind::reduction;
  const double bytes = work.bytes() * (sums ? 1 - m["riding_sums"] : 1);
  const double memory = bytes / bandwidth_of(m, work);
  parts[Bound::memory] = memory;
  parts[parts.largest() == Bound::memory ? Bound::compute : Bound::memory] *= 1 - m["overlap"];
  if (work.contraction && (work.element_bytes <= 2 || work.tf32)) {
    parts[Bound::memory] += (m["layout_passes"] - 1) * memory;
  }
  if (work.stored) {  // what is recomputed where it is read is part of its reader's kernel
    parts[Bound::launch] = m["launch_time"];
    if (work.contraction) {
      parts[Bound::launch] += std::max(0.0, m["kernel_latency"] - parts.total());
    }
  }
  return parts;
}

Forecast forecast_roofline(const Description& m, const Program& program,
                           const ExecutionOptions& options) {
  Forecast result;
  const Workload& workload = program.workload;
  for (std::size_t i = 0; i < workload.works.size(); ++i) {
    const Work& work = workload.works[i];
    if (work.kind == Work::Kind::nothing) {
      continue;
    }
    Parts parts = kernel_time(m, work);
    result.launches += work.stored ? 1 : 0;
    parts *= 1 / runs_per_execution(work, options);
    result.ops.push_back({i, parts});
    result.step += parts;
  }
  if (options.launching == Launching::per_op) {
    // The host issues ops ahead of the machine, which waits where they are shorter than that.
    const double issuing = static_cast<double>(result.launches) * m["issue_time"];
    result.step[Bound::launch] += std::max(0.0, issuing - result.step.total());
  }
  result.step[Bound::host] += m["host_call"];
  result.notes.push_back(
      std::to_string(result.launches) + " kernels" +
      (options.launching == Launching::per_op ? ", issued one by one by the host" : ""));
  result.step[Bound::link] += all_reduce_seconds(workload, options, m, m["link_bandwidth"]);
  add_input(m, workload, options, result.step);
  result.memory = {
      .place = "the memory",
      .available = m["memory"],
      .always_live = program.liveness.always_live + accumulator_bytes(program, options),
      .transient = program.liveness.peak};
  result.memory.overhead = (m["pool_slack"] - 1) * result.memory.needed() + m["pool_overhead"];
  return result;
}

class RooflineFamily final : public Family {
 public:
  std::string_view name() const override { return kName; }
  std::span<const FigureRule> figures() const override { return kFigures; }
  std::span<const FigureRule> unknowns() const override { return kUnknowns; }
  std::span<const NumberFormat> formats() const override { return kFormats; }
  std::string_view execution() const override {
    return "one kernel after another, compiled ahead or issued by the host one by one; replicas "
           "(--replicas), gradient accumulation";
  }
  Forecast forecast(const Description& machine, const Program& program,
                    const ExecutionOptions& options) const override {
    return forecast_roofline(machine, program, options);
  }
};

}  // namespace

const Family& family() {
  static const RooflineFamily instance;
  return instance;
}

}  // namespace cosmic::target::roofline
