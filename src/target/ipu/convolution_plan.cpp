#include "target/ipu/convolution_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace cosmic::target::ipu {
namespace {

double ceil_div(double a, double b) {
  return std::ceil(a / b);
}

/// What the convolution units do in one mode.
struct Units {
  double block_cycles;  ///< c: for one row of a block of weights
  double depth;         ///< D: weights of a unit
  double units;         ///< U: results at a time
  double least_group;
  double worker_cycles;
  double type_bytes;
  double partial_bytes;
};

/// The figures that a plan is made with, looked up once: thousands of plans are compared.
struct TileFigures {
  explicit TileFigures(const Description& m)
      : tiles(m["tiles"]),
        contexts(m["worker_contexts"]),
        supervisor_cycles(m["supervisor_cycles"]),
        group_cycles(m["group_cycles"]),
        weight_load_rate(m["weight_load_rate"]),
        vector_bytes(m["vector_bytes"]),
        exchange_rate(m["exchange_rate"]),
        superstep_cycles(m["sync_cycles"] + m["exchange_cycles"]) {}

  double tiles;
  double contexts;
  double supervisor_cycles;
  double group_cycles;
  double weight_load_rate;
  double vector_bytes;
  double exchange_rate;
  double superstep_cycles;
};

Units units_of_mode(const Description& m, ConvolutionMode mode) {
  switch (mode) {
    case ConvolutionMode::half_half:
      return {m["half_block_cycles"],
              m["half_depth"],
              m["half_units"],
              m["half_least_group"],
              m["half_worker_cycles"],
              2,
              2};
    case ConvolutionMode::half_float:
      return {m["half_block_cycles"],
              m["half_depth"],
              m["half_float_units"],
              m["half_least_group"],
              m["half_worker_cycles"],
              2,
              4};
    case ConvolutionMode::float_float:
      break;
  }
  return {m["float_block_cycles"],
          m["float_depth"],
          m["float_units"],
          m["float_least_group"],
          m["float_worker_cycles"],
          4,
          4};
}

/// The planner's transforms: kernel columns, or all positions, become input channels.
std::vector<Contraction> foldings(const Contraction& c) {
  std::vector<Contraction> all{c};
  if (c.kernel_columns > 1) {
    Contraction columns = c;
    columns.common *= c.kernel_columns;
    columns.kernel_columns = 1;
    all.push_back(columns);
  }
  if (c.kernel_rows > 1) {
    Contraction positions = c;
    positions.common *= c.kernel_columns * c.kernel_rows;
    positions.kernel_columns = positions.kernel_rows = 1;
    all.push_back(positions);
  }
  return all;
}

/// The groups that channels are cut into, for one g.
struct Groups {
  double in = 1;
  double out = 1;
  double taps = 1;  ///< positions of the kernel, rows that share a unit counted once

  Groups(const Contraction& c, const Units& units, double group)
      : in(ceil_div(static_cast<double>(c.common), group)),
        out(ceil_div(static_cast<double>(c.columns), units.units)),
        taps(ceil_div(static_cast<double>(c.kernel_rows), units.depth / group) *
             static_cast<double>(c.kernel_columns)) {}
};

std::vector<double> group_sizes(const Units& units) {
  std::vector<double> sizes;
  for (double g = units.depth; g >= units.least_group; g /= 2) {
    sizes.push_back(g);
  }
  return sizes;
}

/// 1, 2, 4, ... and `most` itself.
std::vector<double> splits(double most) {
  std::vector<double> all;
  for (double split = 1; split < most; split *= 2) {
    all.push_back(split);
  }
  all.push_back(most);
  return all;
}

struct Split {
  double in = 1;      ///< tiles that share the sum over input channels
  double out = 1;     ///< tiles that share the output channels
  double serial = 1;  ///< steps, one after another, that share those of a tile: less memory at once
};

class Planner {
 public:
  Planner(const Description& machine, const Contraction& original, ConvolutionMode mode,
          double temporary_bytes)
      : figures_(machine),
        original_(original),
        units_(units_of_mode(machine, mode)),
        temporary_bytes_(temporary_bytes) {}

  ConvolutionPlan best() {
    for (const Contraction& folded : foldings(original_)) {
      for (const double group : group_sizes(units_)) {
        const Groups groups(folded, units_, group);
        for (const double out : splits(std::min(groups.out, figures_.tiles))) {
          for (const double in : splits(std::min(groups.in, figures_.tiles / out))) {
            for (const double serial : splits(ceil_div(groups.out, out))) {
              consider(folded, group, groups, {std::floor(in), out, serial});
            }
          }
        }
      }
    }
    return best_;
  }

 private:
  void consider(const Contraction& folded, double group, const Groups& groups, const Split& split) {
    const ConvolutionPlan plan = cost(folded, group, groups, split);
    const bool fits = plan.temporary_bytes <= temporary_bytes_;
    const double cost = fits ? cycles(plan) : plan.temporary_bytes;
    const bool better = fits != best_fits_ ? fits : cost < best_cost_;
    if (better) {
      best_ = plan;
      best_fits_ = fits;
      best_cost_ = cost;
    }
  }

  double cycles(const ConvolutionPlan& plan) const {
    return plan.compute_cycles + plan.reduction_cycles +
           plan.exchange_bytes / figures_.exchange_rate +
           plan.supersteps * figures_.superstep_cycles;
  }

  ConvolutionPlan cost(const Contraction& folded, double group, const Groups& groups,
                       const Split& split) const {
    const double row_tiles =
        std::min(std::max(1.0, std::floor(figures_.tiles / (split.in * split.out))), folded.rows);
    const double rows = ceil_div(folded.rows, row_tiles);
    const double in = ceil_div(groups.in, split.in);
    const double out = ceil_div(ceil_div(groups.out, split.out), split.serial);
    const double blocks = in * out * groups.taps;

    ConvolutionPlan plan;  // of one serial step
    // 4a, AMP: c cycles for each row of each block; loading its weights and starting the workers
    // costs the same however few rows follow.
    plan.compute_cycles =
        blocks * (units_.block_cycles * rows +
                  units_.depth * units_.units * units_.type_bytes / figures_.weight_load_rate +
                  units_.worker_cycles * figures_.contexts) +
        figures_.supervisor_cycles + figures_.group_cycles * (in + out);
    const bool is_folded = folded.common != original_.common;
    const double channels = std::min(in * group, static_cast<double>(folded.common));
    if (is_folded) {
      // Neighbouring pixels are written side by side first.
      plan.compute_cycles += rows * channels * units_.type_bytes / figures_.vector_bytes;
    }
    const double weights = channels * out * units_.units *
                           static_cast<double>(folded.kernel_rows * folded.kernel_columns);
    const double expansion =
        static_cast<double>(folded.common) / static_cast<double>(original_.common);
    const double image = input_rows(rows) * channels / expansion;
    const double partials = rows * out * units_.units;
    plan.exchange_bytes = (weights + image) * units_.type_bytes;
    plan.temporary_bytes = plan.exchange_bytes + partials * units_.partial_bytes +
                           (is_folded ? rows * channels * units_.type_bytes : 0);
    if (split.in > 1) {
      // Each of the tiles that share a sum adds up its part of the results.
      plan.exchange_bytes += partials * units_.partial_bytes * (split.in - 1) / split.in;
      plan.reduction_cycles = partials * units_.partial_bytes / figures_.vector_bytes;
      plan.supersteps = 2;
    }
    plan.compute_cycles *= split.serial;
    plan.reduction_cycles *= split.serial;
    plan.exchange_bytes *= split.serial;
    plan.supersteps *= split.serial;
    const double peak = units_.depth * units_.units / units_.block_cycles;
    plan.utilisation = original_.multiply_adds() / (peak * figures_.tiles * plan.compute_cycles);
    return plan;
  }

  /// Pixels of the image under a square patch of `rows` results, its rim included.
  double input_rows(double rows) const {
    const double side = std::sqrt(ceil_div(rows, original_.rows_per_element));
    return (side + static_cast<double>(original_.kernel_rows) - 1) *
           (side + static_cast<double>(original_.kernel_columns) - 1);
  }

  const TileFigures figures_;
  const Contraction& original_;
  const Units units_;
  const double temporary_bytes_;
  ConvolutionPlan best_;
  bool best_fits_ = false;
  double best_cost_ = std::numeric_limits<double>::infinity();
};

}  // namespace

ConvolutionPlan plan_convolution(const Description& machine, const Contraction& contraction,
                                 ConvolutionMode mode, double temporary_bytes) {
  return Planner(machine, contraction, mode, temporary_bytes).best();
}

double cycles_per_row(const Description& machine, const Contraction& contraction,
                      ConvolutionMode mode) {
  const Units units = units_of_mode(machine, mode);
  double least = std::numeric_limits<double>::infinity();
  for (const double group : group_sizes(units)) {
    const Groups groups(contraction, units, group);
    least = std::min(least, units.block_cycles * groups.in * groups.taps * groups.out);
  }
  return least;
}

}  // namespace cosmic::target::ipu
