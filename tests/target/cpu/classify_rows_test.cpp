// Pixel classification: sums of the loss and its gradient against plain loops in double, on every
// instruction set this machine has.
#include "target/cpu/kernel_rows.hpp"
#include "target/cpu/kernels/row_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace cosmic::target::cpu {
namespace {

constexpr float kClassWeights[8] = {0.5f, 20.0f, 3.0f, 1.0f, 2.0f, 0.25f, 7.0f, 0.0f};

std::vector<std::uint8_t> some_labels(std::int64_t classes, std::int64_t pixels) {
  std::mt19937 generator(unsigned(classes * 1000 + pixels));
  std::vector<std::uint8_t> labels(static_cast<std::size_t>(pixels));
  for (std::uint8_t& label : labels) {
    label = std::uint8_t(generator() % unsigned(classes));
  }
  return labels;
}

/// Logits from shy to certain and from nearly equal to tied. Channels that are no class hold what
/// must not matter.
Row some_logits(std::int64_t classes, std::int64_t pixels) {
  Row logits = grid_row(kBlock * pixels, unsigned(classes));
  constexpr float kSpread[] = {1.0f, 0.0f, 20.0f, 0.01f, 4.0f};
  for (std::int64_t i = 0; i < logits.count(); ++i) {
    logits[i] = i % kBlock < classes ? logits[i] * kSpread[i / kBlock % 5] : 1e4f;
  }
  return logits;
}

struct PixelLoss {
  std::vector<double> probability;
  double cross_entropy = 0;
  double weight = 0;
  std::int64_t predicted = 0;

  PixelLoss(const float* logits, std::int64_t label, std::int64_t classes, bool focal) {
    const double best = *std::max_element(logits, logits + classes);
    predicted = std::max_element(logits, logits + classes) - logits;
    double total = 0, others = 0;
    for (std::int64_t c = 0; c < classes; ++c) {
      probability.push_back(std::exp(logits[c] - best));
      total += probability.back();
      others += c == label ? 0.0 : probability.back();
    }
    for (double& p : probability) {
      p /= total;
    }
    cross_entropy = std::log(total) + best - logits[label];
    weight = kClassWeights[label];
    if (focal) {
      weight *= others / total * (others / total) / 3.0;
    }
  }
};

TEST(PixelSums, agree_with_scalar_loop_for_any_class_and_pixel_count) {
  on_every_target([] {
    for (std::int64_t classes = 1; classes <= 8; ++classes) {
      for (const std::int64_t pixels : kPixelCounts) {
        for (const bool focal : {false, true}) {
          SCOPED_TRACE(testing::Message() << classes << " classes, " << pixels << " pixels");
          const Row logits = some_logits(classes, pixels);
          const auto labels = some_labels(classes, pixels);
          PixelSums want;
          want.weighted_loss = want.foreground = want.either[1] = 1.0;
          PixelSums sums = want;
          for (std::int64_t i = 0; i < pixels; ++i) {
            const std::int64_t label = labels[std::size_t(i)];
            const PixelLoss loss(logits.data() + kBlock * i, label, classes, focal);
            const bool correct = loss.predicted == label;
            want.weighted_loss += loss.weight * loss.cross_entropy;
            want.weight += loss.weight;
            want.correct += correct;
            want.foreground += label != 0;
            want.foreground_correct += label != 0 && correct;
            for (std::int64_t k = 0; k < 2; ++k) {
              want.intersection[k] += label == k + 1 && loss.predicted == k + 1;
              want.either[k] += label == k + 1 || loss.predicted == k + 1;
            }
          }
          add_pixel_sums(logits.data(), labels.data(), classes, kClassWeights, focal, pixels, sums);
          expect_close(sums.weighted_loss, want.weighted_loss);
          expect_close(sums.weight, want.weight);
          EXPECT_EQ(sums.correct, want.correct);
          EXPECT_EQ(sums.foreground, want.foreground);
          EXPECT_EQ(sums.foreground_correct, want.foreground_correct);
          for (std::size_t k = 0; k < 2; ++k) {
            EXPECT_EQ(sums.intersection[k], want.intersection[k]);
            EXPECT_EQ(sums.either[k], want.either[k]);
          }
        }
      }
    }
  });
}

TEST(PixelSums, focal_weight_and_gradient_of_a_certain_pixel_keep_their_relative_accuracy) {
  on_every_target([] {
    Row logits(kBlock);
    logits[1] = 20.0f;
    const std::uint8_t label = 1;
    PixelSums sums;
    add_pixel_sums(logits.data(), &label, 3, kClassWeights, true, 1, sums);
    const PixelLoss loss(logits.data(), label, 3, true);
    EXPECT_NEAR(sums.weight, loss.weight, 1e-5 * loss.weight);
    Row gradient(kBlock);
    cross_entropy_gradient_row(gradient.data(), logits.data(), &label, 3, kClassWeights, false,
                               1.0f, 1);
    const double want = -kClassWeights[1] * (loss.probability[0] + loss.probability[2]);
    EXPECT_NEAR(gradient[1], want, -1e-5 * want);
  });
}

TEST(CrossEntropyGradient, agrees_with_scalar_loop_and_may_overwrite_the_logits) {
  constexpr float kFactor = 0.5f;
  on_every_target([] {
    for (std::int64_t classes = 1; classes <= 8; ++classes) {
      for (const std::int64_t pixels : kPixelCounts) {
        for (const bool focal : {false, true}) {
          SCOPED_TRACE(testing::Message() << classes << " classes, " << pixels << " pixels");
          const Row logits = some_logits(classes, pixels);
          const auto labels = some_labels(classes, pixels);
          Row out(kBlock * pixels, 99.0f);
          cross_entropy_gradient_row(out.data(), logits.data(), labels.data(), classes,
                                     kClassWeights, focal, kFactor, pixels);
          Row in_place = logits.copy();
          cross_entropy_gradient_row(in_place.data(), in_place.data(), labels.data(), classes,
                                     kClassWeights, focal, kFactor, pixels);
          for (std::int64_t i = 0; i < kBlock * pixels; ++i) {
            const std::int64_t c = i % kBlock;
            const std::int64_t label = labels[std::size_t(i / kBlock)];
            const PixelLoss loss(logits.data() + i - c, label, classes, focal);
            const double want = c < classes ? kFactor * loss.weight *
                                                  (loss.probability[std::size_t(c)] - (c == label))
                                            : 0.0;
            ASSERT_NO_FATAL_FAILURE(expect_close(out[i], want));
            ASSERT_EQ(in_place[i], out[i]);
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace cosmic::target::cpu
