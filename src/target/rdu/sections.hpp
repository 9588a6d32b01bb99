// How a program is cut into sections, and what passes between them. Private to this folder.
#pragma once

#include <vector>

#include "machine/forecast.hpp"

namespace cosmic::target::rdu {

struct Section {
  std::vector<std::size_t> works;
  double pieces = 1;  ///< that its images are cut into, for the stages to fit
};

/// Bytes that pass between a section and the memory beside the chip, each value once.
struct Boundary {
  double in = 0;
  double out = 0;
};

class SectionCutter {
 public:
  /// `sram`: of the part of the chip that is used.
  SectionCutter(const machine::Workload& workload, const machine::ExecutionOptions& options,
                double sram, double compute_units);

  /// By a plan, if there is one; one for each op; or, by rule, in program order as long as the
  /// stages fit the chip without being cut into more pieces.
  std::vector<Section> sections() const;

  /// 4c: double-buffered pieces of each stage's result, and the weights that it reads.
  double on_chip_bytes(const Section& section) const;
  /// The part of one op of the section.
  double on_chip_bytes(const Section& section, std::size_t work) const;

  Boundary boundary(const Section& section) const;

  /// 4c: a piece is read with its rim, (th+k-1)(tw+k-1) / (th*tw); the rims of convolutions that
  /// follow each other in a section add up.
  double halo(const Section& section) const;

 private:
  std::vector<Section> by_rule() const;
  std::vector<Section> by_plan() const;
  bool joins(Section section, std::size_t work) const;
  void cut_into_pieces(Section& section) const;

  const machine::Workload& workload_;
  const machine::ExecutionOptions& options_;
  double sram_;
  double compute_units_;
  std::vector<std::vector<std::size_t>> readers_;
};

}  // namespace cosmic::target::rdu
