#include "target/check/check_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "target/check/rounding_error.hpp"

namespace cosmic::target::check {
namespace {

using graph::Node;
using graph::ValueId;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Targets may take numbers this small for zero.
constexpr double kSmallestNormal = 0x1p-126;

struct FormatBits {
  int precision = 24;
  int least_exponent = -126;
  double most = kInfinity;  ///< what is larger is infinite
};

FormatBits bits_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::f32:
      return {24, -126, 0x1p128};
    case NumberFormat::bf16:
      return {8, -126, 0x1p128};
    case NumberFormat::f16:
      return {11, -14, 65520};
  }
  return {};
}

/// From one number of the format to the next, near `magnitude`.
double unit_near(double magnitude, const FormatBits& bits) {
  const int exponent = magnitude > 0 ? std::ilogb(magnitude) : bits.least_exponent;
  return std::ldexp(1.0, std::max(exponent, bits.least_exponent) - bits.precision + 1);
}

/// Of a normal distribution: the variance of its squares.
constexpr double kNormalTail = 2;

/// What being written does to a number: at most so much, and so much on average. Rounding at random
/// goes the long way seldom but far, so that its squares scatter; `tail` is by how much, in units
/// of the squared variance.
struct Writing {
  double most = 0;
  double variance = 0;
  double tail = kNormalTail;
};

Writing writing(double magnitude, const FormatBits& bits, Rounding rounding) {
  const double unit = unit_near(magnitude, bits);
  if (rounding == Rounding::nearest) {
    return {unit / 2, unit * unit / 12};
  }
  const double beyond = std::fmod(magnitude, unit) / unit;  // the chance to go up
  const double share = std::max(beyond * (1 - beyond), 1.0 / 64);
  return {unit, unit * unit * share, std::max(kNormalTail, 1 / share)};
}

bool is_float(const graph::TensorType& type) {
  return type.dtype == graph::DType::f32;
}

/// Compares one value with what it should be.
class Comparison {
 public:
  Comparison(const graph::Graph& graph, ValueId id, const CheckLimits& limits)
      : node_(graph.node(id)),
        rounding_(node_.format == NumberFormat::f32 ? Rounding::nearest : graph.numerics.rounding),
        bits_(bits_of(node_.format)),
        limits_(limits) {
    check_.value = id;
    check_.layer = node_.name;
    check_.op = graph::name_of(node_.op);
    check_.type = node_.type;
    check_.format = node_.format;
  }

  ValueCheck with(const Estimate& expected, const Tensor& observed) {
    COSMIC_ASSERT(expected.value.data.size() == observed.data.size());
    std::vector<double> bounds(observed.data.size());
    double relative_squares = 0;
    double tails = 0;
    std::size_t rounded = 0;
    for (std::size_t i = 0; i < observed.data.size(); ++i) {
      const double value = expected.value.data[i];
      const double variance = expected.exact() ? 0 : expected.variance[i];
      const double error = distance(observed.data[i], value, variance);
      const Writing writing = written(expected, value, variance);
      const double bound = writing.most + limits_.deviations * std::sqrt(variance);
      bounds[i] = bound;
      take(error, bound);
      const double expected_square = variance + writing.variance;
      if (expected_square > 0 && std::isfinite(error)) {
        relative_squares += error * error / expected_square;
        tails += writing.tail;
        ++rounded;
      }
    }
    check_.scale = root_mean_square(expected.value);
    check_.spread = rounded == 0 ? 0 : std::sqrt(relative_squares / static_cast<double>(rounded));
    // The mean over few elements scatters itself.
    const double scatter =
        rounded == 0 ? 0 : limits_.deviations * std::sqrt(tails) / static_cast<double>(rounded);
    const double most_spread = std::sqrt(limits_.spread * limits_.spread + scatter);
    const bool sound = !(check_.share() > 1) && check_.spread <= most_spread;
    check_.verdict = !sound                                     ? Verdict::wrong
                     : proves_something(expected.value, bounds) ? Verdict::sound
                                                                : Verdict::proves_nothing;
    return check_;
  }

 private:
  static double root_mean_square(const Tensor& value) {
    double squares = 0;
    std::size_t count = 0;
    for (const double number : value.data) {
      squares += std::isfinite(number) ? number * number : 0;
      count += std::isfinite(number) ? 1 : 0;
    }
    return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count));
  }

  /// Whether most of the value, by its squares, could be told from zero and from twice as much. Of
  /// zeros, most must be held to zero.
  bool proves_something(const Tensor& value, const std::vector<double>& bounds) const {
    double known = 0;
    double all = 0;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      const double number = check_.scale > 0 ? value.data[i] : 1;
      if (!std::isfinite(number)) {
        continue;
      }
      const double needed =
          check_.scale > 0 ? std::max(std::abs(number), check_.scale) / 2 : kSmallestNormal;
      all += number * number;
      known += bounds[i] <= needed ? number * number : 0;
    }
    return 2 * known >= all;
  }

  /// NaN and infinities agree only with themselves; near the largest of the format
  /// either is right.
  double distance(double observed, double value, double variance) const {
    if (std::isnan(observed) || std::isnan(value)) {
      return std::isnan(observed) && std::isnan(value) ? 0 : kInfinity;
    }
    const double room = limits_.deviations * std::sqrt(variance);
    if (std::isinf(observed)) {
      const bool may_be = std::abs(value) + room >= bits_.most && observed * value > 0;
      return may_be ? 0 : kInfinity;
    }
    const double off = std::abs(observed - value);
    return off <= kSmallestNormal ? 0 : off;
  }

  /// Moved elements are neither computed nor rounded again; integers are exact.
  Writing written(const Estimate& expected, double value, double variance) const {
    const bool as_they_were = expected.exact() && node_.format == NumberFormat::f32;
    const bool zero = value == 0 && variance == 0;  // every format has it
    if (as_they_were || zero || !is_float(node_.type) || !std::isfinite(value)) {
      return {};
    }
    return writing(std::abs(value) + 3 * std::sqrt(variance), bits_, rounding_);
  }

  void take(double error, double bound) {
    const auto share = [](double e, double b) { return e == 0 ? 0 : b == 0 ? kInfinity : e / b; };
    if (!taken_ || share(error, bound) > share(check_.error, check_.bound)) {
      taken_ = true;
      check_.error = error;
      check_.bound = bound;
    }
  }

  const Node& node_;
  Rounding rounding_;
  FormatBits bits_;
  const CheckLimits& limits_;
  ValueCheck check_;
  bool taken_ = false;  // check_ has an element
};

/// The index of the last node that needs each value.
std::vector<std::size_t> last_readers(const graph::Graph& graph) {
  std::vector<std::size_t> last(graph.size());
  graph::for_each_node(graph, [&](ValueId id, const Node& node) {
    last[id.index()] = id.index();
    for (const ValueId operand : node.operands) {
      last[operand.index()] = id.index();
    }
  });
  return last;
}

}  // namespace

double ValueCheck::share() const {
  return error == 0 ? 0 : bound == 0 ? kInfinity : error / bound;
}

std::vector<ValueCheck> check_values(const graph::Graph& graph, const TargetValues& values,
                                     const CheckLimits& limits) {
  std::vector<ValueCheck> checks;
  std::vector<std::optional<Estimate>> known(graph.size());
  const std::vector<std::size_t> last = last_readers(graph);
  graph::for_each_node(graph, [&](ValueId id, const Node& node) {
    if (values.progress) {
      values.progress(id.index(), graph.size());
    }
    if (graph::op_if<graph::State>(node) != nullptr) {
      known[id.index()] = {values.given(id), {}};
      return;
    }
    std::vector<const Estimate*> operands;
    for (const ValueId operand : node.operands) {
      operands.push_back(&*known[operand.index()]);
    }
    Estimate expected = graph::op_if<graph::Input>(node) != nullptr ? Estimate{values.given(id), {}}
                                                                    : estimate(graph, id, operands);
    if (node.stored && values.is_made(id)) {
      Tensor observed = values.observed(id);
      checks.push_back(Comparison(graph, id, limits).with(expected, observed));
      if (const std::optional<Tensor> other = values.as_it_is(id)) {
        checks.push_back(Comparison(graph, id, limits).with(expected, *other));
        checks.back().as_it_is = true;
      }
      expected = {std::move(observed), {}};  // what its readers had
    }
    known[id.index()] = std::move(expected);
    for (const ValueId operand : node.operands) {
      if (last[operand.index()] == id.index()) {
        known[operand.index()].reset();
      }
    }
  });
  return checks;
}

}  // namespace cosmic::target::check
