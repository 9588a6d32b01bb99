#include "target/cuda/touches.hpp"

#include <algorithm>

#include "compile/inside.hpp"
#include "core/error.hpp"
#include "target/cuda/device_memory.hpp"
#include "target/cuda/lower.hpp"

namespace cosmic::target::cuda {

using graph::ValueId;

namespace {

constexpr std::int64_t kMostBytesOfSmall = std::int64_t{1} << 20;

/// What begins at this address, of what the step touches.
void add_at(const void* address, bool writes, const std::vector<Touch>& all,
            std::vector<Touch>& some) {
  for (const Touch& touch : all) {
    if (touch.begin == address) {
      some.push_back({touch.begin, touch.end, writes});
      return;
    }
  }
  COSMIC_ASSERT(false);
}

/// Works that touch less than the step that they are of.
class Narrowing {
 public:
  /// `values` are the step's; `all` has its other memory too.
  Narrowing(const std::vector<Touch>& values, const std::vector<Touch>& all,
            std::span<const std::byte> scratch)
      : values_(values), all_(all), scratch_(scratch) {}

  std::vector<Touch> of(const Work& work) const {
    return std::visit([this](const auto& one) { return (*this)(one); }, work);
  }

 private:
  template <class Kind>
  std::vector<Touch> operator()(const Kind&) const {
    return all_;
  }
  std::vector<Touch> operator()(const Map<PackWeightsBody>& pack) const {
    std::vector<Touch> touches;
    add_at(pack.body.kernel, false, values_, touches);
    const auto* const packed = reinterpret_cast<const std::byte*>(pack.body.packed);
    touches.push_back(
        {packed, packed + pack.elements * static_cast<std::int64_t>(sizeof(std::uint32_t)), true});
    return touches;
  }
  std::vector<Touch> operator()(const JoinKernelGradient& join) const {
    std::vector<Touch> touches;
    add_at(join.gradient, true, values_, touches);
    touches.push_back({scratch_.data(), scratch_.data() + scratch_.size(), false});
    return touches;
  }
  std::vector<Touch> operator()(const Map<RoundBody>& round) const {
    return in_place(round.body.values);
  }
  std::vector<Touch> operator()(const Map<PoolStatisticsBody>& pool) const {
    return in_place(pool.body.statistics);
  }
  /// Of the weight's operand it needs nothing.
  std::vector<Touch> operator()(const Map<NormParameterGradientBody>& work) const {
    std::vector<Touch> touches;
    add_at(work.body.gradients.statistics, false, values_, touches);
    add_at(work.body.gradients.dcoefficients, false, values_, touches);
    add_at(work.body.gradient, true, values_, touches);
    return touches;
  }
  std::vector<Touch> in_place(const void* address) const {
    std::vector<Touch> touches;
    add_at(address, true, values_, touches);
    return touches;
  }

  const std::vector<Touch>& values_;
  const std::vector<Touch>& all_;
  std::span<const std::byte> scratch_;
};

void add_guard(TouchingWork& work) {
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { one.guard; }) {
          if (one.guard != nullptr) {
            const auto* const number = reinterpret_cast<const std::byte*>(one.guard);
            work.touches.push_back({number, number + sizeof(float), false});
          }
        }
      },
      std::get<Work>(work.work));
}

}  // namespace

SmallValues place_small_values(const compile::Plan& plan) {
  SmallValues small;
  small.offsets.assign(plan.graph.size(), -1);
  const auto inside = compile::values_inside(plan);
  for (std::size_t i = 0; i < plan.graph.size(); ++i) {
    const graph::Node& node = plan.graph.nodes()[i];
    if (plan.placements[i] && !inside[i] && node.layout == graph::Layout::plain &&
        plan.placements[i]->bytes <= kMostBytesOfSmall) {
      // The same bytes in another shape are just there: nobody writes them but who computes them.
      if (graph::op_if<graph::Reshape>(node) != nullptr) {
        const std::size_t operand = node.operands[0].index();
        const graph::Node& reshaped = plan.graph.nodes()[operand];
        if (small.offsets[operand] >= 0 && reshaped.format == node.format) {
          small.offsets[i] = small.offsets[operand];
          continue;
        }
      }
      small.offsets[i] = small.bytes;
      small.bytes += round_up(plan.placements[i]->bytes);
    }
  }
  for (std::size_t i = 0; i < plan.graph.size(); ++i) {
    if (inside[i] && small.offsets[inside[i]->whole.index()] >= 0) {
      small.offsets[i] = small.offsets[inside[i]->whole.index()] + inside[i]->offset;
    }
  }
  return small;
}

Touch Touches::touch(ValueId value, bool writes) const {
  const auto* const begin = addresses_->at<const std::byte>(value);
  const std::optional<compile::Placement>& placement = plan_->placements[value.index()];
  const std::int64_t bytes = placement ? placement->bytes : plan_->graph.type(value).bytes();
  return {begin, begin + (begin == nullptr ? 0 : bytes), writes};
}

std::vector<TouchingWork> Touches::of_step(const compile::Step& step, std::span<const Work> works,
                                           std::span<const std::byte> scratch,
                                           std::span<const std::byte> prepared) const {
  std::vector<Touch> values;
  const auto add_computed = [&](const compile::Computed& computed) {
    values.push_back(touch(computed.value, true));
    for (const compile::Expression::Term& term : computed.expression.terms) {
      if (term.value == computed.value) {
        continue;
      }
      // Whoever reads a rounded copy of a state may read the state.
      const bool through = is_looked_through(plan_->graph, term.value);
      values.push_back(
          touch(through ? plan_->graph.node(term.value).operands[0] : term.value, false));
    }
  };
  add_computed(step.leader);
  for (const compile::Rider& rider : step.riders) {
    add_computed(rider.computed);
  }
  const auto is_empty = [](const Touch& touch) { return touch.begin == touch.end; };
  std::erase_if(values, is_empty);
  std::vector<Touch> all = values;
  all.push_back({scratch.data(), scratch.data() + scratch.size(), true});
  all.push_back({prepared.data(), prepared.data() + prepared.size(), false});
  std::erase_if(all, is_empty);
  const Narrowing narrowing(values, all, scratch);
  std::vector<TouchingWork> touching;
  for (const Work& work : works) {
    touching.push_back({work, narrowing.of(work)});
    add_guard(touching.back());
  }
  // All weights of a step are packed before anything of it reads some of them.
  std::stable_partition(touching.begin(), touching.end(), [](const TouchingWork& one) {
    return std::holds_alternative<Map<PackWeightsBody>>(std::get<Work>(one.work));
  });
  return touching;
}

TouchingWork Touches::of_work(const Work& work, std::span<const ValueId> reads,
                              ValueId writes) const {
  TouchingWork one{work, {touch(writes, true)}};
  for (const ValueId value : reads) {
    one.touches.push_back(touch(value, false));
  }
  add_guard(one);
  return one;
}

}  // namespace cosmic::target::cuda
