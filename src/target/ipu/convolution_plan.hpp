// How a convolution is cut up for the tiles of an IPU. The vendor's planner tries many ways and
// takes the fastest whose temporaries fit; this one tries the ways that matter most, with the same
// costs. Private to this folder.
#pragma once

#include "machine/description.hpp"
#include "machine/workload.hpp"

namespace cosmic::target::ipu {

using machine::Contraction;
using machine::Description;

/// Which arithmetic a convolution uses: half operands with half or float partial sums, or float.
enum class ConvolutionMode { half_half, half_float, float_float };

struct ConvolutionPlan {
  double compute_cycles = 0;    ///< of the busiest tile
  double exchange_bytes = 0;    ///< into the busiest tile
  double reduction_cycles = 0;  ///< adding up partial sums of several tiles
  double supersteps = 1;
  double temporary_bytes = 0;  ///< of a tile: operands and partial sums
  double utilisation = 0;      ///< of all tiles' peak in this mode, while computing
};

/// Never fails: if no way keeps its temporaries within `temporary_bytes` of a tile, the one with
/// the fewest is taken, as the vendor's planner does.
ConvolutionPlan plan_convolution(const Description& machine, const Contraction& contraction,
                                 ConvolutionMode mode, double temporary_bytes);

/// Cycles of one tile for one row (pixel) if its groups of channels and taps alone mattered: what
/// the vendor's formula c * ceil(Ci/g) * ceil(kh/(D/g)) * kw * ceil(Co/U) gives, at the best g.
double cycles_per_row(const Description& machine, const Contraction& contraction,
                      ConvolutionMode mode);

}  // namespace cosmic::target::ipu
