// Gaudi as a target: modelled, see target/modelled.
#pragma once

#include "target/registration.hpp"

namespace cosmic::target::hpu {

Registration registration();

}  // namespace cosmic::target::hpu
