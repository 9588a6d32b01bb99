// Sums over the pixels of images, per group of images and channel: of u v, and of v. Those of a
// value with itself give its mean and variance; those of a gradient with an image, the gradient of
// what scaled and shifted that image. A kernel that has the pixels at hand takes them along.
//
// Each block of threads adds up its pixels and leaves two sums per channel; the last block to
// finish adds these up in double, in the order of the blocks. So the bits do not depend on which
// one is last.
#pragma once

#include "target/cuda/kernels/recipe.hpp"

namespace cosmic::target::cuda {

struct PartialSums {
  float uv;
  float v;
};

struct PixelSums {
  enum class Kind : std::uint8_t { none, statistics, products, channel_sum };

  Kind kind = Kind::none;
  Recipe u;  ///< none: u is v
  Recipe v;  ///< none: what the kernel has just computed
  float* out = nullptr;
  int channels = 0;
  int groups = 1;
  double count = 1;                 ///< pixels of a group
  PartialSums* partials = nullptr;  ///< [slice][column][block][channel of the column]
  unsigned* finished = nullptr;     ///< blocks, per group and column; zero between runs

  COSMIC_DEVICE bool wanted() const { return kind != Kind::none; }

  /// Is v a gradient where some image was activated?
  COSMIC_DEVICE bool gates_result() const {
    return v.exists() && v.formula.kind == Formula::Kind::gradient && !v.formula.is_long;
  }
  /// Is u that very image? Then it is read once.
  COSMIC_DEVICE bool u_gates_v() const {
    return u.exists() && gates_result() && u.formula.kind == Formula::Kind::plain &&
           u.leaf[0].image.base == v.leaf[1].image.base && u.leaf[0].kind == v.leaf[1].kind;
  }

  /// Is v all that is summed up, a gradient where some image was activated? So without a
  /// normalisation.
  COSMIC_DEVICE bool sums_gated_result() const {
    return kind == Kind::channel_sum && !u.exists() && gates_result();
  }

  COSMIC_DEVICE void finish(int group, int channel, double uv, double v_sum) const {
    if (channel >= channels) {
      return;
    }
    const std::int64_t first = static_cast<std::int64_t>(group) * channels + channel;
    const std::int64_t second = static_cast<std::int64_t>(groups) * channels + first;
    switch (kind) {
      case Kind::none:
        return;
      case Kind::statistics: {
        const double mean = v_sum / count;
        const double variance = uv / count - mean * mean;
        out[first] = static_cast<float>(mean);
        out[second] = static_cast<float>(variance > 0 || variance != variance ? variance : 0);
        return;
      }
      case Kind::products:
        out[first] = static_cast<float>(uv);
        out[second] = static_cast<float>(v_sum);
        return;
      case Kind::channel_sum:
        out[first] = static_cast<float>(v_sum);
        return;
    }
  }
};

/// How pixels are cut into blocks of threads: each block belongs to one slice of the images and to
/// one column, some neighbouring channels.
struct SumsGeometry {
  int slices = 1;         ///< a multiple of the groups
  int columns = 1;        ///< of channels
  int blocks = 1;         ///< of a slice and column
  int channels = kBlock;  ///< of a column

  COSMIC_DEVICE std::int64_t partials() const {
    return static_cast<std::int64_t>(slices) * columns * blocks * channels;
  }
};

/// i: a group and a channel of pools of neighbouring channels, whose own statistics are there.
struct PoolStatisticsBody {
  float* statistics;  ///< [2, groups, channels]
  std::int64_t half;  ///< groups * channels
  int pooled;

  COSMIC_DEVICE void operator()(std::int64_t pool) const {
    float* const mean = statistics + pool * pooled;
    float* const variance = mean + half;
    double sum = 0;
    for (int k = 0; k < pooled; ++k) {
      sum += mean[k];
    }
    const double common = sum / pooled;
    double spread = 0;
    for (int k = 0; k < pooled; ++k) {
      spread += variance[k] + (mean[k] - common) * (mean[k] - common);
    }
    for (int k = 0; k < pooled; ++k) {
      mean[k] = static_cast<float>(common);
      variance[k] = static_cast<float>(spread / pooled);
    }
  }
};

/// Sums of images that no other kernel takes along.
struct SumPixels {
  PixelSums sums;
  SumsGeometry geometry;
  std::int64_t images = 1;  ///< of a slice
};

}  // namespace cosmic::target::cuda
