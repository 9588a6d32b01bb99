// A step allocates nothing: every call of the C library's allocator in this program is counted.
#include <gtest/gtest.h>

#include "allocation_counter.hpp"
#include "model/fashion_mnist.hpp"
#include "session/small_model.hpp"

namespace cosmic::session {
namespace {

class Allocation : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!counts_allocations()) {
      GTEST_SKIP() << "a sanitizer replaces the allocator";
    }
  }
};

TEST_P(Allocation, the_counter_sees_an_allocation) {
  std::vector<float> tensor;
  EXPECT_EQ(allocations_of([&] { tensor.resize(1000); }), 1);
}

TEST_P(Allocation, training_allocates_nothing_after_the_first_step) {
  Options options = options_for("cpu", GetParam());
  options.outputs = {.logits = true, .gradients = true};
  TrainingModel training = compiled_training(options, compile::Adam{});
  const Batch batch = small_batch("first");
  training(batch.image, batch.label, 1e-3);
  EXPECT_EQ(allocations_of([&] {
              for (int step = 0; step < 3; ++step) {
                training(batch.image, batch.label, 1e-3);
              }
            }),
            0);
}

TEST_P(Allocation, accumulating_allocates_nothing_after_the_first_step) {
  Options options = options_for("cpu", GetParam());
  options.gradient_accumulation = 2;
  TrainingModel training = compiled_training(options);
  const Batch batch = small_batch("first", 2);
  training(batch.image, batch.label, 1e-3);
  EXPECT_EQ(allocations_of([&] { training(batch.image, batch.label, 1e-3); }), 0);
}

TEST_P(Allocation, iterations_replicas_and_accumulation_allocate_nothing_after_the_first_call) {
  Options options = options_for("cpu", GetParam());
  options.device_iterations = 2;
  options.replication_factor = 2;
  options.gradient_accumulation = 2;
  options.output_mode = OutputMode::all;
  options.outputs.logits = true;
  options.anchors = {"net_core.down_blocks"};
  options.variable_optimizer = true;
  TrainingModel training = compiled_training(options, compile::Adam{});
  const Batch batch = small_batch("first", 8);
  training(batch.image, batch.label, 1e-3);
  EXPECT_EQ(allocations_of([&] { training(batch.image, batch.label, 1e-3); }), 0);
  EXPECT_EQ(allocations_of([&] { training.last_call(); }), 0);
}

TEST_P(Allocation, synthetic_data_allocates_nothing_after_the_first_call) {
  Options options = options_for("cpu", GetParam());
  options.synthetic_data = true;
  TrainingModel training = compiled_training(options);
  training({}, {}, 1e-3);
  EXPECT_EQ(allocations_of([&] { training({}, {}, 1e-3); }), 0);
}

TEST_P(Allocation, calls_with_pixels_that_were_staged_allocate_nothing_after_the_first) {
  TrainingModel training = compiled_training(options_for("cpu", GetParam()));
  InferenceModel inference = compiled_inference(options_for("cpu", GetParam()));
  const std::vector<std::int64_t> first{0, 1, 2};
  const std::vector<std::int32_t> places{7, 9};
  const std::vector<float> charges{1, 2};
  const std::vector<std::uint8_t> labels{1, 2};
  const SparseBatch batch{{first, places, std::as_bytes(std::span(charges))},
                          {first, places, std::as_bytes(std::span(labels))}};
  const std::span<const SparseBatch> batches(&batch, 1);
  const auto call = [&] {
    training.submit(batches, 1e-3);
    training.stage(batches);
    training.wait();
    inference.submit(batches);
    inference.stage(batches);
    inference.wait();
  };
  call();
  EXPECT_EQ(allocations_of(call), 0);
}

TEST_P(Allocation, inference_of_several_micro_batches_allocates_nothing_after_the_first_call) {
  Options options = options_for("cpu", GetParam());
  options.device_iterations = 3;
  InferenceModel inference = compiled_inference(options);
  const Batch batch = small_batch("first", 3);
  inference(batch.image);
  EXPECT_EQ(allocations_of([&] { inference(batch.image); }), 0);
}

TEST_P(Allocation, rounding_allocates_nothing_after_the_first_step) {
  Options options = options_for("cpu", GetParam());
  options.precision = {.format = NumberFormat::bf16,
                       .weights = compile::Precision::Weights::pure,
                       .rounding = Rounding::stochastic};
  TrainingModel training = compiled_training(options, compile::Adam{});
  const Batch batch = small_batch("first");
  training(batch.image, batch.label, 1e-3);
  EXPECT_EQ(allocations_of([&] { training(batch.image, batch.label, 1e-3); }), 0);
}

TEST_P(Allocation, a_scaled_loss_allocates_nothing_after_the_first_step) {
  for (const std::int64_t accumulation : {1, 2}) {
    Options options = options_for("cpu", GetParam());
    options.precision = {.format = NumberFormat::f16,
                         .loss_scaling = {compile::LossScaling::Kind::dynamic}};
    options.gradient_accumulation = accumulation;
    TrainingModel training = compiled_training(options, compile::Adam{});
    const Batch batch = small_batch("first", accumulation);
    training(batch.image, batch.label, 1e-3);
    EXPECT_EQ(allocations_of([&] { training(batch.image, batch.label, 1e-3); }), 0);
  }
}

TEST_P(Allocation, inference_allocates_nothing_after_the_first_call) {
  InferenceModel inference = compiled_inference(options_for("cpu", GetParam()));
  const Batch batch = small_batch("first");
  inference(batch.image);
  EXPECT_EQ(allocations_of([&] { inference(batch.image); }), 0);
}

TEST_P(Allocation, inference_of_weights_that_changed_allocates_nothing) {
  const Options options = options_for("cpu", GetParam());
  TrainingModel training = compiled_training(options);
  InferenceModel inference = compiled_inference(options, training.state());
  const Batch batch = small_batch("first");
  training(batch.image, batch.label, 1e-3);
  inference(batch.image);
  EXPECT_EQ(allocations_of([&] {
              training(batch.image, batch.label, 1e-3);
              inference(batch.image);
            }),
            0);
}

TEST_P(Allocation, training_on_small_images_allocates_nothing_after_the_first_step) {
  const model::FashionMnist network;
  const model::NegativeLogLikelihoodLoss loss;
  TrainingModel training(network, loss, compile::Sgd{.momentum = 0.9},
                         options_for("cpu", GetParam()));
  training.compile({{graph::DType::f32, {16, 1, 28, 28}}, {graph::DType::u8, {16}}});
  const std::vector<float> image(16UL * 28 * 28, 0.5F);
  const std::vector<std::uint8_t> label(16, 3);
  training(image, label, 1e-3);
  EXPECT_EQ(allocations_of([&] { training(image, label, 1e-3); }), 0);
}

INSTANTIATE_TEST_SUITE_P(Threads, Allocation, testing::Values(1, 2),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace cosmic::session
