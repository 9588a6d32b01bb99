// Kernels that need the channels of a pixel side by side: the loss and its gradient, and layout
// changes. They turn blocked pixels into one vector of pixels per channel and back.
#include <algorithm>

#include "target/cpu/kernels/row_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "target/cpu/kernels/classify_rows.cpp"
// Each target costs a compilation; SSSE3 machines without SSE4 run the baseline.
#define HWY_DISABLED_TARGETS HWY_SSSE3
#include <hwy/foreach_target.h>
// foreach_target must come first: it decides what the other Highway headers are compiled for.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cosmic::target::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Pixels = hn::ScalableTag<float>;
using V = hn::Vec<Pixels>;
constexpr Pixels d;
constexpr std::int64_t kBlock = 8;
constexpr std::int64_t kLanes = std::int64_t{hn::MaxLanes(d)};

/// channel[c] = channel c of kLanes blocked pixels. Highway splits a stream by four; as a pixel is
/// eight floats, each of the four parts alternates between channels c and c + 4. The shuffles are
/// found through their arguments' namespace because the one-lane target does not declare them.
template <int kChannels, class D>
HWY_INLINE void load_channels(D tag, const float* blocked, hn::Vec<D> (&channel)[kChannels]) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    for (int c = 0; c < kChannels; ++c) {
      channel[c] = hn::LoadU(tag, blocked + c);
    }
  } else {
    hn::Vec<D> low[4];
    hn::Vec<D> high[4];
    LoadInterleaved4(tag, blocked, low[0], low[1], low[2], low[3]);
    LoadInterleaved4(tag, blocked + 4 * kLanes, high[0], high[1], high[2], high[3]);
    for (int c = 0; c < std::min(kChannels, 4); ++c) {
      channel[c] = ConcatEven(tag, high[c], low[c]);
    }
    for (int c = 4; c < kChannels; ++c) {
      channel[c] = ConcatOdd(tag, high[c - 4], low[c - 4]);
    }
  }
}

/// Inverse of load_channels; channels beyond kChannels become zero.
template <int kChannels, class D>
HWY_INLINE void store_channels(D tag, const hn::Vec<D> (&channel)[kChannels], float* blocked) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    for (int c = 0; c < kBlock; ++c) {
      blocked[c] = c < kChannels ? hn::GetLane(channel[std::min(c, kChannels - 1)]) : 0.0f;
    }
  } else {
    constexpr hn::RebindToUnsigned<D> narrow;
    constexpr hn::Half<decltype(narrow)> half;
    constexpr hn::Repartition<std::uint64_t, D> wide;
    // A pair of neighbouring lanes, channels c and c + 4 of one pixel, is one 64-bit lane.
    using Pairs = hn::Vec<decltype(wide)>;
    Pairs low[4];
    Pairs high[4];
    for (int c = 0; c < 4; ++c) {
      low[c] = high[c] = hn::Zero(wide);
      if (c < kChannels) {
        const auto bits = hn::BitCast(narrow, channel[std::min(c, kChannels - 1)]);
        low[c] = hn::PromoteTo(wide, LowerHalf(half, bits));
        high[c] = hn::PromoteTo(wide, UpperHalf(half, bits));
      }
      if (c + 4 < kChannels) {
        const auto bits = hn::BitCast(narrow, channel[std::min(c + 4, kChannels - 1)]);
        const Pairs low_bits = hn::PromoteTo(wide, LowerHalf(half, bits));
        const Pairs high_bits = hn::PromoteTo(wide, UpperHalf(half, bits));
        low[c] = hn::Or(low[c], hn::ShiftLeft<32>(low_bits));
        high[c] = hn::Or(high[c], hn::ShiftLeft<32>(high_bits));
      }
    }
    const auto store = [&](const Pairs(&pairs)[4], float* to) HWY_ATTR {
      StoreInterleaved4(hn::BitCast(tag, pairs[0]), hn::BitCast(tag, pairs[1]),
                        hn::BitCast(tag, pairs[2]), hn::BitCast(tag, pairs[3]), tag, to);
    };
    store(low, blocked);
    store(high, blocked + 4 * kLanes);
  }
}

/// Logits and labels of kLanes pixels, one vector per class, and what loss and gradient share.
/// Either kClasses classes are real, or the ones that are not never win and weigh nothing.
template <int kClasses>
struct PixelGroup {
  V logit[kClasses];
  V label;
  V best;       ///< largest logit
  V predicted;  ///< first class that has it
  V exponential[kClasses];
  V total;   ///< sum of the exponentials
  V others;  ///< the same without the label's
  V weight;

  HWY_INLINE PixelGroup(const float* logits, const std::uint8_t* labels, std::int64_t classes,
                        const float* class_weights, bool focal) {
    constexpr hn::Rebind<std::uint8_t, Pixels> bytes;
    constexpr hn::RebindToSigned<Pixels> integers;
    label = hn::ConvertTo(d, hn::PromoteTo(integers, hn::LoadU(bytes, labels)));
    load_channels(d, logits, logit);
    best = logit[0];
    predicted = hn::Zero(d);
    for (int c = 1; c < kClasses; ++c) {
      if (c >= classes) {
        logit[c] = hn::Set(d, -1e30f);
      }
      predicted = hn::IfThenElse(hn::Gt(logit[c], best), hn::Set(d, float(c)), predicted);
      best = hn::Max(logit[c], best);
    }
    total = others = weight = hn::Zero(d);
    for (int c = 0; c < kClasses; ++c) {
      exponential[c] = hn::Exp(d, hn::Sub(logit[c], best));
      total = hn::Add(total, exponential[c]);
      others = hn::Add(others, hn::IfThenZeroElse(labelled(c), exponential[c]));
      const V class_weight = hn::Set(d, c < classes ? class_weights[c] : 0.0f);
      weight = hn::IfThenElse(labelled(c), class_weight, weight);
    }
    if (focal) {
      // 1 - p_label by its other name: the difference would cancel where the network is sure.
      const V miss = hn::Div(others, total);
      weight = hn::Mul(weight, hn::Mul(hn::Mul(miss, miss), hn::Set(d, 1.0f / 3.0f)));
    }
  }

  HWY_INLINE hn::Mask<Pixels> labelled(int c) const { return hn::Eq(label, hn::Set(d, float(c))); }

  HWY_INLINE V cross_entropy() const {
    V label_logit = hn::Zero(d);
    for (int c = 0; c < kClasses; ++c) {
      label_logit = hn::IfThenElse(labelled(c), logit[c], label_logit);
    }
    return hn::Add(hn::Log(d, total), hn::Sub(best, label_logit));
  }
};

/// The label of pixels that only fill up a group: of no class, so of no weight and never correct.
constexpr std::uint8_t kNoClass = 255;

/// body(logits, labels, first, count) for groups of kLanes pixels. The last group's count may be
/// less; it is then padded with pixels of zero logits and no class.
template <class Body>
HWY_INLINE void for_each_group(const float* logits, const std::uint8_t* labels, std::int64_t pixels,
                               const Body& body) {
  HWY_ALIGN float padded_logits[kBlock * kLanes];
  HWY_ALIGN std::uint8_t padded_labels[kLanes];
  for (std::int64_t first = 0; first < pixels; first += kLanes) {
    const std::int64_t count = std::min(kLanes, pixels - first);
    const float* group_logits = logits + kBlock * first;
    const std::uint8_t* group_labels = labels + first;
    if (count < kLanes) {
      std::fill_n(padded_logits, kBlock * kLanes, 0.0f);
      std::fill_n(padded_labels, kLanes, kNoClass);
      std::copy_n(group_logits, kBlock * count, padded_logits);
      std::copy_n(group_labels, count, padded_labels);
      group_logits = padded_logits;
      group_labels = padded_labels;
    }
    body(group_logits, group_labels, first, count);
  }
}

/// PixelSums over few enough pixels for floats.
struct PartialSums {
  V weighted_loss;
  V weight;
  V correct;
  V background;  // not foreground: padding counts as neither this way
  V background_correct;
  V intersection[2];
  V either[2];

  HWY_INLINE PartialSums() {  // defaulted, it would be compiled for the baseline
    weighted_loss = weight = correct = background = background_correct = hn::Zero(d);
    intersection[0] = intersection[1] = either[0] = either[1] = hn::Zero(d);
  }

  template <int kClasses>
  HWY_INLINE void add(const PixelGroup<kClasses>& group) {
    weighted_loss = hn::MulAdd(group.weight, group.cross_entropy(), weighted_loss);
    weight = hn::Add(weight, group.weight);
    const auto is_background = group.labelled(0);
    const auto is_correct = hn::Eq(group.predicted, group.label);
    count(correct, is_correct);
    count(background, is_background);
    count(background_correct, hn::And(is_background, is_correct));
    for (int k = 0; k < 2; ++k) {
      const auto labelled = group.labelled(k + 1);
      const auto predicted = hn::Eq(group.predicted, hn::Set(d, float(k + 1)));
      count(intersection[k], hn::And(labelled, predicted));
      count(either[k], hn::Or(labelled, predicted));
    }
  }

  HWY_INLINE void add_to(PixelSums& sums, std::int64_t pixels) const {
    sums.weighted_loss += total(weighted_loss);
    sums.weight += total(weight);
    sums.correct += total(correct);
    sums.foreground += double(pixels) - total(background);
    sums.foreground_correct += total(correct) - total(background_correct);
    for (int k = 0; k < 2; ++k) {
      sums.intersection[k] += total(intersection[k]);
      sums.either[k] += total(either[k]);
    }
  }

 private:
  static HWY_INLINE void count(V& counter, hn::Mask<Pixels> mask) {
    counter = hn::Add(counter, hn::IfThenElseZero(mask, hn::Set(d, 1.0f)));
  }
  static HWY_INLINE double total(V v) { return double{hn::GetLane(hn::SumOfLanes(d, v))}; }
};

template <int kClasses>
HWY_INLINE void add_sums_of_classes(const float* logits, const std::uint8_t* labels,
                                    std::int64_t classes, const float* class_weights, bool focal,
                                    std::int64_t pixels, PixelSums& sums) {
  constexpr std::int64_t kRun = 256;
  for (std::int64_t begin = 0; begin < pixels; begin += kRun) {
    const std::int64_t run = std::min(kRun, pixels - begin);
    PartialSums partial;
    const auto add_group = [&](const float* group_logits, const std::uint8_t* group_labels,
                               std::int64_t, std::int64_t) HWY_ATTR {
      partial.add(PixelGroup<kClasses>(group_logits, group_labels, classes, class_weights, focal));
    };
    for_each_group(logits + kBlock * begin, labels + begin, run, add_group);
    partial.add_to(sums, run);
  }
}

template <int kClasses>
HWY_INLINE void gradient_of_classes(float* out, const float* logits, const std::uint8_t* labels,
                                    std::int64_t classes, const float* class_weights, bool focal,
                                    float factor, std::int64_t pixels) {
  const auto store_group = [=](const float* group_logits, const std::uint8_t* group_labels,
                               std::int64_t first, std::int64_t count) HWY_ATTR {
    const PixelGroup<kClasses> group(group_logits, group_labels, classes, class_weights, focal);
    const V gain = hn::Div(hn::Mul(group.weight, hn::Set(d, factor)), group.total);
    V gradient[kClasses];
    for (int c = 0; c < kClasses; ++c) {
      gradient[c] = hn::Mul(
          gain, hn::IfThenElse(group.labelled(c), hn::Neg(group.others), group.exponential[c]));
    }
    if (count == kLanes) {
      store_channels(d, gradient, out + kBlock * first);
    } else {
      HWY_ALIGN float padded[kBlock * kLanes];
      store_channels(d, gradient, padded);
      std::copy_n(padded, kBlock * count, out + kBlock * first);
    }
  };
  for_each_group(logits, labels, pixels, store_group);
}

// Three classes (background and two particles) is the rule and worth unrolled code; any other
// number runs as eight of which some are impossible.

void add_pixel_sums(const float* logits, const std::uint8_t* labels, std::int64_t classes,
                    const float* class_weights, bool focal, std::int64_t pixels, PixelSums& sums) {
  if (classes == 3) {
    add_sums_of_classes<3>(logits, labels, 3, class_weights, focal, pixels, sums);
  } else {
    add_sums_of_classes<8>(logits, labels, classes, class_weights, focal, pixels, sums);
  }
}

void cross_entropy_gradient_row(float* out, const float* logits, const std::uint8_t* labels,
                                std::int64_t classes, const float* class_weights, bool focal,
                                float factor, std::int64_t pixels) {
  if (classes == 3) {
    gradient_of_classes<3>(out, logits, labels, 3, class_weights, focal, factor, pixels);
  } else {
    gradient_of_classes<8>(out, logits, labels, classes, class_weights, focal, factor, pixels);
  }
}

void block_row(float* out, const float* plain, std::int64_t plane_stride, std::int64_t channels,
               std::int64_t pixels) {
  std::int64_t pixel = 0;
  for (; pixel + kLanes <= pixels; pixel += kLanes) {
    V channel[kBlock];
    for (std::int64_t c = 0; c < kBlock; ++c) {
      channel[c] = c < channels ? hn::LoadU(d, plain + c * plane_stride + pixel) : hn::Zero(d);
    }
    store_channels(d, channel, out + kBlock * pixel);
  }
  for (; pixel < pixels; ++pixel) {
    for (std::int64_t c = 0; c < kBlock; ++c) {
      out[kBlock * pixel + c] = c < channels ? plain[c * plane_stride + pixel] : 0.0f;
    }
  }
}

void unblock_row(float* plain, std::int64_t plane_stride, const float* blocked,
                 std::int64_t channels, std::int64_t pixels) {
  std::int64_t pixel = 0;
  for (; pixel + kLanes <= pixels; pixel += kLanes) {
    V channel[kBlock];
    load_channels(d, blocked + kBlock * pixel, channel);
    for (std::int64_t c = 0; c < channels; ++c) {
      hn::StoreU(channel[c], d, plain + c * plane_stride + pixel);
    }
  }
  for (; pixel < pixels; ++pixel) {
    for (std::int64_t c = 0; c < channels; ++c) {
      plain[c * plane_stride + pixel] = blocked[kBlock * pixel + c];
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cosmic::target::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cosmic::target::cpu {

HWY_EXPORT(add_pixel_sums);
HWY_EXPORT(cross_entropy_gradient_row);
HWY_EXPORT(block_row);
HWY_EXPORT(unblock_row);

void add_pixel_sums(const float* logits, const std::uint8_t* labels, std::int64_t classes,
                    const float* class_weights, bool focal, std::int64_t pixels, PixelSums& sums) {
  HWY_DYNAMIC_DISPATCH(add_pixel_sums)
  (logits, labels, classes, class_weights, focal, pixels, sums);
}
void cross_entropy_gradient_row(float* out, const float* logits, const std::uint8_t* labels,
                                std::int64_t classes, const float* class_weights, bool focal,
                                float factor, std::int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(cross_entropy_gradient_row)
  (out, logits, labels, classes, class_weights, focal, factor, pixels);
}
void block_row(float* out, const float* plain, std::int64_t plane_stride, std::int64_t channels,
               std::int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(block_row)(out, plain, plane_stride, channels, pixels);
}
void unblock_row(float* plain, std::int64_t plane_stride, const float* blocked,
                 std::int64_t channels, std::int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(unblock_row)(plain, plane_stride, blocked, channels, pixels);
}

}  // namespace cosmic::target::cpu
#endif  // HWY_ONCE
