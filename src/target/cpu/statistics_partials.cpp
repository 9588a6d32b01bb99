#include "target/cpu/statistics_partials.hpp"

#include "target/cpu/kernels/row_kernels.hpp"

namespace cosmic::target::cpu {

StatisticsPartials::StatisticsPartials(const BlockedImage& image, std::int64_t groups,
                                       std::int64_t pooled_channels, int threads)
    : image_(image),
      groups_(groups),
      pooled_channels_(pooled_channels),
      threads_(threads),
      parts_(static_cast<std::size_t>(threads * groups * image.blocks())) {}

void StatisticsPartials::clear(int thread) {
  const auto per_thread = static_cast<std::size_t>(groups_ * image_.blocks());
  for (std::size_t i = 0; i < per_thread; ++i) {
    parts_[static_cast<std::size_t>(thread) * per_thread + i].pixels = 0;
  }
}

void StatisticsPartials::add(int thread, std::int64_t image, std::int64_t block, const float* row,
                             std::int64_t pixels) {
  Part& part = parts_[static_cast<std::size_t>(
      (thread * groups_ + group_of(image)) * image_.blocks() + block)];
  if (part.pixels == 0) {
    // The mean of the first row is near enough to the mean of all.
    double sum[kBlock] = {};
    add_sums(row, pixels, sum);
    for (std::int64_t lane = 0; lane < kBlock; ++lane) {
      part.pivot[lane] = static_cast<float>(sum[lane] / static_cast<double>(pixels));
      part.sum[lane] = 0;
      part.square[lane] = 0;
    }
  }
  add_moments(row, part.pivot, pixels, part.sum, part.square);
  part.pixels += pixels;
}

void StatisticsPartials::finish(float* statistics) const {
  for (std::int64_t group = 0; group < groups_; ++group) {
    for (std::int64_t first = 0; first < image_.channels; first += pooled_channels_) {
      double count = 0;
      double mean = 0;
      double deviation = 0;  // sum of squared differences from the mean
      for (std::int64_t c = first; c < first + pooled_channels_; ++c) {
        for (int thread = 0; thread < threads_; ++thread) {
          const Part& p = part(thread, group, c / kBlock);
          if (p.pixels == 0) {
            continue;
          }
          const auto lane = static_cast<std::size_t>(c % kBlock);
          const auto n = static_cast<double>(p.pixels);
          const double part_mean = p.pivot[lane] + p.sum[lane] / n;
          const double part_deviation = p.square[lane] - p.sum[lane] * p.sum[lane] / n;
          const double difference = part_mean - mean;
          const double total = count + n;
          deviation += part_deviation + difference * difference * count * n / total;
          mean += difference * n / total;
          count = total;
        }
      }
      const double variance = deviation > 0 ? deviation / count : 0;
      for (std::int64_t c = first; c < first + pooled_channels_; ++c) {
        statistics[group * image_.channels + c] = static_cast<float>(mean);
        statistics[(groups_ + group) * image_.channels + c] = static_cast<float>(variance);
      }
    }
  }
}

}  // namespace cosmic::target::cpu
