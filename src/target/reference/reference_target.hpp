// The oracle: runs every op in double precision with plain loops. Correct before anything else; use
// it to check another target, not to train.
#pragma once

#include <memory>

#include "target/registration.hpp"

namespace cosmic::target::reference {

std::unique_ptr<Target> make_reference_target();

Registration registration();

}  // namespace cosmic::target::reference
