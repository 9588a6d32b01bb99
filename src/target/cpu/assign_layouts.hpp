#pragma once

#include "compile/pass.hpp"

namespace cosmic::target::cpu {

/// Decides which values are stored as images (blocked, or interleaved where all are small) and puts
/// a reorder where a plain value meets an op that wants an image, or the other way round. In a
/// U-ResNet that is once, at the logits, if anyone asks.
compile::Pass assign_layouts();

}  // namespace cosmic::target::cpu
