#include "target/cpu/small_images/interleaved_steps.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/error.hpp"
#include "target/cpu/blocked_image.hpp"
#include "target/cpu/kernels/row_kernels.hpp"
#include "target/cpu/plain_step_kinds.hpp"
#include "target/cpu/plain_steps.hpp"
#include "target/cpu/row_window.hpp"
#include "target/cpu/small_images/interleaved_image.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::Node;
using graph::ValueId;

/// One number per image of a bundle.
using Lanes = std::array<float, kBundle>;

/// As many threads as it is worth to go over this image once. Moving an element takes as long as 13
/// to 20 multiply-adds (measured); it counts for more, because images that another thread made are
/// slow to read.
Team worth(const Team& all, const InterleavedImage& image) {
  constexpr double kOperationsPerElement = 80;
  return all.for_work(kOperationsPerElement * static_cast<double>(image.floats()));
}

Range sheets_of(const InterleavedImage& image, const Range& bundles) {
  return {bundles.begin * image.channels, bundles.end * image.channels};
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

/// A step that computes one sheet after the other, each from the sheets of the same bundle.
template <class Body>
class SheetStep final : public SimpleStep, public Bundled {
 public:
  SheetStep(const InterleavedImage& image, Body body) : image_(image), body_(std::move(body)) {}

  void run(const Team& all, const Scratch&) override { for_each_sheet(all, image_, body_); }
  void run_bundles(const Range& bundles) override {
    const Range sheets = sheets_of(image_, bundles);
    for (std::int64_t sheet = sheets.begin; sheet < sheets.end; ++sheet) {
      body_(sheet);
    }
  }
  void join_bundles() override {}  // no sheet is made from another bundle's

 private:
  InterleavedImage image_;
  Body body_;
};

/// body(sheet) for every sheet of the image.
template <class Body>
std::unique_ptr<PreparedStep> sheet_step(const InterleavedImage& image, Body body) {
  return std::make_unique<SheetStep<Body>>(image, std::move(body));
}

/// body(begin, floats) for every sheet of the node's result: element by element.
template <class Body>
std::unique_ptr<PreparedStep> map_step(const PlainNode& n, Body body) {
  const InterleavedImage image(n.node().type);
  return sheet_step(image, [image, body](std::int64_t sheet) {
    body(sheet * image.sheet_stride(), image.pixels());
  });
}

/// Finds the numbers of an image and a channel in a tensor [2, groups, channels].
class PerGroup {
 public:
  PerGroup(const InterleavedImage& image, std::int64_t groups)
      : images_per_group_(image.images() / groups), groups_(groups), channels_(image.channels) {
    for (std::int64_t i = 0; i < image.images(); ++i) {
      first_channels_.push_back(i / images_per_group_ * channels_);
    }
  }

  std::int64_t groups() const { return groups_; }
  std::int64_t images_per_group() const { return images_per_group_; }
  /// Of bundles that share no group with others.
  Range groups_of(const Range& bundles) const {
    return {bundles.begin * kBundle / images_per_group_, bundles.end * kBundle / images_per_group_};
  }
  std::int64_t channel(std::int64_t sheet) const { return sheet % channels_; }
  /// Place of the first number of a pair; the second stands `half` behind it.
  std::int64_t first(std::int64_t sheet, std::int64_t lane) const {
    return first_channels_[static_cast<std::size_t>(sheet / channels_ * kBundle + lane)] +
           channel(sheet);
  }
  std::int64_t half() const { return groups_ * channels_; }

 private:
  std::int64_t images_per_group_;
  std::int64_t groups_;
  std::int64_t channels_;
  std::vector<std::int64_t> first_channels_;  // of each image's group
};

/// Each image of a sheet has a scale and a shift of its own: lanes(sheet, scale, shift).
template <class LanesOf>
std::unique_ptr<PreparedStep> affine_step(const PlainNode& n, LanesOf lanes) {
  const InterleavedImage image(n.node().type);
  return sheet_step(image, [out = n.out(), x = n.in(0), image, lanes](std::int64_t sheet) {
    alignas(kAlignment) Lanes scale;
    alignas(kAlignment) Lanes shift;
    lanes(sheet, scale, shift);
    const std::int64_t at = sheet * image.sheet_stride();
    affine_leaky(out + at, x + at, scale.data(), shift.data(), 1, image.pixels());
  });
}

std::unique_ptr<PreparedStep> interleaved_step(const graph::ChannelAffine&, const PlainNode& n) {
  const PerGroup per(InterleavedImage(n.node().type), n.type(1).dim(1));
  return affine_step(n, [per, k = n.in(1)](std::int64_t sheet, Lanes& scale, Lanes& shift) {
    for (std::int64_t lane = 0; lane < kBundle; ++lane) {
      const std::int64_t first = per.first(sheet, lane);
      scale[static_cast<std::size_t>(lane)] = k[first];
      shift[static_cast<std::size_t>(lane)] = k[first + per.half()];
    }
  });
}

std::unique_ptr<PreparedStep> interleaved_step(const graph::ChannelScale&, const PlainNode& n) {
  const PerGroup per(InterleavedImage(n.node().type), n.type(1).dim(1));
  return affine_step(n, [per, k = n.in(1)](std::int64_t sheet, Lanes& scale, Lanes& shift) {
    for (std::int64_t lane = 0; lane < kBundle; ++lane) {
      scale[static_cast<std::size_t>(lane)] = k[per.first(sheet, lane)];
    }
    shift.fill(0);
  });
}

std::unique_ptr<PreparedStep> interleaved_step(const graph::ChannelBias&, const PlainNode& n) {
  const PerGroup per(InterleavedImage(n.node().type), 1);
  return affine_step(n, [per, bias = n.in(1)](std::int64_t sheet, Lanes& scale, Lanes& shift) {
    scale.fill(1);
    shift.fill(bias[per.channel(sheet)]);
  });
}

// dmean / n + dvariance * 2 (x - mean) / n, with the sums over pooled channels of dmean and
// dvariance.
std::unique_ptr<PreparedStep> interleaved_step(const graph::StatisticsGradient& op,
                                               const PlainNode& n) {
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
class StatisticsStep final : public SimpleStep, public Bundled {
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
    join_groups({0, per_.groups()});
  }
  void run_bundles(const Range& bundles) override {
    const Range sheets = sheets_of(image_, bundles);
    for (std::int64_t sheet = sheets.begin; sheet < sheets.end; ++sheet) {
      measure(sheet);
    }
    join_groups(per_.groups_of(bundles));
  }
  void join_bundles() override {}  // where groups mix bundles, it runs alone

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

  void join_groups(const Range& groups) {
    for (std::int64_t group = groups.begin; group < groups.end; ++group) {
      for (std::int64_t channel = 0; channel < image_.channels; channel += pooled_) {
        join(group, channel);
      }
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

std::unique_ptr<PreparedStep> interleaved_step(const graph::Statistics& op, const PlainNode& n) {
  return std::make_unique<StatisticsStep>(op, n);
}

/// Sums over pixels, first per sheet and image, then over the images of a group.
/// of_sheet(begin, pixels, sums) adds to `kSums` runs of eight.
template <std::size_t kSums, class OfSheet>
class SumsStep final : public SimpleStep, public Bundled {
 public:
  SumsStep(const PlainNode& n, std::int64_t groups, OfSheet of_sheet)
      : image_(n.type(0)),
        per_(image_, groups),
        of_sheet_(std::move(of_sheet)),
        result_(n.out()),
        parts_(static_cast<std::size_t>(image_.sheets())) {}

  void run(const Team& all, const Scratch&) override {
    for_each_sheet(all, image_, [&](std::int64_t sheet) { sum_up(sheet); });
    join_groups({0, per_.groups()});
  }
  void run_bundles(const Range& bundles) override {
    const Range sheets = sheets_of(image_, bundles);
    for (std::int64_t sheet = sheets.begin; sheet < sheets.end; ++sheet) {
      sum_up(sheet);
    }
    if (!mixes_bundles()) {
      join_groups(per_.groups_of(bundles));
    }
  }
  void join_bundles() override {
    if (mixes_bundles()) {
      join_groups({0, per_.groups()});
    }
  }

 private:
  using Sums = std::array<std::array<double, kBundle>, kSums>;

  bool mixes_bundles() const { return kBundle % per_.images_per_group() != 0; }
  void sum_up(std::int64_t sheet) {
    Sums& sums = parts_[static_cast<std::size_t>(sheet)];
    sums = {};
    of_sheet_(sheet * image_.sheet_stride(), image_.pixels(), sums);
  }
  void join_groups(const Range& groups) {
    const std::int64_t images = per_.images_per_group();
    for (std::int64_t group = groups.begin; group < groups.end; ++group) {
      for (std::int64_t c = 0; c < image_.channels; ++c) {
        std::array<double, kSums> totals{};
        for (std::int64_t i = group * images; i < (group + 1) * images; ++i) {
          const auto sheet = static_cast<std::size_t>(i / kBundle * image_.channels + c);
          for (std::size_t k = 0; k < kSums; ++k) {
            totals[k] += parts_[sheet][k][static_cast<std::size_t>(i % kBundle)];
          }
        }
        for (std::size_t k = 0; k < kSums; ++k) {
          result_[static_cast<std::int64_t>(k) * per_.half() + group * image_.channels + c] =
              static_cast<float>(totals[k]);
        }
      }
    }
  }

  InterleavedImage image_;
  PerGroup per_;
  OfSheet of_sheet_;
  float* result_;
  std::vector<Sums> parts_;  // [sheet]
};

template <std::size_t kSums, class OfSheet>
std::unique_ptr<PreparedStep> sums_step(const PlainNode& n, std::int64_t groups, OfSheet of_sheet) {
  return std::make_unique<SumsStep<kSums, OfSheet>>(n, groups, std::move(of_sheet));
}

std::unique_ptr<PreparedStep> interleaved_step(const graph::ChannelProducts& op,
                                               const PlainNode& n) {
  return sums_step<2>(
      n, op.groups, [x = n.in(0), dy = n.in(1)](std::int64_t at, std::int64_t pixels, auto& sums) {
        add_products(x + at, dy + at, pixels, sums[1].data(), sums[0].data());
      });
}

std::unique_ptr<PreparedStep> interleaved_step(const graph::ChannelSum&, const PlainNode& n) {
  return sums_step<1>(n, 1, [x = n.in(0)](std::int64_t at, std::int64_t pixels, auto& sums) {
    add_sums(x + at, pixels, sums[0].data());
  });
}

std::unique_ptr<PreparedStep> interleaved_step(const graph::Add&, const PlainNode& n) {
  return map_step(n,
                  [out = n.out(), a = n.in(0), b = n.in(1)](std::int64_t at, std::int64_t pixels) {
                    add_leaky(out + at, a + at, b + at, 1, pixels);
                  });
}

std::unique_ptr<PreparedStep> interleaved_step(const graph::LeakyRelu& op, const PlainNode& n) {
  return map_step(
      n, [out = n.out(), x = n.in(0), slope = static_cast<float>(op.slope)](
             std::int64_t at, std::int64_t pixels) { leaky(out + at, x + at, slope, pixels); });
}

std::unique_ptr<PreparedStep> interleaved_step(const graph::LeakyReluGradient& op,
                                               const PlainNode& n) {
  return map_step(n, [out = n.out(), x = n.in(0), dy = n.in(1),
                      slope = static_cast<float>(op.slope)](std::int64_t at, std::int64_t pixels) {
    leaky_gradient(out + at, x + at, dy + at, slope, pixels);
  });
}

std::unique_ptr<PreparedStep> interleaved_step(const graph::MaxPool& op, const PlainNode& n) {
  const InterleavedImage from(n.type(0));
  return sheet_step(from, [out = n.out(), x = n.in(0), from, to = InterleavedImage(n.node().type),
                           window = op.window](std::int64_t sheet) {
    const float* rows[kMostPooledRows];
    for (std::int64_t row = 0; row < to.rows; ++row) {
      for (std::int64_t k = 0; k < window[1]; ++k) {
        rows[k] = x + sheet * from.sheet_stride() + (row * window[1] + k) * from.row_floats();
      }
      max_pool_row(out + sheet * to.sheet_stride() + row * to.row_floats(), rows, window[1],
                   window[2], to.columns);
    }
  });
}

std::unique_ptr<PreparedStep> interleaved_step(const graph::MaxPoolGradient& op,
                                               const PlainNode& n) {
  const InterleavedImage full(n.node().type);
  return sheet_step(
      full, [out = n.out(), x = n.in(0), dy = n.in(1), full, pooled = InterleavedImage(n.type(1)),
             window = op.window](std::int64_t sheet) {
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
}

class ReorderStep final : public SimpleStep, public Bundled {
 public:
  ReorderStep(const graph::Reorder& op, const PlainNode& n)
      : image_(n.node().type),
        to_plain_(op.to == graph::Layout::plain),
        from_(n.in(0)),
        to_(n.out()) {}

  void run(const Team& all, const Scratch&) override {
    const Team team = worth(all, image_);
    team.run([&](int thread) { run_bundles(slice_of(image_.bundles, thread, team.size())); });
  }
  void run_bundles(const Range& bundles) override {
    const std::int64_t pixels = image_.channels * image_.pixels();  // one channel after the other
    for (std::int64_t bundle = bundles.begin; bundle < bundles.end; ++bundle) {
      const std::int64_t at = bundle * pixels * kBundle;
      if (to_plain_) {
        unblock_row(to_ + at, pixels, from_ + at, kBundle, pixels);
      } else {
        block_row(to_ + at, from_ + at, pixels, kBundle, pixels);
      }
    }
  }
  void join_bundles() override {}  // images are moved one by one

 private:
  InterleavedImage image_;
  bool to_plain_;
  const float* from_;
  float* to_;
};

std::unique_ptr<PreparedStep> interleaved_step(const graph::Reorder& op, const PlainNode& n) {
  return std::make_unique<ReorderStep>(op, n);
}

}  // namespace

bool is_interleaved(const graph::Graph& graph, ValueId id) {
  const Node& node = graph.node(id);
  return node.layout == graph::Layout::interleaved ||
         std::any_of(node.operands.begin(), node.operands.end(), [&](ValueId operand) {
           return graph.node(operand).layout == graph::Layout::interleaved;
         });
}

namespace {

/// Element by element, wherever they lie.
template <class Op>
inline constexpr bool kIsLayoutBlind = std::is_same_v<Op, graph::Scale>;

template <class Op>
inline constexpr bool kHasStep = requires(const Op& op, const PlainNode& n) {
  interleaved_step(op, n);
};

}  // namespace

bool has_interleaved_step(const graph::AnyOp& any) {
  return std::visit(
      [](const auto& op) {
        using Op = std::decay_t<decltype(op)>;
        return kHasStep<Op> || kIsLayoutBlind<Op> || std::is_same_v<Op, graph::Conv> ||
               std::is_same_v<Op, graph::ConvTranspose> ||
               std::is_same_v<Op, graph::ConvKernelGradient>;
      },
      any);
}

std::unique_ptr<PreparedStep> make_interleaved_step(const Memory& memory, const compile::Step& step,
                                                    const Team& team) {
  const PlainNode n(memory, step.leader.value);
  return std::visit(
      [&](const auto& op) -> std::unique_ptr<PreparedStep> {
        using Op = std::decay_t<decltype(op)>;
        if constexpr (kHasStep<Op>) {
          return interleaved_step(op, n);
        } else if constexpr (kIsLayoutBlind<Op>) {
          return make_plain_step(memory, step, team);
        } else {
          throw InternalError("there is no interleaved step for " + std::string(op.name));
        }
      },
      n.node().op);
}

}  // namespace cosmic::target::cpu
