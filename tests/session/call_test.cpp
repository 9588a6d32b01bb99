// One call of many micro-batches against the plain calls that it stands for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "session/small_model.hpp"

namespace cosmic::session {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double kRate = 1e-2;

TrainingModel tiny_training(const Options& options,
                            const compile::Optimizer& optimizer = compile::Sgd{0.9},
                            const model::UResNetOptions& network = small_network()) {
  return compiled_training(options, optimizer, network, tiny_types());
}

InferenceModel tiny_inference(const Options& options) {
  return compiled_inference(options, nullptr, small_network(), tiny_types());
}

Batch tiny_batch(const std::string& stream, std::int64_t batches = 1) {
  return small_batch(stream, batches, tiny_types());
}

/// Without batch norm a loss and its gradient are means over images, if every pixel weighs alike.
model::UResNetOptions without_batch_norm() {
  model::UResNetOptions network = small_network();
  network.normalization = model::Normalization::none;
  return network;
}

/// A training model for micro-batches of `events` events.
TrainingModel training_of(const Options& options, const model::UResNetOptions& network,
                          std::int64_t events, const compile::Optimizer& optimizer) {
  const model::UResNet uresnet(network);
  const model::SegmentationLoss loss(model::BalanceScheme::none);
  TrainingModel training(uresnet, loss, optimizer, options);
  BatchTypes types = tiny_types();
  types.image.shape[0] = types.label.shape[0] = events;
  training.compile(types);
  return training;
}

template <class Element>
std::span<const Element> part(const std::vector<Element>& whole, std::size_t index,
                              std::size_t parts) {
  const std::size_t size = whole.size() / parts;
  return std::span(whole).subspan(index * size, size);
}

void expect_same_bits(const ModelState& a, const ModelState& b) {
  for (const std::string& name : a.names()) {
    if (b.has(name)) {
      EXPECT_EQ(a.read(name).bytes, b.read(name).bytes) << name;
    }
  }
}

/// The largest difference of any element, relative to the largest element of its tensor.
double largest_difference(const ModelState& a, const ModelState& b, graph::StateKind kind) {
  double most = 0;
  for (const std::string& name : a.names()) {
    if (a.kind(name) != kind || a.type(name).dtype != graph::DType::f32 || !b.has(name)) {
      continue;
    }
    const Tensor of_a = a.read(name);
    const Tensor of_b = b.read(name);
    double scale = 0;
    double difference = 0;
    for (std::size_t i = 0; i < of_a.as<float>().size(); ++i) {
      const double x = of_a.as<float>()[i];
      scale = std::max(scale, std::abs(x));
      difference = std::max(difference, std::abs(x - of_b.as<float>()[i]));
    }
    most = std::max(most, scale > 0 ? difference / scale : difference);
  }
  return most;
}

class CallOn : public testing::TestWithParam<std::string> {
 protected:
  static Options options() { return options_for(GetParam()); }
};

TEST_P(CallOn, three_device_iterations_are_three_calls_bit_for_bit) {
  const Batch batches = tiny_batch("three", 3);
  Options iterating = options();
  iterating.device_iterations = 3;
  iterating.output_mode = OutputMode::all;
  TrainingModel once = tiny_training(iterating, compile::Adam{});
  TrainingModel plain = tiny_training(options(), compile::Adam{});
  std::vector<float> losses;
  std::vector<float> scores;
  for (std::size_t i = 0; i < 3; ++i) {
    const StepResult& result = plain(part(batches.image, i, 3), part(batches.label, i, 3), kRate);
    losses.push_back(static_cast<float>(result.loss));
    scores.insert(scores.end(), result.scores.begin(), result.scores.end());
  }
  const StepResult& result = once(batches.image, batches.label, kRate);
  EXPECT_THAT(result.losses, ElementsAreArray(losses));
  EXPECT_THAT(result.scores, ElementsAreArray(scores));
  expect_same_bits(*once.state(), *plain.state());
  EXPECT_EQ(once.last_call().micro_batches, 3);
  EXPECT_EQ(once.last_call().updates, 3);
}

TEST_P(CallOn, iterations_replicas_and_accumulation_nest_in_this_order) {
  Options nested = options();
  nested.device_iterations = 2;
  nested.replication_factor = 2;
  nested.gradient_accumulation = 3;
  nested.accumulation_reduction = Reduction::mean;
  TrainingModel once = tiny_training(nested, compile::Sgd{0.9}, without_batch_norm());
  const Batch batches = tiny_batch("twelve", 12);
  once(batches.image, batches.label, kRate);

  // Gradients are added up one after the other, so replicas and accumulation of one update are one
  // long accumulation whose sum is divided by both.
  Options flat = options();
  flat.gradient_accumulation = 6;
  flat.accumulation_reduction = Reduction::mean;
  TrainingModel plain = tiny_training(flat, compile::Sgd{0.9}, without_batch_norm());
  for (std::size_t i = 0; i < 2; ++i) {
    plain(part(batches.image, i, 2), part(batches.label, i, 2), kRate);
  }
  EXPECT_LE(largest_difference(*once.state(), *plain.state(), graph::StateKind::parameter), 1e-6);
  EXPECT_EQ(once.last_call().updates, 2);
}

TEST_P(CallOn, replicas_by_mean_are_one_large_batch_where_there_is_no_batch_norm) {
  for (const std::int64_t replicas : {2, 4}) {
    SCOPED_TRACE(replicas);
    Options replicated = options();
    replicated.replication_factor = replicas;
    TrainingModel many =
        training_of(replicated, without_batch_norm(), 4 / replicas, compile::Sgd{});
    TrainingModel one = training_of(options(), without_batch_norm(), 4, compile::Sgd{});
    const Batch batch = tiny_batch("four events", 2);
    for (int step = 0; step < 3; ++step) {
      const double expected = one(batch.image, batch.label, kRate).loss;
      EXPECT_NEAR(many(batch.image, batch.label, kRate).loss, expected, 1e-5 * expected);
    }
    // The order of the sums over pixels differs, nothing else: round-off of three steps.
    EXPECT_LE(largest_difference(*many.state(), *one.state(), graph::StateKind::parameter), 1e-5);
  }
}

TEST_P(CallOn, replicas_by_sum_step_as_many_times_as_far) {
  Options summed = options();
  summed.replication_factor = 2;
  summed.replica_reduction = Reduction::sum;
  Options averaged = summed;
  averaged.replica_reduction = Reduction::mean;
  TrainingModel sum = training_of(summed, without_batch_norm(), 1, compile::Sgd{});
  TrainingModel mean = training_of(averaged, without_batch_norm(), 1, compile::Sgd{});
  const Batch batch = tiny_batch("first");
  sum(batch.image, batch.label, kRate);
  mean(batch.image, batch.label, 2 * kRate);
  EXPECT_LE(largest_difference(*sum.state(), *mean.state(), graph::StateKind::parameter), 1e-6);
}

TEST_P(CallOn, batch_norm_sees_the_micro_batch_so_replicas_differ_from_one_large_batch) {
  Options replicated = options();
  replicated.replication_factor = 2;
  TrainingModel many = training_of(replicated, small_network(), 1, compile::Sgd{});
  TrainingModel one = training_of(options(), small_network(), 2, compile::Sgd{});
  const Batch batch = tiny_batch("first");
  const double large = one(batch.image, batch.label, kRate).loss;
  EXPECT_GT(std::abs(many(batch.image, batch.label, kRate).loss - large), 1e-4 * large);
  EXPECT_GT(largest_difference(*many.state(), *one.state(), graph::StateKind::buffer), 1e-4);
}

/// The running statistics after one update with a rate of zero, by replica: each seen alone.
std::vector<TrainingModel> each_replica_alone(const Options& options, const Batch& batches,
                                              std::size_t replicas) {
  std::vector<TrainingModel> alone;
  for (std::size_t i = 0; i < replicas; ++i) {
    alone.push_back(tiny_training(options, compile::Sgd{}));
    alone.back()(part(batches.image, i, replicas), part(batches.label, i, replicas), 0);
  }
  return alone;
}

TEST_P(CallOn, running_statistics_are_the_mean_of_the_replicas) {
  Options replicated = options();
  replicated.replication_factor = 3;
  const Batch batches = tiny_batch("three", 3);
  TrainingModel training = tiny_training(replicated, compile::Sgd{});
  training(batches.image, batches.label, 0);
  const std::vector<TrainingModel> alone = each_replica_alone(options(), batches, 3);
  for (const std::string& name : training.state()->names()) {
    if (training.state()->kind(name) != graph::StateKind::buffer) {
      continue;
    }
    if (training.state()->type(name).dtype == graph::DType::i64) {
      EXPECT_EQ(training.state()->read(name).bytes, alone[0].state()->read(name).bytes) << name;
      continue;
    }
    const Tensor kept = training.state()->read(name);
    for (std::size_t k = 0; k < kept.as<float>().size(); ++k) {
      double mean = 0;
      for (const TrainingModel& one : alone) {
        mean += one.state()->read(name).as<float>()[k] / 3.0;
      }
      EXPECT_NEAR(kept.as<float>()[k], mean, 1e-6 * (1 + std::abs(mean))) << name;
    }
  }
}

TEST_P(CallOn, running_statistics_can_be_those_of_the_first_replica) {
  Options replicated = options();
  replicated.replication_factor = 3;
  replicated.replica_statistics = ReplicaStatistics::first;
  const Batch batches = tiny_batch("three", 3);
  TrainingModel training = tiny_training(replicated, compile::Sgd{});
  training(batches.image, batches.label, 0);
  TrainingModel first = tiny_training(options(), compile::Sgd{});
  first(part(batches.image, 0, 3), part(batches.label, 0, 3), 0);
  for (const std::string& name : training.state()->names()) {
    if (training.state()->kind(name) == graph::StateKind::buffer) {
      EXPECT_EQ(training.state()->read(name).bytes, first.state()->read(name).bytes) << name;
    }
  }
}

TEST_P(CallOn, output_modes_are_reductions_of_all) {
  Options all = options();
  all.device_iterations = 2;
  all.gradient_accumulation = 2;
  all.outputs.logits = true;
  all.output_mode = OutputMode::all;
  const Batch batches = tiny_batch("four", 4);
  const auto run = [&](OutputMode mode, std::int64_t every) {
    Options options = all;
    options.output_mode = mode;
    options.output_every = every;
    TrainingModel training = tiny_training(options);
    const StepResult& result = training(batches.image, batches.label, kRate);
    return std::pair(std::vector<float>(result.losses.begin(), result.losses.end()),
                     std::vector<float>(result.logits.begin(), result.logits.end()));
  };
  const auto [losses, logits] = run(OutputMode::all, 1);
  ASSERT_EQ(losses.size(), 4U);
  const std::size_t size = logits.size() / 4;
  const auto logits_of = [&, &every_logit = logits](std::size_t batch) {
    return std::vector<float>(
        every_logit.begin() + static_cast<std::ptrdiff_t>(batch * size),
        every_logit.begin() + static_cast<std::ptrdiff_t>((batch + 1) * size));
  };

  const auto last = run(OutputMode::last, 1);
  EXPECT_THAT(last.first, ElementsAreArray({losses[3]}));
  EXPECT_EQ(last.second, logits_of(3));

  const auto every_second = run(OutputMode::every_n, 2);
  EXPECT_THAT(every_second.first, ElementsAreArray({losses[1], losses[3]}));
  std::vector<float> second_and_fourth = logits_of(1);
  const std::vector<float> fourth = logits_of(3);
  second_and_fourth.insert(second_and_fourth.end(), fourth.begin(), fourth.end());
  EXPECT_EQ(every_second.second, second_and_fourth);

  const float sum = losses[0] + losses[1] + losses[2] + losses[3];
  EXPECT_NEAR(run(OutputMode::sum, 1).first[0], sum, 1e-6 * sum);
  EXPECT_NEAR(run(OutputMode::mean, 1).first[0], sum / 4, 1e-6 * sum);
  const std::vector<float> summed = run(OutputMode::sum, 1).second;
  ASSERT_EQ(summed.size(), size);
  for (std::size_t i = 0; i < size; i += 17) {
    const float expected =
        logits[i] + logits[size + i] + logits[2 * size + i] + logits[3 * size + i];
    EXPECT_NEAR(summed[i], expected, 1e-5 * (1 + std::abs(expected)));
  }

  const auto automatic = run(OutputMode::automatic, 1);
  EXPECT_NEAR(automatic.first[0], sum / 4, 1e-6 * sum);
  EXPECT_EQ(automatic.second, logits_of(3));
}

TEST_P(CallOn, inference_of_several_micro_batches_gives_all_their_logits) {
  const Batch batches = tiny_batch("six", 6);
  Options many = options();
  many.device_iterations = 3;
  many.replication_factor = 2;
  InferenceModel once = tiny_inference(many);
  InferenceModel plain = tiny_inference(options());
  std::vector<float> expected;
  for (std::size_t i = 0; i < 6; ++i) {
    const std::span<const float> logits = plain(part(batches.image, i, 6));
    expected.insert(expected.end(), logits.begin(), logits.end());
  }
  EXPECT_THAT(once(batches.image), ElementsAreArray(expected));
  EXPECT_EQ(once.last_call().micro_batches, 6);
  EXPECT_EQ(once.last_call().updates, 0);
}

TEST_P(CallOn, evaluation_of_several_micro_batches_gives_the_mean) {
  const model::UResNet network(small_network());
  const model::SegmentationLoss loss(model::BalanceScheme::light);
  TrainingModel training = tiny_training(options());
  EvaluationModel plain(network, loss, options(), training.state());
  plain.compile(tiny_types());
  Options twice = options();
  twice.device_iterations = 2;
  EvaluationModel both(network, loss, twice, training.state());
  both.compile(tiny_types());
  const Batch batches = tiny_batch("two", 2);
  double sum = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    sum += plain(part(batches.image, i, 2), part(batches.label, i, 2)).loss;
  }
  EXPECT_DOUBLE_EQ(both(batches.image, batches.label).loss, sum / 2);
}

TEST_P(CallOn, latencies_and_counters_describe_the_last_call) {
  Options several = options();
  several.device_iterations = 2;
  several.gradient_accumulation = 2;
  TrainingModel training = tiny_training(several);
  EXPECT_EQ(training.last_call().calls, 0);
  const Batch batches = tiny_batch("four", 4);
  training(batches.image, batches.label, kRate);
  training(batches.image, batches.label, kRate);
  const CallStatistics& call = training.last_call();
  EXPECT_EQ(call.calls, 2);
  EXPECT_EQ(call.micro_batches, 4);
  EXPECT_EQ(call.updates, 2);
  const auto data =
      static_cast<std::int64_t>(batches.image.size() * sizeof(float) + batches.label.size());
  EXPECT_GE(call.bytes_to_target, data);
  EXPECT_LE(call.bytes_to_target, data + 100);
  EXPECT_GE(call.bytes_to_host, 4 * static_cast<std::int64_t>(sizeof(float)));
  for (const Latency& latency : {call.host_to_target, call.compute, call.target_to_host}) {
    EXPECT_LE(latency.least, latency.mean);
    EXPECT_LE(latency.mean, latency.most);
  }
  EXPECT_GT(call.compute.least, 0);
  EXPECT_GE(call.seconds, 4 * call.compute.mean);
}

TEST_P(CallOn, synthetic_data_is_made_once_and_never_copied_again) {
  Options synthetic = options();
  synthetic.synthetic_data = true;
  TrainingModel training = tiny_training(synthetic);
  const double first = training({}, {}, 0).loss;
  EXPECT_GT(training.last_call().bytes_to_target, tiny_types().image.bytes());
  EXPECT_EQ(training({}, {}, 0).loss, first);
  EXPECT_LE(training.last_call().bytes_to_target, 8);  // the learning rate
  InferenceModel inference = tiny_inference(synthetic);
  EXPECT_THAT(inference({}), Each(testing::Truly([](float x) { return std::isfinite(x); })));
}

INSTANTIATE_TEST_SUITE_P(Targets, CallOn, testing::Values("cpu", "reference"),
                         [](const auto& instance) { return instance.param; });

TEST(Call, the_micro_batches_of_a_call_are_counted_by_name) {
  Options options = options_for("cpu");
  options.device_iterations = 2;
  options.replication_factor = 2;
  TrainingModel training = tiny_training(options);
  const std::vector<float> image(10);
  const std::vector<std::uint8_t> label(10);
  EXPECT_THAT([&] { training(image, label, kRate); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("4 micro-batches"), HasSubstr("device_iterations 2"),
                        HasSubstr("replication_factor 2"), HasSubstr("gradient_accumulation 1"))));
}

TEST(Call, a_model_is_compiled_from_a_sample_of_a_call) {
  Options options = options_for("cpu");
  options.device_iterations = 3;
  const model::UResNet network(small_network());
  const model::SegmentationLoss loss(model::BalanceScheme::light);
  graph::TensorType image = tiny_types().image;
  graph::TensorType label = tiny_types().label;
  image.shape[0] = label.shape[0] = 6;
  TrainingModel training(network, loss, compile::Sgd{}, options);
  training.compile(Tensor(image), Tensor(label));
  const Batch batches = tiny_batch("three", 3);
  EXPECT_GT(training(batches.image, batches.label, kRate).loss, 0);

  InferenceModel inference(network, options);
  inference.compile(Tensor(image));
  EXPECT_EQ(inference(batches.image).size(), batches.image.size() * 3);

  image.shape[0] = 5;
  EXPECT_THAT(
      [&] { inference.compile(Tensor(image)); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("f32[5x3x8x12]"), HasSubstr("3 micro-batches"))));
}

}  // namespace
}  // namespace cosmic::session
