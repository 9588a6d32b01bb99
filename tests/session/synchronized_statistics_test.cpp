// Processes that normalise with batch statistics over all of them compute what one process computes
// with the whole batch, within rounding.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "comm/threads_together.hpp"
#include "compile/passes/passes.hpp"
#include "core/error.hpp"
#include "session/call_shape.hpp"
#include "session/small_model.hpp"

namespace cosmic::session {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

BatchTypes types_of(std::int64_t events) {
  return {{graph::DType::f32, {events, 3, 8, 12}}, {graph::DType::u8, {events, 3, 8, 12}}};
}

model::UResNetOptions synchronized_network() {
  model::UResNetOptions network = small_network();
  network.synchronized_statistics = true;
  return network;
}

/// With a loss that is the mean over pixels, so that the mean over processes is that of all.
TrainingModel compiled(const Options& options, const model::UResNetOptions& network,
                       std::int64_t events) {
  const model::UResNet uresnet(network);
  const model::SegmentationLoss loss(model::BalanceScheme::none);
  TrainingModel training(uresnet, loss, compile::Sgd{0.9}, options);
  training.compile(types_of(events));
  return training;
}

using Numbers = std::map<std::string, std::vector<float>>;

struct Trained {
  double loss = 0;
  Numbers gradients;  ///< of the last micro-batch, or of the update
  Numbers state;
};

Numbers gradients_of(const TrainingModel& training) {
  Numbers gradients;
  for (const std::string& name : training.state()->names()) {
    if (!compile::is_optimizer_state(name) &&
        (name.ends_with(".weight") || name.ends_with(".bias"))) {
      const std::span<const float> gradient = training.gradient(name);
      gradients[name] = {gradient.begin(), gradient.end()};
    }
  }
  return gradients;
}

/// One update: after more of them, rounding has pushed some pixel to the other side of a kink. Of
/// the batch of all processes this one takes its part.
Trained trained(Options options, const model::UResNetOptions& network, std::int64_t events,
                int rank = 0, int processes = 1) {
  options.outputs.gradients = true;
  TrainingModel training = compiled(options, network, events);
  const std::int64_t micro_batches = call_shape(options).batches();
  Trained result;
  const std::int64_t parts = micro_batches * processes;
  const Batch all = small_batch("some", parts, types_of(events));
  Batch mine;
  for (std::int64_t i = 0; i < micro_batches; ++i) {
    const std::int64_t part = i * processes + rank;
    const auto image = micro_batch(std::span<const float>(all.image), part, parts);
    const auto label = micro_batch(std::span<const std::uint8_t>(all.label), part, parts);
    mine.image.insert(mine.image.end(), image.begin(), image.end());
    mine.label.insert(mine.label.end(), label.begin(), label.end());
  }
  result.loss = training(mine.image, mine.label, 0.05).loss;
  for (const std::string& name : training.state()->names()) {
    const Tensor tensor = training.state()->read(name);
    if (tensor.type.dtype == graph::DType::f32 && !compile::is_accumulator(name)) {
      const auto* const numbers = reinterpret_cast<const float*>(tensor.bytes.data());
      result.state[name] = {numbers, numbers + tensor.type.elements()};
    }
  }
  result.gradients = gradients_of(training);
  return result;
}

std::vector<Trained> trained_together(int processes, const Options& options,
                                      const model::UResNetOptions& network, std::int64_t events) {
  std::vector<Trained> results(static_cast<std::size_t>(processes));
  comm::ThreadsTogether(processes).run([&](comm::Communicator& communicator) {
    Options own = options;
    own.communicator = &communicator;
    results[static_cast<std::size_t>(communicator.rank())] =
        trained(own, network, events, communicator.rank(), processes);
  });
  return results;
}

/// The largest difference between two tensors of a name, in units of the largest number of it.
double distance(const Numbers& a, const Numbers& b) {
  double most = 0;
  EXPECT_EQ(a.size(), b.size());
  for (const auto& [name, numbers] : a) {
    const std::vector<float>& others = b.at(name);
    double largest = 1e-3;
    double difference = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(numbers[i])));
      difference = std::max(difference, std::abs(static_cast<double>(numbers[i]) - others[i]));
    }
    most = std::max(most, difference / largest);
  }
  return most;
}

constexpr double kRounding = 1e-4;

/// Every process has the state, gradients and losses of one that has the whole batch.
void expect_whole_batch(int processes, const Options& options, const model::UResNetOptions& network,
                        std::int64_t events = 2) {
  const Trained whole = trained(options, network, events * processes);
  const std::vector<Trained> results = trained_together(processes, options, network, events);
  for (const Trained& result : results) {
    EXPECT_NEAR(result.loss, whole.loss, kRounding * whole.loss);
    EXPECT_LT(distance(result.state, whole.state), kRounding);
    if (options.gradient_accumulation == 1) {  // else a gradient is that of a micro-batch's part
      EXPECT_LT(distance(result.gradients, whole.gradients), kRounding);
    }
    EXPECT_EQ(result.state, results[0].state);
  }
}

class SynchronizedOn : public testing::TestWithParam<int> {};

TEST_P(SynchronizedOn, as_many_processes_are_one_with_the_whole_batch) {
  expect_whole_batch(GetParam(), options_for("cpu", 1), synchronized_network());
}

INSTANTIATE_TEST_SUITE_P(Count, SynchronizedOn, testing::Values(2, 3),
                         testing::PrintToStringParamName());

TEST(SynchronizedStatistics, are_needed_for_that) {
  const Options options = options_for("cpu", 1);
  const Trained whole = trained(options, small_network(), 4);
  const Trained own = trained_together(2, options, small_network(), 2).front();
  EXPECT_GT(distance(own.gradients, whole.gradients), 1000 * kRounding);
  EXPECT_GT(distance(own.state, whole.state), 1000 * kRounding);
}

TEST(SynchronizedStatistics, are_those_of_all_planes_of_all_processes_where_planes_share_them) {
  model::UResNetOptions network = synchronized_network();
  network.plane_statistics = model::PlaneStatistics::shared;
  expect_whole_batch(2, options_for("cpu", 1), network);
}

TEST(SynchronizedStatistics, serve_three_dimensions_and_networks_without_biases) {
  model::UResNetOptions network = synchronized_network();
  network.conv_mode = model::ConvMode::conv_3D;
  expect_whole_batch(2, options_for("cpu", 1), network);
  network = synchronized_network();
  network.bias = false;
  network.residual = false;
  expect_whole_batch(2, options_for("cpu", 1), network);
}

TEST(SynchronizedStatistics, are_those_of_each_micro_batch_where_gradients_accumulate) {
  Options options = options_for("cpu", 1);
  options.gradient_accumulation = 2;
  options.accumulation_reduction = Reduction::mean;
  expect_whole_batch(2, options, synchronized_network());
}

TEST(SynchronizedStatistics, serve_several_threads_and_images_that_are_stored_in_bundles) {
  expect_whole_batch(2, options_for("cpu", 2), synchronized_network(), 8);
}

TEST(SynchronizedStatistics, are_not_exchanged_again_where_activations_are_recomputed) {
  Options options = options_for("cpu", 1);
  options.recompute = true;
  expect_whole_batch(2, options, synchronized_network());
  const Options kept = options_for("cpu", 1);
  EXPECT_EQ(trained_together(2, options, synchronized_network(), 2).front().state,
            trained_together(2, kept, synchronized_network(), 2).front().state);
}

TEST(SynchronizedStatistics, are_right_where_gradients_are_added_up_instead_of_averaged) {
  comm::ThreadsTogether(2).run([](comm::Communicator& communicator) {
    const Batch all = small_batch("first", 2, types_of(2));
    const auto image = micro_batch(std::span<const float>(all.image), communicator.rank(), 2);
    const auto label =
        micro_batch(std::span<const std::uint8_t>(all.label), communicator.rank(), 2);
    const auto gradients = [&](Reduction reduction) {
      Options options = options_for("cpu", 1);
      options.replica_reduction = reduction;
      options.communicator = &communicator;
      options.outputs.gradients = true;
      TrainingModel training = compiled(options, synchronized_network(), 2);
      training(image, label, 0.05);
      return gradients_of(training);
    };
    const Numbers mean = gradients(Reduction::mean);
    for (const auto& [name, sum] : gradients(Reduction::sum)) {
      for (std::size_t i = 0; i < sum.size(); ++i) {
        EXPECT_EQ(sum[i], 2 * mean.at(name)[i]) << name;
      }
    }
  });
}

TEST(SynchronizedStatistics, of_one_process_are_its_own) {
  const Trained marked = trained(options_for("cpu", 1), synchronized_network(), 2);
  const Trained plain = trained(options_for("cpu", 1), small_network(), 2);
  EXPECT_EQ(marked.state, plain.state);
  EXPECT_EQ(marked.loss, plain.loss);
}

TEST(SynchronizedStatistics, serve_modelled_machines_and_narrow_formats) {
  expect_whole_batch(2, options_for("ipu", 1), synchronized_network());
  Options narrow = options_for("cpu", 1);
  narrow.precision.format = NumberFormat::bf16;
  const std::vector<Trained> results = trained_together(2, narrow, synchronized_network(), 2);
  EXPECT_EQ(results[0].state, results[1].state);
  const Trained whole = trained(narrow, synchronized_network(), 4);
  EXPECT_LT(distance(results[0].state, whole.state), 0.2);
}

TEST(SynchronizedStatistics, are_refused_where_replicas_run_one_after_the_other) {
  Options options = options_for("cpu", 1);
  options.replication_factor = 2;
  EXPECT_THAT([&] { compiled(options, synchronized_network(), 2); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("synchronized_statistics is true with 2 replicas in a process"),
                        HasSubstr("one after the other"), HasSubstr("more processes"))));
}

TEST(SynchronizedStatistics, are_refused_where_a_network_has_no_batch_statistics) {
  model::UResNetOptions network = synchronized_network();
  network.normalization = model::Normalization::none;
  EXPECT_THAT([&] { model::UResNet{network}; },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("synchronized_statistics = true with normalization = none"),
                        HasSubstr("no batch statistics"), HasSubstr("normalization = batch"))));
}

/// Of a call in which the image of one process is no number: nobody waits for anybody forever, and
/// nobody updates.
void expect_lost_everywhere(const Options& given) {
  comm::ThreadsTogether(2).run([&](comm::Communicator& communicator) {
    Options options = given;
    options.communicator = &communicator;
    TrainingModel training = compiled(options, synchronized_network(), 2);
    Batch batch = small_batch("lost", call_shape(options).batches(), types_of(2));
    training(batch.image, batch.label, 1e-3);
    const NamedTensors before = training.state()->read_all();
    if (communicator.rank() == 1) {
      batch.image.front() = std::numeric_limits<float>::quiet_NaN();
    }
    EXPECT_TRUE(std::isnan(training(batch.image, batch.label, 1e-3).loss));
    EXPECT_EQ(training.last_call().updates, 0);
    for (const auto& [name, tensor] : training.state()->read_all()) {
      EXPECT_EQ(tensor.bytes, before.at(name).bytes) << name;
    }
    if (communicator.rank() == 1) {
      batch.image.front() = 1;
    }
    EXPECT_TRUE(std::isfinite(training(batch.image, batch.label, 1e-3).loss));
  });
}

TEST(SynchronizedStatistics, of_a_lost_loss_leave_all_processes_in_step) {
  expect_lost_everywhere(options_for("cpu", 1));
  Options options = options_for("cpu", 1);
  options.gradient_accumulation = 3;
  expect_lost_everywhere(options);
}

}  // namespace
}  // namespace cosmic::session
