// A toy of a machine beside the host: it has two devices, computes on a thread of its own from
// submit() on, and can work together with other processes. What it computes is what the CPU does.
#pragma once

#include <functional>

#include "target/registration.hpp"

namespace cosmic::target::toy {

Registration registration();

/// Called by the machine's thread in the middle of every run; what it throws ends the run.
extern std::function<void()> while_running;

}  // namespace cosmic::target::toy
