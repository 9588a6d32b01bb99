#include "target/cpu/round_in_memory.hpp"

#include <algorithm>

#include "core/rounding_noise.hpp"
#include "target/cpu/kernels/format_rows.hpp"

namespace cosmic::target::cpu {

using graph::ValueId;

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

}  // namespace cosmic::target::cpu
