// Processes that train together, as threads of a test, and one process with as many replicas.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "comm/threads_together.hpp"
#include "compile/passes/passes.hpp"
#include "session/call_shape.hpp"
#include "session/small_model.hpp"

namespace cosmic::session {

struct Trained {
  std::vector<double> losses;
  std::vector<float> scores;
  std::map<std::string, std::vector<std::byte>> state;

  bool operator==(const Trained&) const = default;
};

/// Three calls. Of what all replicas take, the part of this one.
inline Trained trained(const Options& options, const compile::Optimizer& optimizer, int rank = 0,
                       int processes = 1) {
  TrainingModel training = compiled_training(options, optimizer, small_network(), tiny_types());
  const CallShape shape = call_shape(options);
  const std::int64_t own = shape.per_update();
  Trained result;
  for (const char* stream : {"first", "second", "third"}) {
    const std::int64_t batches = own * processes * shape.iterations;
    const Batch all = small_batch(stream, batches, tiny_types());
    Batch mine;
    for (std::int64_t iteration = 0; iteration < shape.iterations; ++iteration) {
      for (std::int64_t i = 0; i < own; ++i) {
        const std::int64_t batch = (iteration * processes + rank) * own + i;
        const auto image = micro_batch(std::span<const float>(all.image), batch, batches);
        const auto label = micro_batch(std::span<const std::uint8_t>(all.label), batch, batches);
        mine.image.insert(mine.image.end(), image.begin(), image.end());
        mine.label.insert(mine.label.end(), label.begin(), label.end());
      }
    }
    const StepResult& step = training(mine.image, mine.label, 1e-3);
    result.losses.push_back(step.loss);
    result.scores.assign(step.scores.begin(), step.scores.end());
  }
  for (const std::string& name : training.state()->names()) {
    if (!compile::is_accumulator(name)) {
      result.state[name] = training.state()->read(name).bytes;
    }
  }
  return result;
}

inline std::vector<Trained> trained_together(int processes, Options options,
                                             const compile::Optimizer& optimizer) {
  std::vector<Trained> results(static_cast<std::size_t>(processes));
  comm::ThreadsTogether(processes).run([&](comm::Communicator& communicator) {
    Options own = options;
    own.communicator = &communicator;
    results[static_cast<std::size_t>(communicator.rank())] =
        trained(own, optimizer, communicator.rank(), processes);
  });
  return results;
}

/// Every process against one that has as many replicas.
inline void expect_same_bits(int processes, Options options, const compile::Optimizer& optimizer) {
  Options alone = options;
  alone.replication_factor = processes;
  const Trained expected = trained(alone, optimizer);
  const std::vector<Trained> results = trained_together(processes, options, optimizer);
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    EXPECT_EQ(results[rank].losses, expected.losses) << "rank " << rank;
    EXPECT_EQ(results[rank].scores, expected.scores) << "rank " << rank;
    for (const auto& [name, bytes] : expected.state) {
      EXPECT_EQ(results[rank].state.at(name), bytes) << name << " of rank " << rank;
    }
  }
}

/// The state before and after a call in which one process gets an image that is no number.
inline void expect_lost_everywhere(const Options& given, int loser) {
  comm::ThreadsTogether(3).run([&](comm::Communicator& communicator) {
    Options options = given;
    options.communicator = &communicator;
    TrainingModel training =
        compiled_training(options, compile::Adam{}, small_network(), tiny_types());
    const std::int64_t batches = call_shape(options).batches();
    Batch batch = small_batch("lost", batches, tiny_types());
    training(batch.image, batch.label, 1e-3);
    const NamedTensors before = training.state()->read_all();
    if (communicator.rank() == loser) {
      batch.image.front() = std::numeric_limits<float>::quiet_NaN();
    }
    const StepResult& result = training(batch.image, batch.label, 1e-3);
    EXPECT_TRUE(std::isnan(result.loss));
    EXPECT_EQ(result.lost_replica, loser);
    EXPECT_EQ(training.last_call().updates, 0);
    for (const auto& [name, tensor] : training.state()->read_all()) {
      EXPECT_EQ(tensor.bytes, before.at(name).bytes) << name << " of rank " << communicator.rank();
    }
  });
}

}  // namespace cosmic::session
