#include "target/cpu/measure_peak.hpp"

#include <algorithm>
#include <vector>

#include "core/stopwatch.hpp"
#include "core/threads.hpp"
#include "target/cpu/aligned_buffer.hpp"
#include "target/cpu/kernels/peak_kernel.hpp"
#include "target/cpu/kernels/row_kernels.hpp"

namespace cosmic::target::cpu {
namespace {

constexpr int kRuns = 5;
// A few milliseconds of multiply-adds: long against waking threads, short against being moved to
// another core.
constexpr std::int64_t kRounds = 2'000'000;
// Three arrays of this size are several times the last cache of common machines.
constexpr std::int64_t kFloats = std::int64_t{1} << 24;
constexpr double kArrays = 3;  // two are read, one is written

double flops_per_second(const Team& team) {
  // One cache line per thread, so that they do not wait for each other's.
  constexpr std::size_t kLine = 16;
  std::vector<float> sinks(static_cast<std::size_t>(team.size()) * kLine);
  std::vector<double> operations(static_cast<std::size_t>(team.size()));
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    const Stopwatch watch;
    team.run([&](int thread) {
      const auto index = static_cast<std::size_t>(thread);
      operations[index] = multiply_add_rounds(kRounds, &sinks[index * kLine]);
    });
    const double seconds = watch.seconds();
    double all = 0;
    for (const double done : operations) {
      all += done;
    }
    best = std::max(best, all / seconds);
  }
  return best;
}

double bytes_per_second(const Team& team) {
  const AlignedBuffer out(kFloats);
  const AlignedBuffer a(kFloats);
  const AlignedBuffer b(kFloats);
  // Until it is written to, memory is one page of zeros that stands for all.
  team.run([&](int thread) {
    const Range part = slice_of(kFloats, thread, team.size());
    for (const AlignedBuffer* const buffer : {&out, &a, &b}) {
      std::fill_n(buffer->data() + part.begin, part.size(), 1.0F);
    }
  });
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    const Stopwatch watch;
    team.run([&](int thread) {
      const Range part = slice_of(kFloats, thread, team.size());
      scale_add(out.data() + part.begin, a.data() + part.begin, b.data() + part.begin, 0.5F,
                part.size());
    });
    best = std::max(best, kArrays * sizeof(float) * static_cast<double>(kFloats) / watch.seconds());
  }
  return best;
}

}  // namespace

Peak measure_peak(int threads) {
  const Team team(threads);
  return {flops_per_second(team), bytes_per_second(team)};
}

}  // namespace cosmic::target::cpu
