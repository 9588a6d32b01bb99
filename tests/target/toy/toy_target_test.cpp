// An optional target, added as docs/adding-a-target.md says: a session finds it by its name and
// trains on it, beside the host. One that is not in the build says how to get it.
#include "target/toy/toy_target.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "compile/pipeline.hpp"
#include "core/error.hpp"
#include "session/planning.hpp"
#include "session/small_model.hpp"
#include "target/registry.hpp"

namespace cosmic::session {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// What the machine does in the middle of its runs while this lives.
class WhileRunning {
 public:
  explicit WhileRunning(std::function<void()> act) { target::toy::while_running = std::move(act); }
  ~WhileRunning() {
    target::toy::while_running = [] {};
  }
  WhileRunning(const WhileRunning&) = delete;
  WhileRunning& operator=(const WhileRunning&) = delete;
};

TEST(ToyTarget, is_found_by_its_name_and_by_its_compute_mode) {
  EXPECT_THAT(target::target_names(), ElementsAre("cpu", "reference", "toy"));
  EXPECT_EQ(target::target_of_compute_mode("TOY"), "toy");
  EXPECT_EQ(target::make_target("toy")->name(), "toy");
  EXPECT_EQ(target::oracle_name(), "reference");
}

TEST(ToyTarget, trains_with_the_bits_of_the_host) {
  TrainingModel toy = compiled_training(options_for("toy"), compile::Adam{});
  TrainingModel cpu = compiled_training(options_for("cpu"), compile::Adam{});
  for (const char* stream : {"first", "second", "third"}) {
    const Batch batch = small_batch(stream);
    EXPECT_EQ(toy(batch.image, batch.label, 1e-3).loss, cpu(batch.image, batch.label, 1e-3).loss);
  }
}

TEST(ToyTarget, computes_a_step_while_the_host_makes_the_next_batch) {
  TrainingModel toy = compiled_training(options_for("toy"));
  const Batch batch = small_batch("first");
  std::promise<void> host_worked;
  const WhileRunning held([worked = host_worked.get_future().share()] {
    if (worked.wait_for(std::chrono::minutes(5)) != std::future_status::ready) {
      throw TargetError("the host did nothing meanwhile");
    }
  });
  toy.submit(batch.image, batch.label, 1e-3);
  const Batch next = small_batch("second");
  host_worked.set_value();  // the run cannot end before
  EXPECT_GT(toy.wait().loss, 0);
}

TEST(ToyTarget, whose_run_fails_says_so_in_wait_and_is_free_for_the_next_call) {
  TrainingModel toy = compiled_training(options_for("toy"));
  const Batch batch = small_batch("first");
  {
    const WhileRunning failing([] { throw TargetError("the toy fell off the table"); });
    toy.submit(batch.image, batch.label, 1e-3);
    EXPECT_THAT([&] { toy.wait(); }, ThrowsMessage<TargetError>(HasSubstr("fell off the table")));
  }
  EXPECT_GT(toy(batch.image, batch.label, 1e-3).loss, 0);
}

TEST(ToyTarget, leaves_the_state_as_it_was_where_the_loss_is_no_number) {
  TrainingModel toy = compiled_training(options_for("toy"));
  Batch batch = small_batch("first");
  toy(batch.image, batch.label, 1e-3);
  const NamedTensors before = toy.state()->read_all();
  batch.image[7] = std::numeric_limits<float>::quiet_NaN();
  toy(batch.image, batch.label, 1e-3);
  for (const auto& [name, tensor] : toy.state()->read_all()) {
    EXPECT_EQ(tensor.bytes, before.at(name).bytes) << name;
  }
}

TEST(ToyTarget, has_as_many_devices_as_it_says) {
  Options options = options_for("toy");
  options.device = 1;
  EXPECT_NO_THROW(chosen_target(options, Purpose::training));
  options.device = 2;
  EXPECT_THAT([&] { chosen_target(options, Purpose::training); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("device 2 was chosen for target 'toy'"),
                                             HasSubstr("has 2 devices here"))));
  options.target = "cpu";
  options.device = 1;
  EXPECT_THAT([&] { chosen_target(options, Purpose::training); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("device 1 was chosen for target 'cpu'"),
                                             HasSubstr("has 1 device here"),
                                             HasSubstr("leave run.device out"))));
}

class Processes final : public comm::Communicator {
 public:
  explicit Processes(int size) : size_(size) {}
  int rank() const override { return 0; }
  int size() const override { return size_; }
  int local_rank() const override { return 0; }
  int local_size() const override { return size_; }
  const std::string& host(int) const override { return host_; }
  Ticket begin_sum(std::span<float>, NumberFormat) override { return 0; }
  void wait(Ticket) override {}
  void gather(std::span<const std::byte>, std::span<std::byte>) override {}
  void broadcast(std::span<std::byte>, int) override {}
  double waiting_seconds() const override { return 0; }
  double exchange_seconds() const override { return 0; }
  void set_longest_wait(double) override {}
  void abort(int) override { std::abort(); }

 private:
  int size_;
  std::string host_ = "here";
};

void compile_for(const std::string& name, comm::Communicator&& communicator) {
  graph::Builder g;
  g.output("y", g.add(graph::Scale{2}, {g.input("x", {graph::DType::f32, {4}})}));
  const std::unique_ptr<target::Target> target = target::make_target(name);
  const compile::TargetInfo info = target->info();
  const compile::Plan plan =
      compile::make_plan(g.take(), compile::finishing_passes(info), info, {});
  target::CompileOptions options;
  options.communicator = &communicator;
  target::compile_all(*target, plan, target->make_bank({}), options);
}

TEST(ToyTarget, works_together_with_other_processes_and_targets_that_cannot_refuse_to) {
  EXPECT_NO_THROW(compile_for("toy", Processes(4)));
  EXPECT_NO_THROW(compile_for("cpu", Processes(4)));
  EXPECT_NO_THROW(compile_for("reference", Processes(1)));
  EXPECT_THAT(
      [&] { compile_for("reference", Processes(4)); },
      ThrowsMessage<TargetError>(AllOf(HasSubstr("in 4 processes on target 'reference'"),
                                       HasSubstr("each would train a network of its own"))));
}

TEST(AbsentTarget, is_listed_with_the_option_that_would_bring_it) {
  const std::vector<std::string_view> modes{"CPU", "TOY", "GHOST", "GPU"};
  std::vector<std::string> lines;
  for (const target::TargetEntry& entry : target::target_entries(modes)) {
    lines.push_back(entry.name + "/" + entry.compute_mode + ": " + entry.available.why_not);
  }
  EXPECT_THAT(lines,
              ElementsAre("cpu/CPU: ", "reference/: ", "toy/TOY: ",
                          "ghost/GHOST: not in this build; configure with -DCOSMIC_TARGET_GHOST=ON",
                          "/GPU: this build has no target for it"));
}

TEST(AbsentTarget, says_how_to_get_it_however_it_is_asked_for) {
  const std::string how = "not in this build; configure with -DCOSMIC_TARGET_GHOST=ON";
  EXPECT_THAT([] { target::make_target("ghost"); },
              ThrowsMessage<UserError>(HasSubstr("target 'ghost' is " + how)));
  EXPECT_THAT([] { target::target_of_compute_mode("GHOST"); },
              ThrowsMessage<TargetError>(HasSubstr(how)));
  EXPECT_THAT([] { target::machine_of_compute_mode("GHOST", ""); },
              ThrowsMessage<UserError>(HasSubstr(how)));
}

}  // namespace
}  // namespace cosmic::session
