// The RDU as a target: modelled, see target/modelled.
#pragma once

#include <memory>

#include "machine/description.hpp"
#include "target/target.hpp"

namespace cosmic::target::rdu {

/// `machine` is one of this folder's family.
std::unique_ptr<Target> make_rdu_target(machine::Description machine);

}  // namespace cosmic::target::rdu
