#include "target/rdu/sections.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "compile/layer_names.hpp"
#include "core/error.hpp"
#include "core/nearest_name.hpp"

namespace cosmic::target::rdu {
namespace {

using machine::ExecutionOptions;
using machine::Launching;
using machine::Work;
using machine::Workload;

constexpr double kMostPieces = 1024;  // that an image is cut into
constexpr double kBuffers = 2;        // a stage writes one piece while the next reads the other

void require_layer(const Workload& workload, const std::string& layer) {
  std::vector<std::string_view> names;
  for (const Work& work : workload.works) {
    if (compile::belongs_to(work.layer, layer)) {
      return;
    }
    names.push_back(work.layer);
  }
  throw UserError("the section plan names the layer '" + layer +
                  "', which is not in the network (did you mean '" +
                  std::string(nearest_name(layer, names)) +
                  "'?); `cosmictagger graph` lists its layers");
}

}  // namespace

SectionCutter::SectionCutter(const Workload& workload, const ExecutionOptions& options, double sram,
                             double compute_units)
    : workload_(workload),
      options_(options),
      sram_(sram),
      compute_units_(compute_units),
      readers_(workload.works.size()) {
  for (std::size_t i = 0; i < workload.works.size(); ++i) {
    for (const std::size_t read : workload.works[i].reads) {
      readers_[read].push_back(i);
    }
  }
}

std::vector<Section> SectionCutter::sections() const {
  return options_.sections.empty() ? by_rule() : by_plan();
}

std::vector<Section> SectionCutter::by_rule() const {
  std::vector<Section> all;
  for (std::size_t i = 0; i < workload_.works.size(); ++i) {
    if (workload_.works[i].kind == Work::Kind::nothing) {
      continue;
    }
    if (!all.empty() && options_.launching == Launching::whole_program && joins(all.back(), i)) {
      all.back().works.push_back(i);
    } else {
      all.push_back({{i}});
      cut_into_pieces(all.back());
    }
  }
  return all;
}

/// A section ends where the plan's next one begins, and where another pass does.
std::vector<Section> SectionCutter::by_plan() const {
  for (const std::vector<std::string>& layers : options_.sections) {
    for (const std::string& layer : layers) {
      require_layer(workload_, layer);
    }
  }
  const auto planned = [&](const std::string& layer) -> std::optional<std::size_t> {
    for (std::size_t s = 0; s < options_.sections.size(); ++s) {
      for (const std::string& block : options_.sections[s]) {
        if (compile::belongs_to(layer, block)) {
          return s;
        }
      }
    }
    return std::nullopt;
  };
  std::vector<Section> all;
  std::size_t present = 0;
  for (std::size_t i = 0; i < workload_.works.size(); ++i) {
    const Work& work = workload_.works[i];
    if (work.kind == Work::Kind::nothing) {
      continue;
    }
    const std::size_t section = planned(work.layer).value_or(present);
    const bool goes_on = !all.empty() && section == present &&
                         workload_.works[all.back().works.back()].phase == work.phase;
    if (!goes_on) {
      all.emplace_back();
    }
    all.back().works.push_back(i);
    present = section;
  }
  for (Section& section : all) {
    cut_into_pieces(section);
  }
  return all;
}

bool SectionCutter::joins(Section section, std::size_t i) const {
  const auto phase = [&](std::size_t work) { return workload_.works[work].phase; };
  const bool same_phase = phase(section.works.back()) == phase(i);
  section.works.push_back(i);
  return same_phase && static_cast<double>(section.works.size()) <= compute_units_ &&
         on_chip_bytes(section) <= sram_;
}

void SectionCutter::cut_into_pieces(Section& section) const {
  while (on_chip_bytes(section) > sram_ && section.pieces < kMostPieces) {
    section.pieces *= 2;
  }
}

double SectionCutter::on_chip_bytes(const Section& section, std::size_t i) const {
  const Work& work = workload_.works[i];
  return kBuffers * work.bytes_written / section.pieces + work.weight_bytes;
}

double SectionCutter::on_chip_bytes(const Section& section) const {
  double bytes = 0;
  for (const std::size_t i : section.works) {
    bytes += on_chip_bytes(section, i);
  }
  return bytes;
}

Boundary SectionCutter::boundary(const Section& section) const {
  const std::set<std::size_t> inside(section.works.begin(), section.works.end());
  std::set<std::size_t> read;
  Boundary boundary;
  for (const std::size_t i : section.works) {
    for (const std::size_t value : workload_.works[i].reads) {
      if (!inside.contains(value) && read.insert(value).second) {
        boundary.in += workload_.value_bytes[value];
      }
    }
    const bool leaves = workload_.leaves_program[i] ||
                        std::any_of(readers_[i].begin(), readers_[i].end(),
                                    [&](std::size_t reader) { return !inside.contains(reader); });
    boundary.out += leaves ? workload_.works[i].bytes_written : 0;
  }
  return boundary;
}

double SectionCutter::halo(const Section& section) const {
  if (section.pieces == 1) {
    return 1;
  }
  double rim = 0;
  double smallest = 0;
  for (const std::size_t i : section.works) {
    const Work& work = workload_.works[i];
    if (work.contraction && work.contraction->kernel_columns > 1) {
      rim += static_cast<double>(work.contraction->kernel_columns - 1);
      const double side = std::sqrt(work.contraction->rows / section.pieces);
      smallest = smallest == 0 ? side : std::min(smallest, side);
    }
  }
  return smallest == 0 ? 1 : (smallest + rim) * (smallest + rim) / (smallest * smallest);
}

}  // namespace cosmic::target::rdu
