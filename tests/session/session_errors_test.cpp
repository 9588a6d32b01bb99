// Bad input stops with an error that names the values, why they are wrong and what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "session/small_model.hpp"

namespace cosmic::session {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

TEST(SessionErrors, negative_threads_are_refused) {
  EXPECT_THAT([] { compiled_training(options_for("cpu", -2)); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("threads is -2"), HasSubstr("use 0"))));
}

TEST(SessionErrors, an_accumulation_of_no_batches_is_refused) {
  Options options = options_for("cpu");
  options.gradient_accumulation = 0;
  EXPECT_THAT(
      [&] { compiled_training(options); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("gradient_accumulation is 0"), HasSubstr("use 1"))));
}

TEST(SessionErrors, an_unknown_target_is_answered_with_the_known_ones) {
  EXPECT_THAT([] { compiled_training(options_for("gpu9000")); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("gpu9000"), HasSubstr("cpu"), HasSubstr("reference"))));
}

TEST(SessionErrors, disabling_an_unknown_pass_is_answered_with_the_optional_ones) {
  Options options = options_for("cpu");
  options.disabled_passes = {"drop-everything"};
  EXPECT_THAT([&] { compiled_training(options); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("'drop-everything'"), HasSubstr("no such pass here"),
                        HasSubstr("drop-dead-nodes"), Not(HasSubstr("differentiate,")))));
}

TEST(SessionErrors, disabling_a_required_pass_says_that_nothing_would_run) {
  Options options = options_for("cpu");
  options.disabled_passes = {"differentiate"};
  EXPECT_THAT([&] { compiled_training(options); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("'differentiate'"), HasSubstr("would not run without it"))));
}

TEST(SessionErrors, a_model_that_was_not_compiled_says_so) {
  const model::UResNet network(small_network());
  const model::SegmentationLoss loss;
  const auto says_so =
      ThrowsMessage<UserError>(AllOf(HasSubstr("not been compiled"), HasSubstr("compile()")));
  TrainingModel training(network, loss, compile::Sgd{}, options_for("cpu"));
  InferenceModel inference(network, options_for("cpu"));
  const Batch batch = small_batch("first");
  EXPECT_THAT([&] { training(batch.image, batch.label, 1e-3); }, says_so);
  EXPECT_THAT([&] { training.state(); }, says_so);
  EXPECT_THAT([&] { training.report(); }, says_so);
  EXPECT_THAT([&] { training.gradient("bottleneck.weight"); }, says_so);
  EXPECT_THAT([&] { inference(batch.image); }, says_so);
  EXPECT_THAT([&] { inference.state(); }, says_so);
  EXPECT_THAT([&] { inference.report(); }, says_so);
}

TEST(SessionErrors, a_batch_of_another_size_names_both_sizes) {
  TrainingModel training = compiled_training(options_for("cpu"));
  InferenceModel inference = compiled_inference(options_for("cpu"));
  const Batch twice = small_batch("first", 2);
  const auto names_both = ThrowsMessage<UserError>(
      AllOf(HasSubstr("image has 73728 bytes"), HasSubstr("f32[2x3x32x48], 36864 bytes"),
            HasSubstr("compile a model for this batch size")));
  EXPECT_THAT([&] { training(twice.image, twice.label, 1e-3); }, names_both);
  EXPECT_THAT([&] { inference(twice.image); }, names_both);
}

TEST(SessionErrors, labels_of_another_size_are_refused) {
  TrainingModel training = compiled_training(options_for("cpu"));
  const Batch batch = small_batch("first");
  const std::vector<std::uint8_t> too_few(100);
  EXPECT_THAT([&] { training(batch.image, too_few, 1e-3); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("label has 100 bytes"), HasSubstr("9216"))));
}

TEST(SessionErrors, a_gradient_that_was_not_asked_for_says_how_to_ask) {
  TrainingModel training = compiled_training(options_for("cpu"));
  EXPECT_THAT([&] { training.gradient("bottleneck.weight"); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("'bottleneck.weight'"), HasSubstr("outputs.gradients"))));
}

TEST(SessionErrors, a_gradient_of_no_parameter_names_it) {
  Options options = options_for("cpu");
  options.outputs.gradients = true;
  TrainingModel training = compiled_training(options);
  EXPECT_THAT([&] { training.gradient("bottleneck.wait"); },
              ThrowsMessage<UserError>(HasSubstr("'bottleneck.wait'")));
}

class BadState : public testing::Test {
 protected:
  BadState() : training_(compiled_training(options_for("cpu"))) {}

  /// Writes changed weights; expects that nothing has been written and returns the message.
  template <class Change>
  std::string refusal(const Change& change) {
    const NamedTensors before = training_.state()->read_weights();
    NamedTensors weights = before;
    for (float& element : weights.at("bottleneck.bias").as<float>()) {
      element = 42;
    }
    change(weights);
    std::string message;
    try {
      training_.state()->write_weights(weights);
    } catch (const DataError& error) {
      message = error.what();
    }
    EXPECT_EQ(training_.state()->read("bottleneck.bias").bytes, before.at("bottleneck.bias").bytes);
    return message;
  }

  TrainingModel training_;
};

TEST_F(BadState, a_missing_tensor_is_named_and_nothing_is_written) {
  EXPECT_THAT(refusal([](NamedTensors& weights) { weights.erase("bottleneck.weight"); }),
              AllOf(HasSubstr("there is no 'bottleneck.weight' f32[3x4x1x1]"),
                    HasSubstr("network options they were trained with")));
}

TEST_F(BadState, an_extra_tensor_is_named_and_nothing_is_written) {
  EXPECT_THAT(refusal([](NamedTensors& weights) {
                weights.emplace("stray.weight", Tensor({graph::DType::f32, {5}}));
              }),
              HasSubstr("this model knows no 'stray.weight' f32[5]"));
}

TEST_F(BadState, a_tensor_of_another_shape_is_named_with_both_shapes) {
  EXPECT_THAT(refusal([](NamedTensors& weights) {
                weights.at("bottleneck.weight") = Tensor({graph::DType::f32, {3, 8, 1, 1}});
              }),
              HasSubstr("'bottleneck.weight' is f32[3x8x1x1] where this model needs f32[3x4x1x1]"));
}

TEST_F(BadState, problems_of_every_kind_are_one_sentence) {
  EXPECT_THAT(
      refusal([](NamedTensors& weights) {
        weights.erase("bottleneck.weight");
        weights.emplace("stray.weight", Tensor({graph::DType::f32, {5}}));
        weights.at("initial_convolution.conv.weight") = Tensor({graph::DType::f32, {4, 1, 3, 3}});
      }),
      AllOf(HasSubstr("no 'bottleneck.weight'"), HasSubstr("knows no 'stray.weight'"),
            HasSubstr("'initial_convolution.conv.weight' is f32[4x1x3x3]")));
}

TEST_F(BadState, a_wrong_network_is_one_sentence_with_its_first_difference_and_their_number) {
  const std::string message = refusal([](NamedTensors& weights) {
    NamedTensors others;
    for (auto& [name, tensor] : weights) {
      others.emplace("other." + name, std::move(tensor));
    }
    weights = std::move(others);
  });
  EXPECT_THAT(message, AllOf(HasSubstr("do not belong to this model"), HasSubstr(" more like it"),
                             Not(HasSubstr("\n"))));
  EXPECT_LT(message.size(), 500U);
}

TEST_F(BadState, writing_one_tensor_of_another_shape_names_both_shapes) {
  EXPECT_THAT(
      [&] {
        training_.state()->write("bottleneck.bias", Tensor({graph::DType::f32, {4}}));
      },
      ThrowsMessage<DataError>(
          AllOf(HasSubstr("'bottleneck.bias'"), HasSubstr("f32[4]"), HasSubstr("f32[3]"))));
}

TEST_F(BadState, reading_an_unknown_tensor_names_it) {
  EXPECT_THAT([&] { training_.state()->read("nothing"); },
              ThrowsMessage<DataError>(HasSubstr("no state 'nothing'")));
}

TEST_F(BadState, the_state_of_another_network_is_refused_by_name) {
  model::UResNetOptions other = small_network();
  other.n_initial_filters = 5;
  EXPECT_THAT(
      [&] { compiled_inference(options_for("cpu"), training_.state(), other); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("initial_convolution.conv.weight"),
                                     HasSubstr("f32[5x1x5x5]"), HasSubstr("another network"))));
}

TEST(SessionErrors, an_image_that_does_not_halve_is_refused_when_compiling) {
  const model::UResNet network(small_network());
  InferenceModel inference(network, options_for("cpu"));
  EXPECT_THAT(
      [&] {
        inference.compile({graph::DType::f32, {1, 3, 18, 24}});
      },
      ThrowsMessage<UserError>(AllOf(HasSubstr("18 x 24"), HasSubstr("depth"))));
}

}  // namespace
}  // namespace cosmic::session
