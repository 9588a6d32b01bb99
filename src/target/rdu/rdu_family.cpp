// The RDU: a section is a part of the program laid out on the chip at once, its ops as stages of a
// pipeline. Sections run one after another, and what passes between them goes through the memory
// beside the chip.
#include "target/rdu/rdu_family.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "machine/family.hpp"

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
    {"model_error", ratio, "how far predictions have been from published figures"},
});

constexpr std::array kUnknowns = std::to_array<FigureRule>({
    {"memory_bandwidth", bytes_per_second, "to the memory beside the chip"},
    {"section_switch", seconds, "to load the next section"},
    {"compute_efficiency", ratio, "of the units of a section"},
    {"float_rate", ratio, "float32 against bfloat16"},
    {"host_bandwidth", bytes_per_second, "from the host"},
});

constexpr std::array kFormats{NumberFormat::f32, NumberFormat::bf16};

constexpr double kMostTiles = 1024;  // pieces that an image is cut into, at the most
constexpr double kBuffers = 2;       // a stage writes one piece while the next reads the other

struct Section {
  std::vector<std::size_t> works;
  double tiles = 1;  ///< pieces that its images are cut into, for the stages to fit
};

class Rdu {
 public:
  Rdu(const Description& machine, const Program& program, const ExecutionOptions& options)
      : m_(machine), workload_(program.workload), liveness_(program.liveness), options_(options) {}

  Forecast forecast() const {
    Forecast result;
    double fullest = 0;
    for (const Section& section : sections()) {
      const double before = result.step.total();
      add_section(section, result);
      add_to_map(section, ModelledTime(result.step.total() - before), result.map);
      fullest = std::max(fullest, on_chip_bytes(section));
      ++result.launches;
    }
    // Replicas agree through their hosts: no other link is known.
    result.step[Bound::link] += all_reduce_seconds(workload_, options_, m_, m_["host_bandwidth"]);
    add_prefetched_input(workload_, options_, m_["host_bandwidth"], result.step);
    result.memory = memory(fullest);
    return result;
  }

 private:
  double sram() const { return m_["sram"] * options_.share; }

  /// Fused: in program order, as long as the stages fit the chip without more pieces than the first
  /// op needs. Per op: each op is a section (o0).
  std::vector<Section> sections() const {
    std::vector<Section> all;
    for (std::size_t i = 0; i < workload_.works.size(); ++i) {
      if (workload_.works[i].kind == Work::Kind::nothing) {
        continue;
      }
      if (!all.empty() && options_.launching == Launching::whole_program && joins(all.back(), i)) {
        all.back().works.push_back(i);
      } else {
        all.push_back(section_of(i));
      }
    }
    return all;
  }

  /// An op by itself, its images cut up until it fits.
  Section section_of(std::size_t i) const {
    Section section{{i}};
    while (on_chip_bytes(section) > sram() && section.tiles < kMostTiles) {
      section.tiles *= 2;
    }
    return section;
  }

  bool joins(Section section, std::size_t i) const {
    const auto updates = [&](std::size_t work) {
      return workload_.works[work].kind == Work::Kind::update;
    };
    const bool same_phase = updates(section.works.back()) == updates(i);
    section.works.push_back(i);
    return same_phase && static_cast<double>(section.works.size()) <= m_["compute_units"] &&
           on_chip_bytes(section) <= sram();
  }

  /// 4c: double-buffered pieces of each stage's result.
  double on_chip_bytes(const Section& section) const {
    double bytes = 0;
    for (const std::size_t i : section.works) {
      bytes += kBuffers * workload_.works[i].bytes_written / section.tiles;
    }
    return bytes;
  }

  /// 4c: halo re-reads, (th+k-1)(tw+k-1) / (th*tw) for a square piece of a convolution's image.
  double halo(const Section& section) const {
    double most = 1;
    for (const std::size_t i : section.works) {
      const Work& work = workload_.works[i];
      if (section.tiles > 1 && work.contraction && work.contraction->kernel_columns > 1) {
        const double side = std::sqrt(work.contraction->rows / section.tiles);
        const auto rim = static_cast<double>(work.contraction->kernel_columns - 1);
        most = std::max(most, (side + rim) * (side + rim) / (side * side));
      }
    }
    return most;
  }

  /// 4c: bytes of what a section reads that others wrote and of what it writes.
  double boundary_bytes(const Section& section) const {
    double bytes = 0;
    double inside = 0;
    for (std::size_t k = 0; k < section.works.size(); ++k) {
      const Work& work = workload_.works[section.works[k]];
      bytes += work.bytes();
      inside += k + 1 < section.works.size() ? work.bytes_written : 0;
    }
    // What a stage hands to the next is read there and does not pass the boundary; it is written
    // once all the same if it is kept for the backward pass, which is the rule in training.
    const bool trains = workload_.gradient_bytes > 0;
    return std::max(0.0, bytes - inside * (trains ? 1 : 2));
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
    const double memory = boundary_bytes(section) * halo(section) / m_["memory_bandwidth"];
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
        "A section keeps two pieces of the result of each stage on the chip: one is written while "
        "the other is read. What passes between sections lies in the memory beside the chip.";
    map.available = ModelledBytes(sram());
    map.places.push_back(
        {.name = name, .transient = ModelledBytes(on_chip_bytes(section)), .time = time});
    if (map.places.back().needed() > map.places[map.fullest].needed() || map.places.size() == 1) {
      map.fullest = map.places.size() - 1;
      map.in_fullest.clear();
      for (const std::size_t i : section.works) {
        const Work& work = workload_.works[i];
        map.in_fullest.push_back(
            {work.layer, work.op, ModelledBytes(kBuffers * work.bytes_written / section.tiles)});
      }
      std::stable_sort(
          map.in_fullest.begin(), map.in_fullest.end(),
          [](const LargeTensor& a, const LargeTensor& b) { return a.bytes > b.bytes; });
    }
  }

  /// The memory beside the chip holds all boundaries and states; a section that does not fit the
  /// chip even in the smallest pieces is what overflows.
  MemoryForecast memory(double fullest_section) const {
    if (fullest_section > sram()) {
      return {.place = "the fullest section", .available = sram(), .transient = fullest_section};
    }
    return {.place = "the memory beside the chip",
            .available = m_["memory"],
            .always_live = liveness_.always_live,
            .transient = liveness_.peak};
  }

  const Description& m_;
  const Workload& workload_;
  const Liveness& liveness_;
  const ExecutionOptions& options_;
};

class RduFamily final : public Family {
 public:
  std::string_view name() const override { return kName; }
  std::span<const FigureRule> figures() const override { return kFigures; }
  std::span<const FigureRule> unknowns() const override { return kUnknowns; }
  std::span<const NumberFormat> formats() const override { return kFormats; }
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
