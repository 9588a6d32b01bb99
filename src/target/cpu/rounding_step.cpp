#include "target/cpu/rounding_step.hpp"

#include <algorithm>

#include "core/rounding_noise.hpp"
#include "target/cpu/kernels/format_rows.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::ValueId;

bool rounds(const graph::Node& node) {
  return !is_narrow(node) && node.format != NumberFormat::f32;
}

class RoundingStep final : public Step {
 public:
  RoundingStep(std::unique_ptr<Step> step, const Memory& memory, std::vector<ValueId> values)
      : step_(std::move(step)), memory_(memory), values_(std::move(values)) {}

  void prepare(const Team& team) override { step_->prepare(team); }
  void run(const Team& team, const Scratch& scratch) override {
    step_->run(team, scratch);
    for (const ValueId id : values_) {
      round_in_memory(memory_, id, team);
    }
  }
  std::int64_t scratch_bytes() const override { return step_->scratch_bytes(); }
  std::int64_t prepared_bytes() const override { return step_->prepared_bytes(); }

 private:
  std::unique_ptr<Step> step_;
  const Memory& memory_;
  std::vector<ValueId> values_;
};

}  // namespace

void round_in_memory(const Memory& memory, ValueId id, const Team& all) {
  const graph::Node& node = memory.graph().node(id);
  const RunRounding& rounding = memory.rounding();
  float* const values = memory.floats(id);
  const std::int64_t count = node.type.elements();
  const Team team = all.for_work(static_cast<double>(count));
  team.run([&](int thread) {
    const std::int64_t rows = (count + kNoiseRow - 1) / kNoiseRow;
    const Range mine = slice_of(rows, thread, team.size());
    for (std::int64_t row = mine.begin; row < mine.end; ++row) {
      float* const first = values + row * kNoiseRow;
      const std::int64_t length = std::min(kNoiseRow, count - row * kNoiseRow);
      if (rounding.mode == Rounding::nearest) {
        round_row(first, first, node.format, length);
      } else {
        const auto index = static_cast<std::uint64_t>(row);
        round_row(first, first, node.format, {noise_of_row(rounding.noise, id.index(), index), 0},
                  length);
      }
    }
  });
}

std::unique_ptr<Step> with_rounding(std::unique_ptr<Step> step, const Memory& memory,
                                    const std::vector<ValueId>& computed) {
  std::vector<ValueId> rounded;
  std::copy_if(computed.begin(), computed.end(), std::back_inserter(rounded),
               [&](ValueId id) { return rounds(memory.graph().node(id)); });
  if (rounded.empty()) {
    return step;
  }
  return std::make_unique<RoundingStep>(std::move(step), memory, std::move(rounded));
}

}  // namespace cosmic::target::cpu
