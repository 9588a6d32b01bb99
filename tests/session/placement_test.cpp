// What was asked for runs where it was asked to run, all of it, or nothing runs: targets that get
// this wrong are caught, whatever they get wrong. One port of the reference trained on the host for
// months because nobody asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/pipeline.hpp"
#include "core/error.hpp"
#include "session/model_state.hpp"
#include "session/planning.hpp"
#include "session/program.hpp"
#include "session/small_model.hpp"
#include "target/registry.hpp"
#include "target/targets_here.hpp"

namespace cosmic::session {
namespace {

using graph::ValueId;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Runs what another target made of the program, and answers for it in its own way.
class RelabelledExecutable : public target::Executable {
 public:
  RelabelledExecutable(std::unique_ptr<target::Executable> real, std::string name,
                       std::vector<ValueId> computed)
      : real_(std::move(real)), name_(std::move(name)), computed_(std::move(computed)) {}

  std::int64_t memory_bytes() const override { return real_->memory_bytes(); }
  std::span<const target::NodeTiming> timings() const override { return real_->timings(); }
  const target::RunTimes& run_times() const override { return real_->run_times(); }
  std::string_view target() const override { return name_; }
  std::vector<ValueId> computed_values() const override { return computed_; }

 private:
  void begin(std::span<const target::RunInput> inputs) override { real_->submit(inputs); }
  void finish(std::span<const std::span<std::byte>> outputs) override { real_->wait(outputs); }

  std::unique_ptr<target::Executable> real_;
  std::string name_;
  std::vector<ValueId> computed_;
};

/// A port with a mistake.
struct Mistake {
  std::string runs_on = "port";  ///< what its executables admit
  std::string loses = {};        ///< an op that it forgets about while compiling
  std::string refuses = {};      ///< an op that it says it does not support
};

class PortWithMistake : public target::Target {
 public:
  explicit PortWithMistake(Mistake mistake) : mistake_(std::move(mistake)) {}

  std::string_view name() const override { return "port"; }
  Provenance provenance() const override { return host_->provenance(); }
  Support supports(const graph::Graph& graph, ValueId node) const override {
    return name_of(graph.node(node).op) == mistake_.refuses
               ? Support::no("the vendor's library has none")
               : host_->supports(graph, node);
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
    auto real = host_->compile(plan, std::move(bank), options);
    std::vector<ValueId> computed = real->computed_values();
    std::erase_if(computed, [&](ValueId value) {
      return name_of(plan.graph.node(value).op) == mistake_.loses;
    });
    return std::make_unique<RelabelledExecutable>(std::move(real), mistake_.runs_on,
                                                  std::move(computed));
  }

 private:
  std::unique_ptr<target::Target> host_ = target::make_target(target::target_names().front());
  Mistake mistake_;
};

graph::Graph small_program() {
  graph::Builder g;
  const ValueId image = g.input(kImage, small_types().image);
  const ValueId label = g.input(kLabel, small_types().label);
  const ValueId logits = model::UResNet(small_network()).logits(g, image, model::Phase::training);
  g.output(compile::kLossOutput, model::SegmentationLoss().loss(g, logits, label));
  return g.take();
}

/// As a training model does it.
void compile_step(const target::Target& target) {
  compile::Plan plan = plan_program(
      small_program(), compile::training_passes(target.info(), {compile::Sgd{}}, {}), target, {});
  const ModelState state(target, {&plan.graph}, 0);
  Program(std::move(plan)).attach(target, state, {});
}

TEST(Placement, a_sound_target_is_left_in_peace) {
  EXPECT_NO_THROW(compile_step(PortWithMistake({})));
}

TEST(Placement, a_target_that_loses_an_op_is_caught_by_the_op_and_its_layer) {
  // Of its own step, riding on a convolution, and recomputed where it is read: each can be lost.
  for (const char* op : {"conv", "statistics", "leaky_relu", "sgd_step"}) {
    EXPECT_THAT([&] { compile_step(PortWithMistake({.loses = op})); },
                ThrowsMessage<TargetError>(AllOf(HasSubstr("target 'port' lost a part"),
                                                 HasSubstr(std::string("\n  ") + op + " at '"))))
        << op;
  }
}

TEST(Placement, a_program_that_would_run_elsewhere_is_caught_with_both_names) {
  EXPECT_THAT([&] { compile_step(PortWithMistake({.runs_on = "host"})); },
              ThrowsMessage<TargetError>(
                  AllOf(HasSubstr("for target 'port'"), HasSubstr("would run on 'host'"))));
}

TEST(Placement, an_op_without_support_stops_before_anything_is_compiled) {
  EXPECT_THAT([&] { compile_step(PortWithMistake({.refuses = "conv"})); },
              ThrowsMessage<TargetError>(AllOf(HasSubstr("target 'port' cannot run this program"),
                                               HasSubstr("conv at 'initial_convolution"),
                                               HasSubstr("the vendor's library has none"))));
}

TEST(Placement, every_target_of_this_build_accounts_for_all_of_a_step) {
  for (const std::string& name : target::targets_here()) {
    EXPECT_NO_THROW(compile_step(*target::make_target(name))) << name;
  }
}

}  // namespace
}  // namespace cosmic::session
