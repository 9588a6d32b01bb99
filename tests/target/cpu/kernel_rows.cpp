#include "target/cpu/kernel_rows.hpp"

#include <hwy/targets.h>

#include <cmath>
#include <random>

namespace cosmic::target::cpu {

Row grid_row(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  Row row(count);
  for (std::int64_t i = 0; i < count; ++i) {
    row[i] = float(int(generator() % 129) - 64) / 16.0f;
  }
  return row;
}

Row normal_row(std::int64_t count, unsigned seed, float mean, float width) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(mean, width);
  Row row(count);
  for (std::int64_t i = 0; i < count; ++i) {
    row[i] = normal(generator);
  }
  return row;
}

void on_every_target(const std::function<void()>& body) {
  const std::int64_t supported = hwy::SupportedTargets() | HWY_SCALAR;
  for (const std::int64_t target : {HWY_SCALAR, HWY_AVX2, HWY_AVX3}) {
    if ((supported & target) == 0) {
      continue;
    }
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::GetChosenTarget().Update(target);
    body();
  }
  hwy::GetChosenTarget().DeInit();
}

void expect_close(double got, double want, double tolerance) {
  EXPECT_NEAR(got, want, tolerance * (1.0 + std::abs(want)));
}

void expect_map(
    std::size_t sources,
    const std::function<void(float*, const std::vector<const float*>&, std::int64_t)>& run,
    const std::function<double(const std::vector<double>&, std::int64_t)>& want) {
  on_every_target([&] {
    for (const std::int64_t pixels : kPixelCounts) {
      for (std::size_t aliased = 0; aliased <= sources; ++aliased) {
        SCOPED_TRACE(testing::Message() << pixels << " pixels, destination " << aliased);
        std::vector<Row> in;
        std::vector<Row> original;
        std::vector<const float*> pointers;
        for (std::size_t s = 0; s < sources; ++s) {
          in.push_back(grid_row(kBlock * pixels, unsigned(s + 1)));
          original.push_back(in.back().copy());
          pointers.push_back(in.back().data());
        }
        Row separate(kBlock * pixels);
        float* const out = aliased < sources ? in[aliased].data() : separate.data();
        run(out, pointers, pixels);
        for (std::int64_t i = 0; i < kBlock * pixels; ++i) {
          std::vector<double> values;
          for (const Row& row : original) {
            values.push_back(row[i]);
          }
          ASSERT_NO_FATAL_FAILURE(expect_close(out[i], want(values, i % kBlock)));
        }
      }
    }
  });
}

}  // namespace cosmic::target::cpu
