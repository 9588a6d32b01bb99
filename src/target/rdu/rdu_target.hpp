// The RDU as a target: modelled, see target/modelled.
#pragma once

#include "target/registration.hpp"

namespace cosmic::target::rdu {

Registration registration();

}  // namespace cosmic::target::rdu
