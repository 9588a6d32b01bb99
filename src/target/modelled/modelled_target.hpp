// A target for a machine that is not present. Programs are computed by the host's own kernels, with
// every value rounded as the machine would write it; how long they would take there and whether
// they would fit is predicted from the machine's description. None of it is measured.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "machine/description.hpp"
#include "target/target.hpp"

namespace cosmic::target::modelled {

/// Where machines of one kind differ from the host that computes in their place.
struct Contract {
  std::string_view target_name;
  /// Can sums of products be kept in the operands' 16 bits?
  bool half_partials = false;
  /// What becomes of types that the machine does not have, in words; part of every report.
  std::vector<std::string> coercions = {};
  /// Which operations write 16 bits in a run that asks for them, in words; empty if nothing about
  /// it is the machine's own.
  std::string narrow_operations = {};
};

std::unique_ptr<Target> make_modelled_target(Contract contract, machine::Description machine);

}  // namespace cosmic::target::modelled
