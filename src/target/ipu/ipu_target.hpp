// The IPU as a target: modelled, see target/modelled.
#pragma once

#include "target/registration.hpp"

namespace cosmic::target::ipu {

Registration registration();

}  // namespace cosmic::target::ipu
