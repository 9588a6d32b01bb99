#include "target/cpu/interleaved_steps.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/error.hpp"
#include "target/cpu/blocked_image.hpp"
#include "target/cpu/interleaved_image.hpp"
#include "target/cpu/kernels/row_kernels.hpp"
#include "target/cpu/plain_step_kinds.hpp"
#include "target/cpu/plain_steps.hpp"
#include "target/cpu/row_window.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::Node;
using graph::ValueId;

/// One number per image of a bundle.
using Lanes = std::array<float, kBundle>;

/// As many threads as it is worth to go over this image once. An element moved takes as long as
/// this many multiply-adds (measured: 13 to 20).
Team worth(const Team& all, const InterleavedImage& image) {
  constexpr double kOperationsPerElement = 20;
  return all.for_work(kOperationsPerElement * static_cast<double>(image.floats()));
}

/// Each thread has sheets of its own. Those of a bundle stay with one thread, if each thread has a
/// bundle.
template <class Body>
void for_each_sheet(const Team& all, const InterleavedImage& image, const Body& body) {
  const Team team = worth(all, image);
  team.run([&](int thread) {
    const Range sheets = slice_of(image.sheets(), thread, team.size());
    for (std::int64_t sheet = sheets.begin; sheet < sheets.end; ++sheet) {
      body(sheet);
    }
  });
}

/// Finds the numbers of an image and a channel in a tensor [2, groups, channels].
class PerGroup {
 public:
  PerGroup(const InterleavedImage& image, std::int64_t groups)
      : images_per_group_(image.images() / groups), groups_(groups), channels_(image.channels) {}

  std::int64_t groups() const { return groups_; }
  std::int64_t images_per_group() const { return images_per_group_; }
  std::int64_t channel(std::int64_t sheet) const { return sheet % channels_; }
  std::int64_t group(std::int64_t sheet, std::int64_t lane) const {
    return (sheet / channels_ * kBundle + lane) / images_per_group_;
  }
  /// Place of the first number of a pair; the second stands `half` behind it.
  std::int64_t first(std::int64_t sheet, std::int64_t lane) const {
    return group(sheet, lane) * channels_ + channel(sheet);
  }
  std::int64_t half() const { return groups_ * channels_; }

 private:
  std::int64_t images_per_group_;
  std::int64_t groups_;
  std::int64_t channels_;
};

/// Each image of a sheet has a scale and a shift of its own: lanes(sheet, scale, shift).
template <class LanesOf>
std::unique_ptr<Step> affine_step(const PlainNode& n, LanesOf lanes) {
  return step([out = n.out(), x = n.in(0), image = InterleavedImage(n.node().type),
               lanes](const Team& all) {
    for_each_sheet(all, image, [&](std::int64_t sheet) {
      alignas(kAlignment) Lanes scale;
      alignas(kAlignment) Lanes shift;
      lanes(sheet, scale, shift);
      const std::int64_t at = sheet * image.sheet_stride();
      affine_leaky(out + at, x + at, scale.data(), shift.data(), 1, image.pixels());
    });
  });
}

std::unique_ptr<Step> interleaved_step(const graph::ChannelAffine&, const PlainNode& n) {
  const PerGroup per(InterleavedImage(n.node().type), n.type(1).dim(1));
  return affine_step(n, [per, k = n.in(1)](std::int64_t sheet, Lanes& scale, Lanes& shift) {
    for (std::int64_t lane = 0; lane < kBundle; ++lane) {
      const std::int64_t first = per.first(sheet, lane);
      scale[static_cast<std::size_t>(lane)] = k[first];
      shift[static_cast<std::size_t>(lane)] = k[first + per.half()];
    }
  });
}

std::unique_ptr<Step> interleaved_step(const graph::ChannelScale&, const PlainNode& n) {
  const PerGroup per(InterleavedImage(n.node().type), n.type(1).dim(1));
  return affine_step(n, [per, k = n.in(1)](std::int64_t sheet, Lanes& scale, Lanes& shift) {
    for (std::int64_t lane = 0; lane < kBundle; ++lane) {
      scale[static_cast<std::size_t>(lane)] = k[per.first(sheet, lane)];
    }
    shift.fill(0);
  });
}

std::unique_ptr<Step> interleaved_step(const graph::ChannelBias&, const PlainNode& n) {
  const PerGroup per(InterleavedImage(n.node().type), 1);
  return affine_step(n, [per, bias = n.in(1)](std::int64_t sheet, Lanes& scale, Lanes& shift) {
    scale.fill(1);
    shift.fill(bias[per.channel(sheet)]);
  });
}

// dmean / n + dvariance * 2 (x - mean) / n, with the sums over pooled channels of dmean and
// dvariance.
std::unique_ptr<Step> interleaved_step(const graph::StatisticsGradient& op, const PlainNode& n) {
  const InterleavedImage image(n.node().type);
  const PerGroup per(image, op.groups);
  const auto count =
      static_cast<double>(per.images_per_group() * op.pooled_channels * image.pixels());
  return affine_step(n, [per, s = n.in(1), d = n.in(2), pooled = op.pooled_channels, count](
                            std::int64_t sheet, Lanes& scale, Lanes& shift) {
    for (std::int64_t lane = 0; lane < kBundle; ++lane) {
      const std::int64_t first = per.first(sheet, lane);
      const std::int64_t pool = first - per.channel(sheet) % pooled;
      double dmean = 0;
      double dvariance = 0;
      for (std::int64_t i = pool; i < pool + pooled; ++i) {
        dmean += d[i];
        dvariance += d[i + per.half()];
      }
      const double slope = 2 * dvariance / count;
      scale[static_cast<std::size_t>(lane)] = static_cast<float>(slope);
      shift[static_cast<std::size_t>(lane)] = static_cast<float>(dmean / count - slope * s[first]);
    }
  });
}

/// Mean and sum of squared deviations of every sheet of every image, joined per group and pool.
class StatisticsStep final : public Step {
 public:
  StatisticsStep(const graph::Statistics& op, const PlainNode& n)
      : image_(n.type(0)),
        per_(image_, op.groups),
        pooled_(op.pooled_channels),
        x_(n.in(0)),
        result_(n.out()),
        means_(static_cast<std::size_t>(image_.sheets() * kBundle)),
        deviations_(means_.size()) {}

  void run(const Team& all, const Scratch&) override {
    for_each_sheet(all, image_, [&](std::int64_t sheet) { measure(sheet); });
    for (std::int64_t group = 0; group < per_.groups(); ++group) {
      for (std::int64_t channel = 0; channel < image_.channels; channel += pooled_) {
        join(group, channel);
      }
    }
  }

 private:
  void measure(std::int64_t sheet) {
    const float* const x = x_ + sheet * image_.sheet_stride();
    const auto count = static_cast<double>(image_.pixels());
    std::array<double, kBundle> sum{};
    add_sums(x, image_.pixels(), sum.data());
    // In differences from a number near the mean no digits cancel.
    alignas(kAlignment) Lanes pivot;
    std::transform(sum.begin(), sum.end(), pivot.begin(),
                   [&](double s) { return static_cast<float>(s / count); });
    sum.fill(0);
    std::array<double, kBundle> square{};
    add_moments(x, pivot.data(), image_.pixels(), sum.data(), square.data());
    for (std::size_t lane = 0; lane < kBundle; ++lane) {
      const std::size_t at = static_cast<std::size_t>(sheet * kBundle) + lane;
      means_[at] = pivot[lane] + sum[lane] / count;
      deviations_[at] = square[lane] - sum[lane] * sum[lane] / count;
    }
  }

  void join(std::int64_t group, std::int64_t first_channel) {
    const std::int64_t images = per_.images_per_group();
    const auto for_each_part = [&](const auto& visit) {
      for (std::int64_t i = group * images; i < (group + 1) * images; ++i) {
        for (std::int64_t c = first_channel; c < first_channel + pooled_; ++c) {
          const std::int64_t sheet = i / kBundle * image_.channels + c;
          visit(static_cast<std::size_t>(sheet * kBundle + i % kBundle));
        }
      }
    };
    const auto parts = static_cast<double>(images * pooled_);
    const auto pixels = static_cast<double>(image_.pixels());
    double mean = 0;
    for_each_part([&](std::size_t at) { mean += means_[at] / parts; });
    double deviation = 0;
    for_each_part([&](std::size_t at) {
      const double off = means_[at] - mean;
      deviation += deviations_[at] + off * off * pixels;
    });
    const double variance = std::max(deviation, 0.0) / (parts * pixels);
    for (std::int64_t c = first_channel; c < first_channel + pooled_; ++c) {
      result_[group * image_.channels + c] = static_cast<float>(mean);
      result_[per_.half() + group * image_.channels + c] = static_cast<float>(variance);
    }
  }

  InterleavedImage image_;
  PerGroup per_;
  std::int64_t pooled_;
  const float* x_;
  float* result_;
  std::vector<double> means_;  // [sheet][image]
  std::vector<double> deviations_;
};

std::unique_ptr<Step> interleaved_step(const graph::Statistics& op, const PlainNode& n) {
  return std::make_unique<StatisticsStep>(op, n);
}

/// Sums over pixels, first per sheet and image, then over the images of a group.
/// of_sheet(sheet, sums) fills `kSums` runs of eight.
template <std::size_t kSums, class OfSheet>
std::unique_ptr<Step> sums_step(const PlainNode& n, std::int64_t groups, OfSheet of_sheet) {
  const InterleavedImage image(n.type(0));
  using Sums = std::array<std::array<double, kBundle>, kSums>;
  return step([out = n.out(), image, per = PerGroup(image, groups), of_sheet,
               parts = std::vector<Sums>(static_cast<std::size_t>(image.sheets())),
               totals = std::vector<double>(static_cast<std::size_t>(n.node().type.elements()))](
                  const Team& all) mutable {
    for_each_sheet(all, image, [&](std::int64_t sheet) {
      Sums& sums = parts[static_cast<std::size_t>(sheet)];
      sums = {};
      of_sheet(sheet * image.sheet_stride(), image.pixels(), sums);
    });
    std::fill(totals.begin(), totals.end(), 0.0);
    for (std::int64_t sheet = 0; sheet < image.sheets(); ++sheet) {
      for (std::int64_t lane = 0; lane < kBundle; ++lane) {
        for (std::size_t i = 0; i < kSums; ++i) {
          const std::int64_t at =
              per.first(sheet, lane) + static_cast<std::int64_t>(i) * per.half();
          totals[static_cast<std::size_t>(at)] +=
              parts[static_cast<std::size_t>(sheet)][i][static_cast<std::size_t>(lane)];
        }
      }
    }
    std::transform(totals.begin(), totals.end(), out,
                   [](double total) { return static_cast<float>(total); });
  });
}

std::unique_ptr<Step> interleaved_step(const graph::ChannelProducts& op, const PlainNode& n) {
  return sums_step<2>(
      n, op.groups, [x = n.in(0), dy = n.in(1)](std::int64_t at, std::int64_t pixels, auto& sums) {
        add_products(x + at, dy + at, pixels, sums[1].data(), sums[0].data());
      });
}

std::unique_ptr<Step> interleaved_step(const graph::ChannelSum&, const PlainNode& n) {
  return sums_step<1>(n, 1, [x = n.in(0)](std::int64_t at, std::int64_t pixels, auto& sums) {
    add_sums(x + at, pixels, sums[0].data());
  });
}

std::unique_ptr<Step> interleaved_step(const graph::LeakyRelu& op, const PlainNode& n) {
  return step([out = n.out(), x = n.in(0), image = InterleavedImage(n.node().type),
               slope = static_cast<float>(op.slope)](const Team& all) {
    for_each_sheet(all, image, [&](std::int64_t sheet) {
      const std::int64_t at = sheet * image.sheet_stride();
      leaky(out + at, x + at, slope, image.pixels());
    });
  });
}

std::unique_ptr<Step> interleaved_step(const graph::LeakyReluGradient& op, const PlainNode& n) {
  return step([out = n.out(), x = n.in(0), dy = n.in(1), image = InterleavedImage(n.node().type),
               slope = static_cast<float>(op.slope)](const Team& all) {
    for_each_sheet(all, image, [&](std::int64_t sheet) {
      const std::int64_t at = sheet * image.sheet_stride();
      leaky_gradient(out + at, x + at, dy + at, slope, image.pixels());
    });
  });
}

std::unique_ptr<Step> interleaved_step(const graph::MaxPool& op, const PlainNode& n) {
  return step([out = n.out(), x = n.in(0), from = InterleavedImage(n.type(0)),
               to = InterleavedImage(n.node().type), window = op.window](const Team& all) {
    for_each_sheet(all, from, [&](std::int64_t sheet) {
      const float* rows[kMostPooledRows];
      for (std::int64_t row = 0; row < to.rows; ++row) {
        for (std::int64_t k = 0; k < window[1]; ++k) {
          rows[k] = x + sheet * from.sheet_stride() + (row * window[1] + k) * from.row_floats();
        }
        max_pool_row(out + sheet * to.sheet_stride() + row * to.row_floats(), rows, window[1],
                     window[2], to.columns);
      }
    });
  });
}

std::unique_ptr<Step> interleaved_step(const graph::MaxPoolGradient& op, const PlainNode& n) {
  return step([out = n.out(), x = n.in(0), dy = n.in(1), full = InterleavedImage(n.node().type),
               pooled = InterleavedImage(n.type(1)), window = op.window](const Team& all) {
    for_each_sheet(all, full, [&](std::int64_t sheet) {
      const float* inputs[kMostPooledRows];
      float* outputs[kMostPooledRows];
      const std::int64_t pooled_floats = pooled.columns * window[2] * kBundle;
      for (std::int64_t row = 0; row < pooled.rows; ++row) {
        for (std::int64_t k = 0; k < window[1]; ++k) {
          const std::int64_t at =
              sheet * full.sheet_stride() + (row * window[1] + k) * full.row_floats();
          inputs[k] = x + at;
          outputs[k] = out + at;
          std::fill(outputs[k] + pooled_floats, outputs[k] + full.row_floats(), 0.0F);
        }
        max_pool_gradient_rows(outputs, inputs,
                               dy + sheet * pooled.sheet_stride() + row * pooled.row_floats(),
                               window[1], window[2], pooled.columns);
      }
      // What does not fill a window was not pooled and has no gradient.
      float* const begin = out + sheet * full.sheet_stride();
      std::fill(begin + pooled.rows * window[1] * full.row_floats(), begin + full.sheet_stride(),
                0.0F);
    });
  });
}

std::unique_ptr<Step> interleaved_step(const graph::Reorder& op, const PlainNode& n) {
  const InterleavedImage image(n.node().type);
  const std::int64_t bundle_floats = image.channels * image.sheet_stride();
  const bool to_plain = op.to == graph::Layout::plain;
  return step([out = n.out(), x = n.in(0), image, bundle_floats, to_plain](const Team& all) {
    const std::int64_t pixels = bundle_floats / kBundle;  // of all channels, one after the other
    const Team team = worth(all, image);
    team.run([&](int thread) {
      const Range bundles = slice_of(image.bundles, thread, team.size());
      for (std::int64_t bundle = bundles.begin; bundle < bundles.end; ++bundle) {
        const std::int64_t at = bundle * bundle_floats;
        if (to_plain) {
          unblock_row(out + at, pixels, x + at, kBundle, pixels);
        } else {
          block_row(out + at, x + at, pixels, kBundle, pixels);
        }
      }
    });
  });
}

}  // namespace

bool is_interleaved(const graph::Graph& graph, ValueId id) {
  const Node& node = graph.node(id);
  return node.layout == graph::Layout::interleaved ||
         std::any_of(node.operands.begin(), node.operands.end(), [&](ValueId operand) {
           return graph.node(operand).layout == graph::Layout::interleaved;
         });
}

std::unique_ptr<Step> make_interleaved_step(const Memory& memory, ValueId id) {
  const PlainNode n(memory, id);
  return std::visit(
      [&](const auto& op) -> std::unique_ptr<Step> {
        using Op = std::decay_t<decltype(op)>;
        if constexpr (requires { interleaved_step(op, n); }) {
          return interleaved_step(op, n);
        } else if constexpr (std::is_same_v<Op, graph::Add> || std::is_same_v<Op, graph::Scale>) {
          return make_plain_step(memory, id);  // element by element, wherever they lie
        } else {
          throw InternalError("there is no interleaved step for " + std::string(op.name));
        }
      },
      n.node().op);
}

}  // namespace cosmic::target::cpu
