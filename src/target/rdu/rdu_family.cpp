// The RDU: a section is a part of the program laid out on the chip at once, its ops as stages of a
// pipeline. Sections run one after another, and what passes between them goes through the memory
// beside the chip.
#include "target/rdu/rdu_family.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "machine/family.hpp"
#include "target/rdu/sections.hpp"

namespace cosmic::target::rdu {
namespace {

using namespace machine;
using enum Dimension;

constexpr std::array kFigures = std::to_array<FigureRule>({
    {"compute_units", count, "that stages of a section are laid out on"},
    {"tiles", count, "parts of the chip that a program may ask for"},
    {"peak_half", flops_per_second, "in bfloat16, all units"},
    {"sram", bytes, "on the chip"},
    {"sram_bandwidth", bytes_per_second, "on the chip"},
    {"memory", bytes, "beside the chip"},
});

constexpr std::array kUnknowns = std::to_array<FigureRule>({
    {"memory_bandwidth", bytes_per_second, "to the memory beside the chip"},
    {"section_switch", seconds, "to load the next section"},
    {"compute_efficiency", ratio, "of the units of a section"},
    {"float_rate", ratio, "float32 against bfloat16"},
    {"host_bandwidth", bytes_per_second, "from the host"},
    {"host_rate", bytes_per_second, "at which the host makes a batch ready, while the chip waits"},
    {"memory_slack", ratio, "of the memory beside the chip, for each byte of tensors"},
});

constexpr std::array kFormats{NumberFormat::f32, NumberFormat::bf16};

class Rdu {
 public:
  Rdu(const Description& machine, const Program& program, const ExecutionOptions& options)
      : m_(machine),
        workload_(program.workload),
        liveness_(program.liveness),
        options_(options),
        cutter_(workload_, options_, machine["sram"] * options.share, machine["compute_units"]) {}

  Forecast forecast() const {
    Forecast result;
    double fullest = 0;
    double most_pieces = 1;
    std::size_t in_pieces = 0;
    for (const Section& section : cutter_.sections()) {
      const double before = result.step.total();
      add_section(section, result);
      add_to_map(section, ModelledTime(result.step.total() - before), result.map);
      fullest = std::max(fullest, cutter_.on_chip_bytes(section));
      most_pieces = std::max(most_pieces, section.pieces);
      in_pieces += section.pieces > 1 ? 1 : 0;
      ++result.launches;
    }
    // Replicas agree through their hosts: no other link is known.
    result.step[Bound::link] += all_reduce_seconds(workload_, options_, m_, m_["host_bandwidth"]);
    add_input(m_, workload_, options_, result.step);
    add_host(result.step);
    result.memory = memory(fullest);
    result.notes.push_back(fmt::format(
        "{} sections ({}) on {:.3g} of {:.0f} tiles, {} of them cut into pieces, at most {:.0f}",
        result.launches, how_cut(), options_.share * m_["tiles"], m_["tiles"], in_pieces,
        most_pieces));
    return result;
  }

 private:
  /// A part of the chip has its part of the channels to the memory beside it.
  double memory_bandwidth() const { return m_["memory_bandwidth"] * options_.share; }

  /// Batches are prepared and handed over by the host between steps, not meanwhile.
  void add_host(Parts& step) const {
    if (options_.host_data == HostData::real) {
      step[Bound::host] += workload_.input_bytes / m_["host_rate"];
    }
  }

  std::string_view how_cut() const {
    if (!options_.sections.empty()) {
      return "by the plan";
    }
    return options_.launching == Launching::per_op ? "one per operator" : "fused by rule";
  }

  /// 4c: T = max(work / rate, boundary bytes / bandwidth) + switch. Stages get units in proportion
  /// to their work, so the slowest is as slow as the mean, as far as whole units allow.
  void add_section(const Section& section, Forecast& result) const {
    double compute = 0;
    double runs = 1;
    std::vector<double> of_work;
    for (const std::size_t i : section.works) {
      const Work& work = workload_.works[i];
      const double rate = m_["peak_half"] * options_.share * m_["compute_efficiency"] *
                          (work.element_bytes > 2 ? m_["float_rate"] : 1);
      of_work.push_back(
          std::max(work.flops / rate, work.bytes() / (m_["sram_bandwidth"] * options_.share)));
      compute += of_work.back();
      runs = runs_per_execution(work, options_);
    }
    const Boundary boundary = cutter_.boundary(section);
    const double memory = (boundary.in * cutter_.halo(section) + boundary.out) / memory_bandwidth();
    const Bound bound = compute >= memory ? Bound::compute : Bound::memory;
    const auto stages = static_cast<double>(section.works.size());
    for (std::size_t k = 0; k < section.works.size(); ++k) {
      Parts parts;
      parts[bound] = std::max(compute, memory) * (compute > 0 ? of_work[k] / compute : 1 / stages);
      parts[Bound::launch] = m_["section_switch"] / stages;
      parts *= 1 / runs;
      result.ops.push_back({section.works[k], parts});
      result.step += parts;
    }
  }

  /// What a section holds on the chip.
  void add_to_map(const Section& section, ModelledTime time, MemoryMap& map) const {
    const Work& first = workload_.works[section.works.front()];
    const Work& last = workload_.works[section.works.back()];
    std::string name = first.layer + " (" + first.op + ")";
    if (section.works.size() > 1) {
      name += " to " + last.layer + " (" + last.op + ")";
    }
    map.kind = "section";
    map.rule =
        "A section keeps its weights and two pieces of the result of each stage on the chip: one "
        "is "
        "written while the other is read. Data passed between sections is kept in the memory "
        "beside the chip.";
    map.available = ModelledBytes(m_["sram"] * options_.share);
    map.places.push_back(
        {.name = name, .transient = ModelledBytes(cutter_.on_chip_bytes(section)), .time = time});
    if (map.places.back().needed() > map.places[map.fullest].needed() || map.places.size() == 1) {
      map.fullest = map.places.size() - 1;
      map.in_fullest.clear();
      for (const std::size_t i : section.works) {
        const Work& work = workload_.works[i];
        map.in_fullest.push_back(
            {work.layer, work.op, ModelledBytes(cutter_.on_chip_bytes(section, i))});
      }
      std::stable_sort(
          map.in_fullest.begin(), map.in_fullest.end(),
          [](const LargeTensor& a, const LargeTensor& b) { return a.bytes > b.bytes; });
    }
  }

  /// The memory beside the chip holds all boundaries and states; a section that does not fit the
  /// chip even in the smallest pieces is what overflows.
  MemoryForecast memory(double fullest_section) const {
    const double sram = m_["sram"] * options_.share;
    if (fullest_section > sram) {
      return {.place = "the fullest section", .available = sram, .transient = fullest_section};
    }
    MemoryForecast beside{
        .place = "the memory beside the chip",
        .available = m_["memory"] * options_.share,
        .always_live = liveness_.always_live + accumulator_bytes({workload_, liveness_}, options_),
        .transient = liveness_.peak};
    beside.overhead = (m_["memory_slack"] - 1) * beside.needed();
    return beside;
  }

  const Description& m_;
  const Workload& workload_;
  const Liveness& liveness_;
  const ExecutionOptions& options_;
  const SectionCutter cutter_;
};

class RduFamily final : public Family {
 public:
  std::string_view name() const override { return kName; }
  std::span<const FigureRule> figures() const override { return kFigures; }
  std::span<const FigureRule> unknowns() const override { return kUnknowns; }
  std::span<const NumberFormat> formats() const override { return kFormats; }
  bool has_sections() const override { return true; }
  std::string_view why_not(std::string_view op) const override {
    return op == graph::RmspropStep::name
               ? "SambaFlow's optimizers are SGD and AdamW (samba.optim); choose "
                 "mode.optimizer.name=adam or sgd"
               : std::string_view();
  }
  std::string_view execution() const override {
    return "sections laid out on the chip one after another, fused by rule, one per operator "
           "(run.lazy_mode=false) or by a plan (run.section_plan); replicas (--replicas)";
  }
  Forecast forecast(const Description& machine, const Program& program,
                    const ExecutionOptions& options) const override {
    return Rdu(machine, program, options).forecast();
  }
};

}  // namespace

const Family& family() {
  static const RduFamily instance;
  return instance;
}

}  // namespace cosmic::target::rdu
