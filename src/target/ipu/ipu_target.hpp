// The IPU as a target: modelled, see target/modelled.
#pragma once

#include <memory>

#include "machine/description.hpp"
#include "target/target.hpp"

namespace cosmic::target::ipu {

/// `machine` is one of this folder's family.
std::unique_ptr<Target> make_ipu_target(machine::Description machine);

}  // namespace cosmic::target::ipu
