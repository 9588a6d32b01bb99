#include <algorithm>
#include <vector>

#include "graph/ops/exchange_begins.hpp"
#include "target/cpu/kernels/format_rows.hpp"
#include "target/cpu/kernels/row_kernels.hpp"
#include "target/cpu/plain_step_kinds.hpp"

namespace cosmic::target::cpu {
namespace {

struct Part {
  const float* from;
  float* to;
  std::int64_t count;
  std::int64_t gap;  ///< zeros behind it
};

std::vector<Part> parts_of(const PlainNode& n) {
  std::vector<graph::TensorType> types;
  for (std::size_t i = 0; i < n.node().operands.size(); ++i) {
    types.push_back(n.type(i));
  }
  const std::vector<std::int64_t> begins = graph::exchange_begins(types);
  std::vector<Part> parts;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::int64_t count = types[i].elements();
    const bool last = i + 1 == begins.size();
    parts.push_back(
        {n.in(i), n.out() + begins[i], count, last ? 0 : begins[i + 1] - begins[i] - count});
  }
  return parts;
}

}  // namespace

/// This process's share, put together as it travels; CpuExecutable has it added up. Operands mostly
/// lie there already.
std::unique_ptr<PreparedStep> plain_step(const graph::AllReduce& op, const PlainNode& n) {
  return step([parts = parts_of(n), factor = static_cast<float>(op.factor), format = op.format,
               count = n.node().type.elements()](const Team& all) {
    const Team team = all.for_work(16 * static_cast<double>(count));
    team.run([&](int thread) {
      for (const Part& part : parts) {
        const Range range = slice_of(part.count, thread, team.size());
        float* const share = part.to + range.begin;
        if (factor != 1 || part.from != part.to) {
          scale_floats(share, part.from + range.begin, factor, range.size());
        }
        if (format != NumberFormat::f32) {
          round_row(share, share, format, range.size());
        }
        if (thread == 0) {
          std::fill_n(part.to + part.count, part.gap, 0.0F);
        }
      }
    });
  });
}

}  // namespace cosmic::target::cpu
