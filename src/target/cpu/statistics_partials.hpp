// Mean and variance from parts. Each part sums differences from a pivot of its own near its mean,
// in which no digits cancel; parts are joined exactly (Chan, Golub and LeVeque, 1979).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "target/cpu/blocked_image.hpp"

namespace cosmic::target::cpu {

/// The statistics of one Statistics op, gathered row by row by several threads.
class StatisticsPartials {
 public:
  StatisticsPartials(const BlockedImage& image, std::int64_t groups, std::int64_t pooled_channels,
                     int threads);

  /// Forgets everything one thread has added.
  void clear(int thread);
  /// Adds `pixels` pixels of one channel block of one image.
  void add(int thread, std::int64_t image, std::int64_t block, const float* row,
           std::int64_t pixels);
  /// Joins the parts of all threads: [2, groups, channels], mean and biased variance.
  void finish(float* statistics) const;

 private:
  struct Part {
    alignas(32) float pivot[kBlock];
    double sum[kBlock];
    double square[kBlock];
    std::int64_t pixels = 0;
  };

  std::int64_t group_of(std::int64_t image) const {
    return image / image_.depth / (image_.batch / groups_);
  }
  const Part& part(int thread, std::int64_t group, std::int64_t block) const {
    return parts_[static_cast<std::size_t>((thread * groups_ + group) * image_.blocks() + block)];
  }

  BlockedImage image_;
  std::int64_t groups_;
  std::int64_t pooled_channels_;
  int threads_;
  std::vector<Part> parts_;
};

}  // namespace cosmic::target::cpu
