// Passes that give values the format that a machine's own software keeps them in, where it differs
// from what the compiler chooses by itself. They change results, on the host that computes in the
// machine's place, and bytes, in the prediction. A float32 program stays as it is.
#pragma once

#include "compile/pass.hpp"

namespace cosmic::machine {

/// The scores that the loss reads are as narrow as other images: a convolution writes 16 bits,
/// whoever reads it. The loss itself is float32.
compile::Pass narrow_scores();

/// Gradients of narrow images are as narrow, whether or not the loss is scaled.
compile::Pass narrow_gradients();

}  // namespace cosmic::machine
