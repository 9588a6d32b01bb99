// How fast this machine is at most, measured: arithmetic in registers, and a sum of arrays too long
// for any cache.
#pragma once

#include "target/target.hpp"

namespace cosmic::target::cpu {

/// The best of a few short runs; other programs on the machine only ever make it slower. Takes
/// about a fifth of a second and, meanwhile, 200 MB.
Peak measure_peak(int threads);

}  // namespace cosmic::target::cpu
