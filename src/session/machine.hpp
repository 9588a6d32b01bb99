// What is known about the machine that a model runs on, to set its timings against.
#pragma once

#include <optional>
#include <string>

#include "machine/description.hpp"
#include "session/options.hpp"
#include "target/target.hpp"

namespace cosmic::session {

struct Machine {
  std::string target;
  Provenance provenance = Provenance::measured;  ///< of its timings
  int threads = 0;
  std::optional<target::Peak> peak;                 ///< nothing if the target cannot tell
  std::optional<machine::Description> description;  ///< of a machine that is modelled
};

/// Takes a moment: a target that is measured measures its peak now.
Machine find_machine(const Options& options, Purpose purpose);

}  // namespace cosmic::session
