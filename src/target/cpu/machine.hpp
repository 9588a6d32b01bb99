// What compiled programs rely on in the machine they were compiled on.
#pragma once

#include <string>

namespace cosmic::target::cpu {

/// The instructions that the kernels use here and the block of channels that images are stored in:
/// "AVX3 vectors, blocks of 8 channels".
std::string machine();

}  // namespace cosmic::target::cpu
