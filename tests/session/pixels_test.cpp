// Calls that are given only the pixels that are not zero, and calls whose batches were staged:
// the bits of plain calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "session/small_model.hpp"

namespace cosmic::session {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double kRate = 1e-2;

/// A nearly empty batch, and its pixels.
struct NearlyEmpty {
  explicit NearlyEmpty(const std::string& stream) : dense(small_batch(stream, 1, tiny_types())) {
    RandomStream random(3, stream);
    const auto events = static_cast<std::size_t>(tiny_types().image.dim(0));
    const std::size_t size = dense.image.size() / events;
    for (std::size_t i = 0; i < dense.image.size(); ++i) {
      if (random.uniform() < 0.9) {
        dense.image[i] = 0;
        dense.label[i] = 0;
      }
    }
    for (std::size_t i = 0; i < dense.image.size(); ++i) {
      const auto place = static_cast<std::int32_t>(i % size);
      if (dense.image[i] != 0) {
        image_places.push_back(place);
        image_values.push_back(dense.image[i]);
      }
      if (dense.label[i] != 0) {
        label_places.push_back(place);
        label_values.push_back(dense.label[i]);
      }
      if (i % size == size - 1) {
        image_first.push_back(static_cast<std::int64_t>(image_places.size()));
        label_first.push_back(static_cast<std::int64_t>(label_places.size()));
      }
    }
  }

  SparseBatch sparse() const {
    return {{image_first, image_places, std::as_bytes(std::span(image_values))},
            {label_first, label_places, std::as_bytes(std::span(label_values))},
            target::HostMemory::pageable};
  }

  Batch dense;
  std::vector<std::int64_t> image_first{0};
  std::vector<std::int64_t> label_first{0};
  std::vector<std::int32_t> image_places;
  std::vector<std::int32_t> label_places;
  std::vector<float> image_values;
  std::vector<std::uint8_t> label_values;
};

TrainingModel tiny_training(std::int64_t accumulation = 1) {
  Options options = options_for("cpu");
  options.gradient_accumulation = accumulation;
  return compiled_training(options, compile::Sgd{0.9}, small_network(), tiny_types());
}

TEST(SparseCalls, train_with_the_bits_of_dense_ones) {
  const NearlyEmpty first("first");
  const NearlyEmpty second("second");
  TrainingModel dense = tiny_training();
  TrainingModel sparse = tiny_training();
  for (const NearlyEmpty* batch : {&first, &second, &first}) {
    const double loss = dense(batch->dense.image, batch->dense.label, kRate).loss;
    const SparseBatch pixels = batch->sparse();
    EXPECT_EQ(sparse(std::span(&pixels, 1), kRate).loss, loss);
  }
}

TEST(SparseCalls, accumulate_with_the_bits_of_dense_ones_whether_staged_or_not) {
  const NearlyEmpty first("first");
  const NearlyEmpty second("second");
  Batch both = first.dense;
  both.image.insert(both.image.end(), second.dense.image.begin(), second.dense.image.end());
  both.label.insert(both.label.end(), second.dense.label.begin(), second.dense.label.end());
  const std::vector<SparseBatch> pixels{first.sparse(), second.sparse()};
  TrainingModel dense = tiny_training(2);
  TrainingModel sparse = tiny_training(2);
  TrainingModel staged = tiny_training(2);
  for (int step = 0; step < 3; ++step) {
    const double loss = dense(both.image, both.label, kRate).loss;
    EXPECT_EQ(sparse(pixels, kRate).loss, loss);
    staged.submit(both.image, both.label, kRate);
    staged.stage(both.image, both.label);
    EXPECT_EQ(staged.wait().loss, loss);
  }
}

TEST(SparseCalls, evaluate_and_infer_with_the_bits_of_dense_ones) {
  const NearlyEmpty batch("batch");
  const SparseBatch pixels = batch.sparse();
  TrainingModel training = tiny_training();
  const model::UResNet network(small_network());
  const model::SegmentationLoss loss(model::BalanceScheme::light);
  EvaluationModel evaluation(network, loss, options_for("cpu"), training.state());
  evaluation.compile(tiny_types());
  const double expected = evaluation(batch.dense.image, batch.dense.label).loss;
  EXPECT_EQ(evaluation(std::span(&pixels, 1)).loss, expected);
  InferenceModel inference =
      compiled_inference(options_for("cpu"), nullptr, small_network(), tiny_types());
  const std::span<const float> logits = inference(batch.dense.image);
  const std::vector<float> dense(logits.begin(), logits.end());
  inference.submit(std::span(&pixels, 1));
  inference.stage(std::span(&pixels, 1));
  const std::span<const float> sparse = inference.wait();
  EXPECT_EQ(std::vector<float>(sparse.begin(), sparse.end()), dense);
}

TEST(SparseCalls, of_another_number_of_micro_batches_are_refused) {
  const NearlyEmpty batch("batch");
  const std::vector<SparseBatch> one{batch.sparse()};
  TrainingModel training = tiny_training(2);
  EXPECT_THAT([&] { training(one, kRate); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("1 sparse batches were given"), HasSubstr("a call takes 2"))));
  EXPECT_THAT([&] { training.stage(one); },
              ThrowsMessage<UserError>(HasSubstr("1 sparse batches were given")));
}

TEST(InferenceCalls, are_one_at_a_time_and_what_came_of_one_stays_while_the_next_is_in_flight) {
  const NearlyEmpty first("first");
  const NearlyEmpty second("second");
  InferenceModel inference =
      compiled_inference(options_for("cpu"), nullptr, small_network(), tiny_types());
  EXPECT_THAT([&] { inference.wait(); }, ThrowsMessage<UserError>(HasSubstr("no call to wait")));
  const std::span<const float> logits = inference(first.dense.image);
  const std::vector<float> copy(logits.begin(), logits.end());
  inference.submit(second.dense.image);
  EXPECT_EQ(std::vector<float>(logits.begin(), logits.end()), copy);
  EXPECT_THAT([&] { inference.submit(first.dense.image); },
              ThrowsMessage<UserError>(HasSubstr("while another is in flight")));
  inference.wait();
  EXPECT_FALSE(inference.prefers_pixels()) << "a CPU computes in the host's memory";
  EXPECT_EQ(inference.host_buffer(10).memory(), target::HostMemory::pageable);
}

}  // namespace
}  // namespace cosmic::session
