#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "target/cpu/kernels/row_kernels.hpp"
#include "target/cpu/plain_step_kinds.hpp"

namespace cosmic::target::cpu {
namespace {

/// Without a branch, so that the compiler makes vectors of it.
bool all_finite(const float* numbers, std::int64_t count) {
  constexpr std::uint32_t kExponent = 0x7f800000U;  // all of it set: infinite, or no number
  std::uint32_t lost = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    lost |= (std::bit_cast<std::uint32_t>(numbers[i]) & kExponent) == kExponent ? 1U : 0U;
  }
  return lost == 0;
}

struct Numbers {
  const float* first;
  std::int64_t count;
};

}  // namespace

std::unique_ptr<PreparedStep> plain_step(const graph::AllFinite&, const PlainNode& n) {
  std::vector<Numbers> tensors;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < n.node().operands.size(); ++i) {
    tensors.push_back({n.in(i), n.type(i).elements()});
    count += tensors.back().count;
  }
  return step([out = n.out(), tensors = std::move(tensors), count](const Team& all) {
    const Team team = all.for_work(static_cast<double>(count));
    std::atomic<bool> lost = false;
    team.run([&](int thread) {
      for (const Numbers& numbers : tensors) {
        const Range range = slice_of(numbers.count, thread, team.size());
        if (!all_finite(numbers.first + range.begin, range.size())) {
          lost = true;
        }
      }
    });
    *out = lost ? std::numeric_limits<float>::quiet_NaN() : 0.0F;
  });
}

std::unique_ptr<PreparedStep> plain_step(const graph::Unscale&, const PlainNode& n) {
  return elementwise(n.node().type.elements(), [out = n.out(), x = n.in(0), scale = n.in(1)](
                                                   std::int64_t begin, std::int64_t end) {
    scale_floats(out + begin, x + begin, 1 / *scale, end - begin);
  });
}

std::unique_ptr<PreparedStep> plain_step(const graph::NextLossScale& op, const PlainNode& n) {
  return step([out = n.out(), scale = n.in(0), steps = n.in<const std::int64_t>(1),
               finite = n.in(2), op](const Team&) {
    const float now = *scale;
    if (!std::isfinite(*finite)) {
      *out = std::max(static_cast<float>(op.backoff) * now,
                      static_cast<float>(graph::kLeastLossScale));
      return;
    }
    const float grown = static_cast<float>(op.growth) * now;
    *out = *steps + 1 >= op.interval && std::isfinite(grown) ? grown : now;
  });
}

std::unique_ptr<PreparedStep> plain_step(const graph::GoodSteps& op, const PlainNode& n) {
  return step([out = n.out<std::int64_t>(), steps = n.in<const std::int64_t>(0), finite = n.in(1),
               op](const Team&) {
    const std::int64_t next = *steps + 1;
    *out = std::isfinite(*finite) && next < op.interval ? next : 0;
  });
}

}  // namespace cosmic::target::cpu
