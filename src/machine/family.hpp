// How machines of one kind compute: what must be known about one of them, and the formulas that
// make a prediction of it. Each is a folder under target/, and target/registry lists them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/pass.hpp"
#include "core/number_format.hpp"
#include "machine/description.hpp"
#include "machine/forecast.hpp"

namespace cosmic::machine {

/// As run.precision writes it: "bfloat16".
std::string precision_word(NumberFormat format);

class Family {
 public:
  virtual ~Family() = default;
  virtual std::string_view name() const = 0;
  /// The figures that a description must give; no others are allowed.
  virtual std::span<const FigureRule> figures() const = 0;
  virtual std::span<const FigureRule> unknowns() const = 0;
  /// What its machines compute with.
  virtual std::span<const NumberFormat> formats() const = 0;
  /// Can several machines share one program, stage by stage?
  virtual bool pipelines() const { return false; }
  /// Can the products of a convolution be added up in half precision?
  virtual bool has_half_partials() const { return false; }
  /// Is there memory beside the chip for the optimizer's state?
  virtual bool streams_optimizer_state() const { return false; }
  /// Do people cut programs into sections?
  virtual bool has_sections() const { return false; }
  /// Passes that give values the formats of the vendor's software, after the compiler has assigned
  /// its own; see machine_formats.hpp.
  virtual std::vector<compile::Pass> format_passes() const { return {}; }
  /// Why the vendor's software does not offer an op, and what to use instead; empty if it does.
  virtual std::string_view why_not(std::string_view /*op*/) const { return {}; }
  /// How its machines execute a program, and the settings that choose, for people.
  virtual std::string_view execution() const = 0;
  virtual Forecast forecast(const Description& machine, const Program& program,
                            const ExecutionOptions& options) const = 0;
};

}  // namespace cosmic::machine
