// How many files and connections a process may have open. Shells and batch systems allow 1,024
// unless they are asked, and a program may ask for more up to a limit that only root can raise.
#pragma once

#include <cstddef>

namespace cosmic {

/// Raises the limit of open files to `wanted`, or as far as this process may. Returns the limit.
std::size_t allow_open_files(std::size_t wanted);

}  // namespace cosmic
