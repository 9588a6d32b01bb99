// Runs that are submitted and waited for: on a target that computes beside the host, the host's
// work in between overlaps with it; nothing overtakes anything, and errors come out of wait().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>

#include "compile/pipeline.hpp"
#include "core/error.hpp"
#include "session/model_state.hpp"
#include "session/planning.hpp"
#include "session/program.hpp"
#include "session/small_model.hpp"
#include "target/registry.hpp"

namespace cosmic::session {
namespace {

using graph::ValueId;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// What happened, in order. Events of the machine and of the host come from different threads.
class Diary {
 public:
  void write(const std::string& event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
    changed_.notify_all();
  }
  /// Until somebody has written it.
  void await(const std::string& event) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return std::count(events_.begin(), events_.end(), event) > 0; });
  }
  std::vector<std::string> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> events_;
};

/// Computes on a thread of its own from submit() on, and does not end before the host has written
/// `host worked`, if it is told to wait for that: such a run ends only if both work side by side.
class SlowExecutable : public target::Executable {
 public:
  SlowExecutable(std::unique_ptr<target::Executable> real, std::vector<std::size_t> output_bytes,
                 Diary& diary, bool waits_for_host, bool fails)
      : real_(std::move(real)), diary_(diary), waits_for_host_(waits_for_host), fails_(fails) {
    for (const std::size_t bytes : output_bytes) {
      staging_.emplace_back(bytes);
    }
  }

  std::int64_t memory_bytes() const override { return real_->memory_bytes(); }
  std::span<const target::NodeTiming> timings() const override { return real_->timings(); }
  const target::RunTimes& run_times() const override { return real_->run_times(); }
  std::string_view target() const override { return "slow"; }
  std::vector<ValueId> computed_values() const override { return real_->computed_values(); }

 private:
  void begin(std::span<const target::RunInput> inputs) override {
    diary_.write("submitted");
    machine_ =
        std::async(std::launch::async, [this, given = std::vector(inputs.begin(), inputs.end())] {
          diary_.write("machine works");
          if (waits_for_host_) {
            diary_.await("host worked");
          }
          const std::vector<std::span<std::byte>> outputs(staging_.begin(), staging_.end());
          real_->run(given, outputs);
          if (fails_) {
            throw TargetError("the machine lost its power");
          }
          diary_.write("machine done");
        });
  }

  void finish(std::span<const std::span<std::byte>> outputs) override {
    machine_.get();  // with what it threw
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      std::copy(staging_[i].begin(), staging_[i].end(), outputs[i].begin());
    }
    diary_.write("waited for");
  }

  std::unique_ptr<target::Executable> real_;
  Diary& diary_;
  bool waits_for_host_;
  bool fails_;
  std::vector<std::vector<std::byte>> staging_;
  std::future<void> machine_;  // last: a run in flight ends before anything that it uses
};

/// The host under another name, beside the host.
class SlowTarget : public target::Target {
 public:
  explicit SlowTarget(Diary& diary) : diary_(diary) {}

  bool waits_for_host = false;
  bool fails = false;

  std::string_view name() const override { return "slow"; }
  Provenance provenance() const override { return host_->provenance(); }
  Support supports(const graph::Graph& graph, ValueId node) const override {
    return host_->supports(graph, node);
  }
  compile::TargetInfo info() const override {
    compile::TargetInfo info = host_->info();
    info.name = name();
    return info;
  }
  std::vector<target::KernelChoice> kernel_choices(const compile::Plan& plan,
                                           const compile::Step& step) const override {
    return host_->kernel_choices(plan, step);
  }
  std::shared_ptr<target::StateBank> make_bank(
      const std::vector<std::pair<std::string, graph::TensorType>>& states) const override {
    return host_->make_bank(states);
  }
  std::unique_ptr<target::Executable> compile(
      const compile::Plan& plan, std::shared_ptr<target::StateBank> bank,
      const target::CompileOptions& options) const override {
    std::vector<std::size_t> bytes;
    for (const graph::NamedValue& output : plan.graph.outputs) {
      bytes.push_back(static_cast<std::size_t>(plan.graph.type(output.value).bytes()));
    }
    return std::make_unique<SlowExecutable>(host_->compile(plan, std::move(bank), options), bytes,
                                            diary_, waits_for_host, fails);
  }

 private:
  std::unique_ptr<target::Target> host_ = target::make_target("cpu");
  Diary& diary_;
};

compile::Plan step_plan(const target::Target& target) {
  graph::Builder g;
  const ValueId image = g.input(kImage, small_types().image);
  const ValueId label = g.input(kLabel, small_types().label);
  const ValueId logits = model::UResNet(small_network()).logits(g, image, model::Phase::training);
  g.output(compile::kLossOutput, model::SegmentationLoss().loss(g, logits, label));
  return plan_program(g.take(), compile::training_passes(target.info(), {compile::Sgd{}}, {}),
                      target, {});
}

/// A step of training on a target, with all that belongs to it.
class Step {
 public:
  explicit Step(const target::Target& target)
      : program_(step_plan(target)), state_(target, {&program_.graph()}, 0) {
    program_.attach(target, state_, {});
    program_.set_input(compile::kLearningRateInput, std::as_bytes(std::span(&rate_, 1)));
  }

  void give(const Batch& batch) {
    program_.set_input(kImage, std::as_bytes(std::span(batch.image)));
    program_.set_input(kLabel, std::as_bytes(std::span(batch.label)));
  }
  Program& program() { return program_; }
  float loss() const { return program_.output(compile::kLossOutput)[0]; }

 private:
  float rate_ = 0.01F;
  Program program_;
  ModelState state_;
};

TEST(Submission, the_host_works_while_the_machine_does) {
  Diary diary;
  SlowTarget target(diary);
  target.waits_for_host = true;
  Step step(target);
  const Batch batch = small_batch("first");
  step.give(batch);
  step.program().submit();
  diary.await("machine works");
  diary.write("host worked");
  step.program().wait();
  EXPECT_THAT(diary.events(), ElementsAre("submitted", "machine works", "host worked",
                                          "machine done", "waited for"));
}

TEST(Submission, steps_beside_the_host_have_the_bits_of_steps_one_after_the_other) {
  Diary diary;
  Step beside{SlowTarget(diary)};
  const std::unique_ptr<target::Target> cpu = target::make_target("cpu");
  Step after(*cpu);
  Batch current = small_batch("0");
  for (int i = 0; i < 4; ++i) {
    beside.give(current);
    beside.program().submit();
    const Batch next = small_batch(std::to_string(i + 1));  // made meanwhile
    after.give(current);
    after.program().run();
    beside.program().wait();
    EXPECT_EQ(beside.loss(), after.loss()) << i;
    current = next;
  }
}

TEST(Submission, the_results_of_a_run_stay_until_the_next_one_is_waited_for) {
  Diary diary;
  Step step{SlowTarget(diary)};
  const Batch first = small_batch("first");
  const Batch second = small_batch("second");
  step.give(first);
  step.program().run();
  const float loss = step.loss();
  step.give(second);
  step.program().submit();
  diary.await("machine done");
  EXPECT_EQ(step.loss(), loss);
  step.program().wait();
  EXPECT_NE(step.loss(), loss);
}

TEST(Submission, what_goes_wrong_on_the_machine_comes_out_of_wait) {
  Diary diary;
  SlowTarget target(diary);
  target.fails = true;
  Step step(target);
  const Batch batch = small_batch("first");
  step.give(batch);
  EXPECT_NO_THROW(step.program().submit());
  EXPECT_THAT([&] { step.program().wait(); },
              ThrowsMessage<TargetError>(HasSubstr("lost its power")));
  EXPECT_FALSE(step.program().in_flight());
  EXPECT_NO_THROW(step.program().detach());
}

TEST(Submission, a_program_in_flight_takes_no_second_run_and_keeps_its_memory) {
  Diary diary;
  Step step{SlowTarget(diary)};
  const Batch batch = small_batch("first");
  step.give(batch);
  step.program().submit();
  EXPECT_THAT([&] { step.program().submit(); },
              ThrowsMessage<UserError>(HasSubstr("target 'slow' while another is in flight")));
  EXPECT_THAT([&] { step.program().detach(); },
              ThrowsMessage<UserError>(HasSubstr("while a run is in flight")));
  step.program().wait();
  EXPECT_THAT([&] { step.program().wait(); },
              ThrowsMessage<UserError>(HasSubstr("submit() first")));
}

TEST(Submission, a_program_takes_sparse_pixels) {
  const std::unique_ptr<target::Target> cpu = target::make_target("cpu");
  Step dense(*cpu);
  Step sparse(*cpu);
  Batch batch = small_batch("sparse");
  std::vector<std::int64_t> first{0};
  std::vector<std::int32_t> indices;
  std::vector<float> values;
  const auto images = static_cast<std::size_t>(small_types().image.dim(0));
  const std::size_t pixels = batch.image.size() / images;
  for (std::size_t i = 0; i < batch.image.size(); ++i) {
    if (i % 37 == 0) {
      indices.push_back(static_cast<std::int32_t>(i % pixels));
      values.push_back(batch.image[i]);
    } else {
      batch.image[i] = 0;
    }
    if ((i + 1) % pixels == 0) {
      first.push_back(static_cast<std::int64_t>(indices.size()));
    }
  }
  dense.give(batch);
  sparse.give(batch);
  sparse.program().set_input(
      kImage, target::SparsePixels{first, indices, std::as_bytes(std::span(values))});
  dense.program().run();
  sparse.program().run();
  EXPECT_EQ(sparse.loss(), dense.loss());
  EXPECT_LT(sparse.program().run_times().bytes_to_target,
            dense.program().run_times().bytes_to_target);
  indices[0] = static_cast<std::int32_t>(pixels);
  EXPECT_THAT(
      [&] {
        sparse.program().set_input(
            kImage, target::SparsePixels{first, indices, std::as_bytes(std::span(values))});
      },
      ThrowsMessage<UserError>(HasSubstr("image 0 of the sparse image has a pixel at index")));
}

class SubmittedTraining : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(, SubmittedTraining, testing::Values("cpu", "reference"),
                         [](const auto& test) { return test.param; });

TEST_P(SubmittedTraining, in_two_halves_has_the_bits_of_whole_calls) {
  Options options = options_for(GetParam());
  options.device_iterations = 2;
  options.replication_factor = 2;
  options.gradient_accumulation = 2;
  const auto compiled = [&] {
    return compiled_training(options, compile::Adam{}, small_network(), tiny_types());
  };
  TrainingModel halves = compiled();
  TrainingModel whole = compiled();
  for (int call = 0; call < 2; ++call) {
    const Batch batch = small_batch(std::to_string(call), 8, tiny_types());
    halves.submit(batch.image, batch.label, 1e-3);
    EXPECT_EQ(halves.wait().loss, whole(batch.image, batch.label, 1e-3).loss);
    EXPECT_EQ(halves.last_call().updates, 2);
  }
}

TEST_P(SubmittedTraining, takes_one_call_at_a_time) {
  TrainingModel training =
      compiled_training(options_for(GetParam()), compile::Sgd{}, small_network(), tiny_types());
  const Batch batch = small_batch("first", 1, tiny_types());
  EXPECT_THAT([&] { training.wait(); },
              ThrowsMessage<UserError>(HasSubstr("there is no call to wait for")));
  EXPECT_THAT([&] { training.submit({}, {}, 0.1); },
              ThrowsMessage<UserError>(HasSubstr("the image has 0 bytes")));
  training.submit(batch.image, batch.label, 0.1);
  EXPECT_THAT([&] { training.submit(batch.image, batch.label, 0.1); },
              ThrowsMessage<UserError>(HasSubstr("while another is in flight")));
  EXPECT_GT(training.wait().loss, 0);
}

}  // namespace
}  // namespace cosmic::session
