// Losses of one's own, trained with.
#include "model/identity_loss.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "core/random.hpp"
#include "model/fashion_mnist.hpp"
#include "model/sequential.hpp"
#include "session/model.hpp"

namespace cosmic::session {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const BatchTypes kTypes{{graph::DType::f32, {4, 6}}, {graph::DType::u8, {4}}};

/// A matrix with a bias: its gradients are easy to write down.
model::Sequential one_matrix() {
  return {
      "matrix",
      {{"linear", [](graph::Builder& g, model::Phase) { return model::linear(g, "map", 6, 3); }}}};
}

std::vector<float> some_image() {
  RandomStream random(3, "image");
  std::vector<float> image(24);
  for (float& element : image) {
    element = static_cast<float>(random.uniform(-1, 1));
  }
  return image;
}

TrainingModel compiled(const model::Network& network, const model::Loss& loss,
                       const std::string& target) {
  Options options;
  options.target = target;
  options.threads = 1;
  options.outputs = {.logits = true, .gradients = true};
  TrainingModel training(network, loss, compile::Sgd{}, options);
  training.compile(kTypes);
  return training;
}

/// sum_ij relu(logit_ij), and what its gradient with respect to the bias must be.
class IdentityLossOn : public testing::TestWithParam<std::string> {};

TEST_P(IdentityLossOn, sums_or_averages_an_expression_and_its_gradient) {
  const model::Sequential network = one_matrix();
  const std::vector<float> image = some_image();
  const std::vector<std::uint8_t> label{0, 1, 2, 0};
  const auto relu = [](graph::Builder& g, graph::ValueId logits, graph::ValueId) {
    return g.add(graph::LeakyRelu{.slope = 0}, {logits});
  };
  for (const model::LossReduction reduction :
       {model::LossReduction::sum, model::LossReduction::mean}) {
    const model::IdentityLoss loss(relu, reduction);
    TrainingModel training = compiled(network, loss, GetParam());
    const StepResult& result = training(image, label, 0);
    const double share = reduction == model::LossReduction::mean ? 1.0 / 12 : 1.0;
    double expected = 0;
    std::vector<double> positive(3, 0);
    for (std::size_t i = 0; i < result.logits.size(); ++i) {
      expected += std::max(0.0F, result.logits[i]) * share;
      positive[i % 3] += result.logits[i] > 0 ? share : 0;
    }
    EXPECT_NEAR(result.loss, expected, 1e-6);
    const std::span<const float> gradient = training.gradient("linear.map.bias");
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(gradient[c], positive[c], 1e-6);
    }
  }
}

TEST_P(IdentityLossOn, of_a_scalar_is_that_scalar_bit_for_bit) {
  const model::Sequential network(
      "classifier",
      {{"linear", [](graph::Builder& g, model::Phase) {
          return model::sequence(
              {model::linear(g, "map", 6, 3),
               model::apply_op(graph::Softmax{.axis = 1, .kind = graph::SoftmaxKind::logarithm})});
        }}});
  const model::NegativeLogLikelihoodLoss known;
  const model::IdentityLoss own(
      [](graph::Builder& g, graph::ValueId logits, graph::ValueId labels) {
        return g.add(graph::NegativeLogLikelihood{}, {logits, labels});
      },
      model::LossReduction::none);
  TrainingModel a = compiled(network, known, GetParam());
  TrainingModel b = compiled(network, own, GetParam());
  const std::vector<float> image = some_image();
  const std::vector<std::uint8_t> label{0, 1, 2, 0};
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(a(image, label, 0.1).loss, b(image, label, 0.1).loss);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, IdentityLossOn, testing::Values("cpu", "reference"),
                         [](const auto& instance) { return instance.param; });

TEST(IdentityLoss, without_a_reduction_must_be_one_number) {
  const model::IdentityLoss loss(
      [](graph::Builder&, graph::ValueId logits, graph::ValueId) { return logits; },
      model::LossReduction::none);
  const model::Sequential network = one_matrix();
  EXPECT_THAT([&] { compiled(network, loss, "reference"); },
              ThrowsMessage<ShapeError>(HasSubstr("f32[4x3]")));
}

TEST(IdentityLoss, of_labels_has_no_gradient) {
  const model::IdentityLoss loss(
      [](graph::Builder&, graph::ValueId, graph::ValueId labels) { return labels; },
      model::LossReduction::sum);
  const model::Sequential network = one_matrix();
  EXPECT_THAT([&] { compiled(network, loss, "reference"); },
              ThrowsMessage<ShapeError>(HasSubstr("u8[4]")));
}

}  // namespace
}  // namespace cosmic::session
