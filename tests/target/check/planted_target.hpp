// A target that is wrong in one place: the result of one node is multiplied by a number near one
// before anybody reads it. Everything else is the target's that it is made of.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compile/pipeline.hpp"
#include "compile/rewrite.hpp"
#include "target/target.hpp"

namespace cosmic::target::check {

/// Which node: number `nth` of all that have this op, in program order.
struct Plant {
  std::string op;
  std::size_t nth = 0;
  double factor = 1;
};

class PlantedTarget final : public Target {
 public:
  PlantedTarget(std::unique_ptr<Target> target, Plant plant)
      : target_(std::move(target)), plant_(std::move(plant)) {}

  /// The layer of the node that is wrong; empty before the first program was compiled, and if the
  /// program has no such node.
  const std::string& layer() const { return layer_; }

  std::string_view name() const override { return target_->name(); }
  Provenance provenance() const override { return target_->provenance(); }
  Support supports(const graph::Graph& graph, graph::ValueId node) const override {
    return target_->supports(graph, node);
  }
  Support supports_precision(const compile::Precision& precision) const override {
    return target_->supports_precision(precision);
  }
  compile::TargetInfo info() const override { return target_->info(); }
  std::vector<KernelChoice> kernel_choices(const compile::Plan& plan,
                                           const compile::Step& step) const override {
    return target_->kernel_choices(plan, step);
  }
  std::shared_ptr<StateBank> make_bank(
      const std::vector<std::pair<std::string, graph::TensorType>>& states) const override {
    return target_->make_bank(states);
  }
  std::unique_ptr<Executable> compile(const compile::Plan& plan, std::shared_ptr<StateBank> bank,
                                      const CompileOptions& options) const override {
    const compile::Plan wrong = compile::make_plan(planted(plan.graph), {}, info(), {});
    return std::make_unique<Wrong>(target_->compile(wrong, std::move(bank), options),
                                   plan.graph.size());
  }

 private:
  /// Claims to compute every value of the program that it was asked for.
  class Wrong final : public Executable {
   public:
    Wrong(std::unique_ptr<Executable> executable, std::size_t values)
        : executable_(std::move(executable)), values_(values) {}

    std::int64_t memory_bytes() const override { return executable_->memory_bytes(); }
    std::span<const NodeTiming> timings() const override { return {}; }
    std::string_view target() const override { return executable_->target(); }
    std::vector<graph::ValueId> computed_values() const override {
      std::vector<graph::ValueId> values;
      for (std::size_t i = 0; i < values_; ++i) {
        values.emplace_back(i);
      }
      return values;
    }
    const RunTimes& run_times() const override { return executable_->run_times(); }

   private:
    void begin(std::span<const RunInput> inputs) override { executable_->submit(inputs); }
    void finish(std::span<const std::span<std::byte>> outputs) override {
      executable_->wait(outputs);
    }

    std::unique_ptr<Executable> executable_;
    std::size_t values_;
  };

  graph::Graph planted(const graph::Graph& from) const {
    graph::Graph to;
    std::vector<graph::ValueId> map(from.size());
    std::size_t seen = 0;
    graph::for_each_node(from, [&](graph::ValueId id, const graph::Node& node) {
      graph::Node copy = node;
      for (graph::ValueId& operand : copy.operands) {
        operand = map[operand.index()];
      }
      const bool here = graph::name_of(node.op) == plant_.op && seen++ == plant_.nth;
      if (here) {
        copy.format = NumberFormat::f32;  // rounded once, after it went wrong
        layer_ = node.name;
      }
      map[id.index()] = to.append(std::move(copy));
      if (here) {
        graph::Node scaled{graph::Scale{plant_.factor}, {map[id.index()]}, node.type, node.name};
        scaled.layout = node.layout;
        scaled.format = node.format;
        scaled.stage = node.stage;
        map[id.index()] = to.append(std::move(scaled));
      }
    });
    compile::copy_boundary(from, map, to);
    return to;
  }

  std::unique_ptr<Target> target_;
  Plant plant_;
  mutable std::string layer_;
};

}  // namespace cosmic::target::check
