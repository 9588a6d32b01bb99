// The machine we run on: blocked images, kernels for every vector width, all cores.
#pragma once

#include <memory>

#include "target/registration.hpp"

namespace cosmic::target::cpu {

inline constexpr std::string_view kName = "cpu";

std::unique_ptr<Target> make_cpu_target();

Registration registration();

}  // namespace cosmic::target::cpu
