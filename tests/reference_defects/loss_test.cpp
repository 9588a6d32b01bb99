// Defects of the reference's losses (docs/reference-defects.md).
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "model/segmentation_loss.hpp"
#include "session/model.hpp"

namespace cosmic {
namespace {

constexpr const char* kKernel = "kernel";

/// Logits of a class are the charge of the pixel times a number of that class.
class PixelNetwork final : public model::Network {
 public:
  std::string name() const override { return "pixel"; }
  graph::ValueId logits(graph::Builder& g, graph::ValueId image, model::Phase) const override {
    const graph::ValueId kernel =
        g.state(kKernel, {graph::DType::f32, {3, 1, 1, 1}}, graph::StateKind::parameter,
                graph::Initializer::constant(0));
    return g.add(graph::Conv{}, {g.add(graph::ChannelsToPlanes{3}, {image}), kernel});
  }
};

class LossDefect : public testing::Test {
 protected:
  static constexpr std::size_t kPixels = 3 * 8 * 8;

  /// Loss and gradient where every pixel has the charge 1, after one update.
  struct Outcome {
    double loss = 0;
    std::vector<float> gradient;
  };
  static Outcome step(model::BalanceScheme scheme, const std::vector<float>& kernel,
                      const std::vector<std::uint8_t>& labels) {
    const PixelNetwork network;
    const model::SegmentationLoss loss(scheme);
    session::Options options;
    options.target = "cpu";
    options.threads = 1;
    options.outputs.gradients = true;
    session::TrainingModel training(network, loss, compile::Adam{}, options);
    training.compile({{graph::DType::f32, {1, 3, 8, 8}}, {graph::DType::u8, {1, 3, 8, 8}}});
    session::Tensor tensor(training.state()->type(kKernel));
    std::copy(kernel.begin(), kernel.end(), tensor.as<float>().begin());
    training.state()->write(kKernel, tensor);
    Outcome outcome;
    outcome.loss = training(std::vector<float>(kPixels, 1), labels, 1e-3).loss;
    const std::span<const float> gradient = training.gradient(kKernel);
    outcome.gradient.assign(gradient.begin(), gradient.end());
    return outcome;
  }
};

using Quirk01 = LossDefect;
using Quirk02 = LossDefect;
using Quirk03 = LossDefect;

TEST_F(Quirk01, the_scheme_none_is_a_mean_and_has_a_gradient) {
  const Outcome outcome =
      step(model::BalanceScheme::none, {0, 0, 0}, std::vector<std::uint8_t>(kPixels, 1));
  EXPECT_NEAR(outcome.loss, 3 * std::log(3), 1e-5);  // of three planes with nothing known
  ASSERT_EQ(outcome.gradient.size(), 3U);
  // Of the mean over pixels, summed over planes: the probability, less 1 for the true class.
  EXPECT_NEAR(outcome.gradient[0], 3 * (1.0 / 3), 1e-5);
  EXPECT_NEAR(outcome.gradient[1], 3 * (1.0 / 3 - 1), 1e-5);
  EXPECT_NEAR(outcome.gradient[2], 3 * (1.0 / 3), 1e-5);
}

/// Pixels of background, cosmic and neutrino.
using Counts = std::array<int, 3>;

std::vector<std::uint8_t> labels_with(const std::array<Counts, 3>& planes) {
  std::vector<std::uint8_t> labels;
  for (const Counts& counts : planes) {
    for (std::uint8_t label = 0; label < 3; ++label) {
      labels.insert(labels.end(), static_cast<std::size_t>(counts[label]), label);
    }
  }
  return labels;
}

/// Loss and gradient by the formula of the scheme: a pixel weighs 0.3333 / (n + 1), where n pixels
/// of its plane have its class; a plane's loss is the weighted mean; the planes' losses are added.
struct Expected {
  double loss = 0;
  std::array<double, 3> gradient{};
};

Expected even_loss(const std::vector<float>& logits, const std::array<Counts, 3>& planes) {
  std::array<double, 3> probability{};
  double sum = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    probability[c] = std::exp(static_cast<double>(logits[c]));
    sum += probability[c];
  }
  Expected expected;
  for (const Counts& counts : planes) {
    std::array<double, 3> weight{};  // of all pixels of a class together
    double all = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      weight[c] = counts[c] * 0.3333 / (counts[c] + 1);
      all += weight[c];
    }
    for (std::size_t c = 0; c < 3; ++c) {
      expected.loss -= weight[c] / all * std::log(probability[c] / sum);
      expected.gradient[c] += probability[c] / sum - weight[c] / all;
    }
  }
  return expected;
}

TEST_F(Quirk02, the_scheme_even_gives_a_class_that_is_not_there_no_weight) {
  const std::vector<float> logits{0.5, -0.25, 1};
  const std::vector<std::array<Counts, 3>> cases{
      {{{64, 0, 0}, {64, 0, 0}, {64, 0, 0}}},  {{{0, 64, 0}, {0, 64, 0}, {0, 64, 0}}},
      {{{0, 0, 64}, {0, 0, 64}, {0, 0, 64}}},  {{{60, 4, 0}, {50, 13, 1}, {63, 0, 1}}},
      {{{40, 20, 4}, {60, 4, 0}, {0, 0, 64}}},
  };
  for (const std::array<Counts, 3>& planes : cases) {
    const Outcome outcome = step(model::BalanceScheme::even, logits, labels_with(planes));
    const Expected expected = even_loss(logits, planes);
    EXPECT_NEAR(outcome.loss, expected.loss, 1e-5 * expected.loss);
    ASSERT_EQ(outcome.gradient.size(), 3U);
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(outcome.gradient[c], expected.gradient[c], 1e-5) << "class " << c;
    }
  }
}

TEST_F(Quirk03, the_scheme_focal_is_a_number_where_every_pixel_is_certain) {
  const Outcome outcome =
      step(model::BalanceScheme::focal, {1000, 0, 0}, std::vector<std::uint8_t>(kPixels, 0));
  EXPECT_EQ(outcome.loss, 0);
  for (const float value : outcome.gradient) {
    EXPECT_EQ(value, 0);
  }
}

}  // namespace
}  // namespace cosmic
