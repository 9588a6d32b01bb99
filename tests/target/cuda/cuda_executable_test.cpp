// How a program runs: what travels, what is recorded, what is allocated when, and what timing it
// leaves behind. On the host's device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "compile/pipeline.hpp"
#include "core/error.hpp"
#include "graph/builder.hpp"
#include "target/cuda/cuda_target.hpp"
#include "target/cuda/host_driver.hpp"
#include "target/device.hpp"

namespace cosmic::target::cuda {
namespace {

constexpr std::size_t kElements = 2000;

class CudaExecutables : public testing::Test {
 protected:
  CudaExecutables() {
    graph::Builder g;
    const graph::ValueId x =
        g.input("x", {graph::DType::f32, {2, static_cast<std::int64_t>(kElements) / 2}});
    const graph::ValueId steps =
        g.state("steps", {graph::DType::i64, {}}, graph::StateKind::optimizer,
                graph::Initializer::constant(0));
    g.output("y", g.add(graph::Scale{2}, {x}));
    g.update(steps, g.add(graph::Increment{3}, {steps}));
    const compile::TargetInfo info = target_->info();
    const compile::Plan plan =
        compile::make_plan(g.take(), compile::finishing_passes(info), info, {});
    bank_ = target_->make_bank({{"steps", {graph::DType::i64, {}}}});
    executable_ = compile_all(*target_, plan, bank_, {});
    machine_->bytes_uploaded = 0;  // all from now on is a run's
  }

  std::vector<float> run(const RunInput& input) {
    std::vector<float> y(kElements);
    const std::vector<RunInput> inputs{input};
    const std::vector<std::span<std::byte>> outputs{std::as_writable_bytes(std::span(y))};
    executable_->run(inputs, outputs);
    return y;
  }

  std::int64_t steps() const {
    std::int64_t value = 0;
    bank_->read("steps", std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  std::shared_ptr<HostMachine> machine_ = std::make_shared<HostMachine>();
  std::unique_ptr<Target> target_ = make_cuda_target(host_driver(machine_), 0);
  std::shared_ptr<StateBank> bank_;
  std::unique_ptr<Executable> executable_;
};

TEST_F(CudaExecutables, are_one_recording_that_each_run_replays_without_allocating) {
  const std::vector<float> x(kElements, 1.5F);
  const std::int64_t allocations = machine_->allocations;
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(run(std::as_bytes(std::span(x))), std::vector<float>(kElements, 3.0F));
    EXPECT_EQ(machine_->replays, i);
    EXPECT_EQ(steps(), 3 * i);
  }
  EXPECT_EQ(machine_->allocations, allocations);
  EXPECT_EQ(machine_->works_outside_recordings, 0);
}

TEST_F(CudaExecutables, upload_only_the_pixels_that_differ_unless_they_are_many) {
  std::vector<std::int32_t> indices{3, 500, 7};
  std::vector<float> values{1.0F, 2.0F, 4.0F};
  std::vector<std::int64_t> first{0, 2, 3};
  std::vector<float> expected(kElements, 1.0F);  // twice the background
  expected[3] = 2.0F;
  expected[500] = 4.0F;
  expected[kElements / 2 + 7] = 8.0F;
  const SparsePixels few{first, indices, std::as_bytes(std::span(values)), 0.5};
  EXPECT_EQ(run(few), expected);
  EXPECT_EQ(machine_->bytes_uploaded, 3 * 8 + 3 * 4 + 3 * 4);
  EXPECT_EQ(executable_->run_times().bytes_to_target, machine_->bytes_uploaded);
  EXPECT_EQ(machine_->works_outside_recordings, 2) << "a fill and a scatter";

  indices.clear();
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(kElements) / 2; ++i) {
    indices.push_back(i);
  }
  indices.insert(indices.end(), indices.begin(), indices.end());
  values.assign(kElements, 2.5F);
  first = {0, static_cast<std::int64_t>(kElements) / 2, static_cast<std::int64_t>(kElements)};
  machine_->bytes_uploaded = 0;
  EXPECT_EQ(run(SparsePixels{first, indices, std::as_bytes(std::span(values)), 0.5}),
            std::vector<float>(kElements, 5.0F));
  EXPECT_EQ(machine_->bytes_uploaded, static_cast<std::int64_t>(kElements * sizeof(float)));
  EXPECT_EQ(machine_->works_outside_recordings, 2) << "scattered by the host, as it is less";
}

TEST_F(CudaExecutables, keep_an_input_that_is_not_given_again) {
  const std::vector<float> x(kElements, 0.25F);
  run(std::as_bytes(std::span(x)));
  machine_->bytes_uploaded = 0;
  EXPECT_EQ(run(RunInput()), std::vector<float>(kElements, 0.5F));
  EXPECT_EQ(machine_->bytes_uploaded, 0);
}

TEST_F(CudaExecutables, take_inputs_from_memory_that_the_target_handed_out) {
  const HostBuffer buffer = target_->host_buffer(kElements * sizeof(float));
  EXPECT_EQ(buffer.memory(), HostMemory::pinned);
  EXPECT_EQ(buffer.bytes()[17], std::byte{0});
  const std::vector<float> x(kElements, -1.0F);
  std::memcpy(buffer.bytes().data(), x.data(), buffer.bytes().size());
  EXPECT_EQ(run({buffer.bytes(), buffer.memory()}), std::vector<float>(kElements, -2.0F));
}

TEST_F(CudaExecutables, time_their_steps_when_asked_and_leave_states_as_they_were) {
  EXPECT_THAT(executable_->timings(), testing::IsEmpty()) << "before the first run";
  const std::vector<float> x(kElements, 1.0F);
  run(std::as_bytes(std::span(x)));
  const std::span<const NodeTiming> timings = executable_->timings();
  ASSERT_EQ(timings.size(), 2U);
  for (const NodeTiming& timing : timings) {
    EXPECT_GE(timing.seconds, 0);
  }
  EXPECT_EQ(steps(), 3);
  const std::int64_t works = machine_->works_outside_recordings;
  EXPECT_EQ(executable_->timings().size(), 2U);
  EXPECT_EQ(machine_->works_outside_recordings, works) << "the same run is timed once";
  EXPECT_EQ(run(std::as_bytes(std::span(x))), std::vector<float>(kElements, 2.0F));
  EXPECT_EQ(steps(), 6);
}

TEST_F(CudaExecutables, say_how_much_memory_they_hold_and_give_it_back) {
  EXPECT_GE(executable_->memory_bytes(), static_cast<std::int64_t>(2 * kElements * sizeof(float)));
  executable_.reset();
  bank_.reset();
  EXPECT_EQ(machine_->allocated, 0);
}

TEST_F(CudaExecutables, take_a_second_run_before_the_first_has_ended_but_no_third) {
  for (const bool late : {false, true}) {
    machine_->works_late = late;
    const std::int64_t before = steps();
    std::vector<std::vector<float>> inputs;
    for (int i = 0; i < 4; ++i) {
      inputs.emplace_back(kElements, static_cast<float>(i + 1));
    }
    const auto submit = [&](std::size_t i) {
      const std::vector<RunInput> given{RunInput(std::as_bytes(std::span(inputs[i])))};
      executable_->submit(given);
    };
    submit(0);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (i + 1 < inputs.size()) {
        submit(i + 1);
        EXPECT_THAT([&] { submit(i); }, testing::ThrowsMessage<UserError>(
                                            testing::HasSubstr("while another is in flight")));
        executable_->stage(0, std::as_bytes(std::span(inputs[i])));  // nowhere to put it yet
      }
      std::vector<float> y(kElements);
      const std::vector<std::span<std::byte>> outputs{std::as_writable_bytes(std::span(y))};
      executable_->wait(outputs);
      EXPECT_EQ(y, std::vector<float>(kElements, 2 * inputs[i].front()));
      EXPECT_EQ(executable_->run_times().bytes_to_target,
                static_cast<std::int64_t>(kElements * sizeof(float)));
    }
    EXPECT_FALSE(executable_->in_flight());
    EXPECT_EQ(steps(), before + 3 * 4);
  }
}

/// w takes x, if twice x is finite.
class GuardedRuns : public testing::Test {
 protected:
  GuardedRuns() {
    graph::Builder g;
    const graph::ValueId x = g.input("x", {graph::DType::f32, {1}});
    const graph::ValueId w = g.state("w", {graph::DType::f32, {1}}, graph::StateKind::parameter,
                                     graph::Initializer::constant(0));
    const graph::ValueId loss = g.add(graph::Scale{2}, {x});
    g.output("loss", loss);
    g.update(w, g.add(graph::Add{}, {w, x}));
    graph::Graph graph = g.take();
    graph.guard = loss;
    const compile::TargetInfo info = target_->info();
    const compile::Plan plan =
        compile::make_plan(std::move(graph), compile::finishing_passes(info), info, {});
    bank_ = target_->make_bank({{"w", {graph::DType::f32, {1}}}});
    executable_ = compile_all(*target_, plan, bank_, {});
  }

  void submit(const float& x) {
    const std::vector<RunInput> inputs{RunInput(std::as_bytes(std::span(&x, 1)))};
    executable_->submit(inputs);
  }
  float wait() {
    float loss = 0;
    const std::vector<std::span<std::byte>> outputs{std::as_writable_bytes(std::span(&loss, 1))};
    executable_->wait(outputs);
    return loss;
  }
  float w() const {
    float value = 0;
    bank_->read("w", std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  std::shared_ptr<HostMachine> machine_ = std::make_shared<HostMachine>();
  std::unique_ptr<Target> target_ = make_cuda_target(host_driver(machine_), 0);
  std::shared_ptr<StateBank> bank_;
  std::unique_ptr<Executable> executable_;
};

TEST_F(GuardedRuns, change_nothing_behind_one_that_lost_its_loss) {
  const float good = 1;
  const float bad = std::numeric_limits<float>::infinity();
  submit(good);
  submit(bad);
  EXPECT_EQ(wait(), 2);
  submit(good);
  EXPECT_EQ(wait(), std::numeric_limits<float>::infinity());
  submit(good);
  EXPECT_EQ(wait(), 2) << "computed, but no state takes it";
  EXPECT_EQ(wait(), 2) << "submitted while that one was in flight";
  EXPECT_EQ(w(), 1);
  submit(good);
  EXPECT_EQ(wait(), 2);
  EXPECT_EQ(w(), 2) << "nothing was in flight any more";
  submit(bad);
  wait();
  submit(good);
  wait();
  EXPECT_EQ(w(), 3);
}

TEST_F(GuardedRuns, bring_a_number_up_again_only_if_it_has_changed) {
  std::vector<float> sums;
  std::vector<std::int64_t> uploaded;
  for (const float x : {1.0F, 1.0F, 3.0F, 3.0F, 1.0F}) {
    machine_->bytes_uploaded = 0;
    submit(x);
    EXPECT_EQ(wait(), 2 * x);
    sums.push_back(w());
    uploaded.push_back(machine_->bytes_uploaded);
  }
  EXPECT_THAT(sums, testing::ElementsAre(1, 2, 5, 8, 9));
  EXPECT_THAT(uploaded, testing::ElementsAre(4, 0, 4, 0, 4));
}

TEST_F(GuardedRuns, end_together_where_the_device_fails) {
  const float good = 1;
  submit(good);
  submit(good);
  machine_->end_of_work = {Answer::Kind::failed, "cudaErrorUnknown"};
  EXPECT_THROW(wait(), TargetError);
  machine_->end_of_work = {};
  EXPECT_FALSE(executable_->in_flight());
  submit(good);
  EXPECT_EQ(wait(), 2);
}

TEST_F(CudaExecutables, have_a_device_whose_memory_is_known_before_it_is_used) {
  const std::optional<DeviceRoom> room = target_->device_room();
  ASSERT_TRUE(room.has_value());
  EXPECT_EQ(to_string(room->device), "device 0 (Host GPU)");
  EXPECT_EQ(room->total, machine_->facts.memory_bytes);
  EXPECT_EQ(room->free, machine_->facts.memory_bytes - machine_->allocated);
  const std::optional<MemoryNeed> bank =
      target_->memory_need({}, {{"a", {graph::DType::f32, {3}}}});
  ASSERT_TRUE(bank.has_value());
  EXPECT_THAT(bank->parts(), testing::ElementsAre(MemoryNeed::Part{"weights and moments", 256}));
}

TEST_F(CudaExecutables, name_the_compute_capability_and_the_peak_of_their_device) {
  EXPECT_EQ(target_->info().machine, "compute capability 9.0");
  const std::optional<Peak> peak = target_->peak(1);
  ASSERT_TRUE(peak.has_value());
  EXPECT_EQ(peak->flops_per_second, 2.0 * 128 * 2 * 1e9);
  EXPECT_EQ(peak->bytes_per_second, 1e12);
  EXPECT_EQ(peak->origin, "as the device describes itself");
  const std::optional<Peak> narrow = target_->peak_in({.format = NumberFormat::bf16}, 1);
  EXPECT_EQ(narrow->flops_per_second, 2.0 * 2048 * 2 * 1e9) << "tensor cores of an H100";
  machine_->facts.major = 8;
  EXPECT_EQ(target_->peak_in({.format = NumberFormat::bf16}, 1)->flops_per_second,
            2.0 * 1024 * 2 * 1e9)
      << "of an A100";
  EXPECT_EQ(target_->provenance(), Provenance::measured);
}

TEST_F(CudaExecutables, copy_states_on_the_device_and_bring_them_back) {
  const std::vector<float> x(kElements, 1.0F);
  run(std::as_bytes(std::span(x)));
  const std::unique_ptr<StateSnapshot> snapshot = bank_->snapshot();
  run(std::as_bytes(std::span(x)));
  EXPECT_EQ(steps(), 6);
  bank_->restore(*snapshot);
  EXPECT_EQ(steps(), 3);
}

/// A few pixels of one value on a background of zero, in memory of its own.
struct FewPixels {
  explicit FewPixels(float value) : values(3, value) {}

  SparsePixels pixels() const { return {first, indices, std::as_bytes(std::span(values)), 0}; }
  std::vector<float> doubled() const {
    std::vector<float> y(kElements);
    y[3] = y[500] = y[kElements / 2 + 7] = 2 * values.front();
    return y;
  }

  std::vector<std::int64_t> first{0, 2, 3};
  std::vector<std::int32_t> indices{3, 500, 7};
  std::vector<float> values;
};

class StagedInputs : public CudaExecutables {
 protected:
  void submit(const RunInput& input) { executable_->submit(std::vector<RunInput>{input}); }
  std::vector<float> wait() {
    std::vector<float> y(kElements);
    const std::vector<std::span<std::byte>> outputs{std::as_writable_bytes(std::span(y))};
    executable_->wait(outputs);
    return y;
  }
};

TEST_F(StagedInputs, go_up_while_the_run_before_is_in_flight_and_not_again) {
  const FewPixels first(1);
  const FewPixels second(2);
  machine_->writes_down = true;
  submit(first.pixels());
  executable_->stage(0, second.pixels());
  EXPECT_EQ(wait(), first.doubled());
  submit(second.pixels());
  EXPECT_EQ(wait(), second.doubled());
  EXPECT_THAT(machine_->given,
              testing::ElementsAre("upload 24", "upload 12", "upload 12", "replay",  // the first
                                   "upload 24", "upload 12", "upload 12",            // staged
                                   "wait", "replay", "wait"));
  EXPECT_EQ(executable_->run_times().bytes_to_target, 48) << "counted with the run that uses them";
}

TEST_F(StagedInputs, give_the_same_results_however_late_a_queue_does_its_work) {
  std::vector<FewPixels> all;
  std::vector<std::vector<float>> dense;
  for (int i = 0; i < 6; ++i) {
    all.emplace_back(static_cast<float>(i + 1));
    dense.emplace_back(kElements, static_cast<float>(10 * i));
  }
  for (const bool late : {false, true}) {
    machine_->works_late = late;
    // Pixels and whole inputs in turn.
    const auto input = [&](std::size_t i) -> RunInput {
      return i % 3 == 2 ? RunInput(std::as_bytes(std::span(dense[i]))) : all[i].pixels();
    };
    submit(input(0));
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i + 1 < all.size()) {
        executable_->stage(0, input(i + 1));
      }
      EXPECT_EQ(wait(), i % 3 == 2 ? std::vector<float>(kElements, 2 * dense[i].front())
                                   : all[i].doubled());
      if (i + 1 < all.size()) {
        submit(input(i + 1));
      }
    }
  }
}

TEST_F(StagedInputs, that_the_next_run_is_not_given_are_dropped) {
  machine_->works_late = true;
  const FewPixels staged(1);
  const FewPixels given(2);
  executable_->stage(0, staged.pixels());
  EXPECT_EQ(run(given.pixels()), given.doubled());
  executable_->stage(0, staged.pixels());
  EXPECT_EQ(run(RunInput()), given.doubled()) << "kept";
  executable_->stage(0, staged.pixels());
  executable_->stage(0, given.pixels());
  EXPECT_EQ(run(given.pixels()), given.doubled()) << "staged again";
  executable_->stage(0, staged.pixels());
  executable_->stage(0, RunInput());
  EXPECT_EQ(run(staged.pixels()), staged.doubled()) << "staged no longer";
}

TEST_F(StagedInputs, allocate_nothing) {
  const FewPixels pixels(1);
  const std::int64_t allocations = machine_->allocations;
  for (int i = 0; i < 3; ++i) {
    submit(pixels.pixels());
    executable_->stage(0, pixels.pixels());
    wait();
  }
  EXPECT_EQ(machine_->allocations, allocations);
}

TEST_F(StagedInputs, are_looked_at_when_they_are_staged) {
  FewPixels pixels(1);
  pixels.indices[1] = 100000;
  EXPECT_THAT([&] { executable_->stage(0, pixels.pixels()); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr("index 100000")));
  const FewPixels good(3);
  EXPECT_EQ(run(good.pixels()), good.doubled());
}

TEST_F(StagedInputs, are_forgotten_when_a_run_fails) {
  const FewPixels pixels(1);
  submit(pixels.pixels());
  executable_->stage(0, pixels.pixels());
  machine_->end_of_work = {Answer::Kind::failed, "cudaErrorUnknown"};
  EXPECT_THROW(wait(), TargetError);
  machine_->end_of_work = {};
  machine_->bytes_uploaded = 0;
  EXPECT_EQ(run(pixels.pixels()), pixels.doubled());
  EXPECT_EQ(machine_->bytes_uploaded, 48);
}

TEST_F(StagedInputs, are_what_the_target_likes_best_as_pixels) {
  EXPECT_TRUE(target_->prefers_pixels());
}

}  // namespace
}  // namespace cosmic::target::cuda
