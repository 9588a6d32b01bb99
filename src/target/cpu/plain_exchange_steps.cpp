#include <vector>

#include "target/cpu/kernels/format_rows.hpp"
#include "target/cpu/kernels/row_kernels.hpp"
#include "target/cpu/plain_step_kinds.hpp"

namespace cosmic::target::cpu {
namespace {

struct Part {
  const float* from;
  float* to;
  std::int64_t count;
};

}  // namespace

/// This process's share, put together as it travels; CpuExecutable has it added up.
std::unique_ptr<PreparedStep> plain_step(const graph::AllReduce& op, const PlainNode& n) {
  std::vector<Part> parts;
  float* to = n.out();
  for (std::size_t i = 0; i < n.node().operands.size(); ++i) {
    parts.push_back({n.in(i), to, n.type(i).elements()});
    to += parts.back().count;
  }
  return step([parts = std::move(parts), factor = static_cast<float>(op.factor), format = op.format,
               count = n.node().type.elements()](const Team& all) {
    const Team team = all.for_work(16 * static_cast<double>(count));
    team.run([&](int thread) {
      for (const Part& part : parts) {
        const Range range = slice_of(part.count, thread, team.size());
        float* const share = part.to + range.begin;
        scale_floats(share, part.from + range.begin, factor, range.size());
        if (format != NumberFormat::f32) {
          round_row(share, share, format, range.size());
        }
      }
    });
  });
}

}  // namespace cosmic::target::cpu
