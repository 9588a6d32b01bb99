#include "target/modelled/modelled_target.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "machine/family.hpp"
#include "machine/fusing_compiler.hpp"
#include "target/cpu/cpu_target.hpp"

namespace cosmic::target::modelled {
namespace {

/// Runs on the host under the name of the target that it stands for.
class ModelledExecutable final : public Executable {
 public:
  ModelledExecutable(std::string_view target, std::unique_ptr<Executable> host)
      : target_(target), host_(std::move(host)) {}

  std::int64_t memory_bytes() const override { return host_->memory_bytes(); }
  /// None: how long the host took for a node says nothing about the machine.
  std::span<const NodeTiming> timings() const override { return {}; }
  std::string_view target() const override { return target_; }
  std::vector<graph::ValueId> computed_values() const override { return host_->computed_values(); }
  const RunTimes& run_times() const override { return host_->run_times(); }

 private:
  void begin(std::span<const RunInput> inputs) override { host_->submit(inputs); }
  void finish(std::span<const std::span<std::byte>> outputs) override { host_->wait(outputs); }

  std::string_view target_;
  std::unique_ptr<Executable> host_;
};

class ModelledTarget final : public Target {
 public:
  ModelledTarget(Contract contract, machine::Description machine)
      : contract_(std::move(contract)), machine_(std::move(machine)) {}

  std::string_view name() const override { return contract_.target_name; }
  Provenance provenance() const override { return Provenance::modelled; }
  Support supports(const graph::Graph& graph, graph::ValueId node) const override {
    const std::string why_not(machine_.family->why_not(graph::name_of(graph.node(node).op)));
    return why_not.empty() ? host_->supports(graph, node) : Support::no(why_not);
  }
  Support supports_precision(const compile::Precision& precision) const override {
    if (precision.tf32) {
      return Support::no("what " + machine_.name +
                         " computes is computed by a host, which multiplies float32 numbers as "
                         "they are");
    }
    const std::span<const NumberFormat> formats = machine_.family->formats();
    if (std::find(formats.begin(), formats.end(), precision.format) == formats.end()) {
      std::string known;
      for (const NumberFormat format : formats) {
        known += (known.empty() ? "" : " and ") + to_string(format);
      }
      return Support::no(machine_.name + " computes with " + known);
    }
    if (precision.partials != NumberFormat::f32 &&
        (!contract_.half_partials || precision.format != precision.partials)) {
      return Support::no(contract_.half_partials
                             ? "partial sums are as narrow as the operands or float32"
                             : machine_.name + " accumulates products in float32");
    }
    // The host's steps round sums where the program says so; as a target it offers its registers.
    compile::Precision on_the_host = precision;
    on_the_host.partials = NumberFormat::f32;
    return host_->supports_precision(on_the_host);
  }
  Support supports_processes(int processes) const override {
    return host_->supports_processes(processes);
  }
  Support supports_exchange(comm::Exchange exchange) const override {
    return host_->supports_exchange(exchange);
  }
  compile::TargetInfo info() const override {
    compile::TargetInfo info = host_->info();
    info.name = name();
    info.machine = machine_.name + ", modelled; computed by a host with " + info.machine;
    const std::vector<compile::Pass> formats = machine_.family->format_passes();
    info.lowering.insert(info.lowering.begin(), formats.begin(), formats.end());
    return info;
  }
  std::vector<KernelChoice> kernel_choices(const compile::Plan& plan,
                                           const compile::Step& step) const override {
    return host_->kernel_choices(plan, step);
  }
  std::shared_ptr<StateBank> make_bank(
      const std::vector<std::pair<std::string, graph::TensorType>>& states) const override {
    return host_->make_bank(states);
  }
  std::unique_ptr<Executable> compile(const compile::Plan& plan, std::shared_ptr<StateBank> bank,
                                      const CompileOptions& options) const override {
    return std::make_unique<ModelledExecutable>(name(),
                                                host_->compile(plan, std::move(bank), options));
  }

  compile::TargetInfo machine_info() const override {
    compile::TargetInfo info = machine::fusing_compiler(machine_.stack().stored);
    info.lowering = machine_.family->format_passes();
    return info;
  }
  std::optional<machine::Prediction> predict(
      const graph::Graph& program, const machine::ExecutionOptions& execution) const override {
    return machine::predict(machine_, program, execution);
  }
  compile::Precision coerced(const compile::Precision& precision) const override {
    compile::Precision result = precision;
    // Our compiler has no float16 weights; stacks with those are for predictions only.
    if (machine_.stack().weights == machine::StackWeights::narrow &&
        precision.format == NumberFormat::bf16) {
      result.weights = compile::Precision::Weights::pure;
    }
    return result;
  }
  std::vector<std::string> contract(const compile::Precision& precision) const override {
    std::vector<std::string> notes = contract_.coercions;
    if (precision.format != NumberFormat::f32 && !contract_.narrow_operations.empty()) {
      notes.push_back(contract_.narrow_operations);
    }
    if (precision.partials != NumberFormat::f32) {
      const std::string format = to_string(precision.partials);
      notes.push_back("Partial sums are " + format +
                      " where both factors are: " + std::to_string(graph::kPartialsGroup) +
                      " products are added up in float32, then the running sum is rounded to " +
                      format + ". Products with a float32 factor are added up in float32.");
    }
    return notes;
  }

 private:
  Contract contract_;
  machine::Description machine_;
  std::unique_ptr<Target> host_ = cpu::make_cpu_target();
};

}  // namespace

std::unique_ptr<Target> make_modelled_target(Contract contract, machine::Description machine) {
  return std::make_unique<ModelledTarget>(std::move(contract), std::move(machine));
}

}  // namespace cosmic::target::modelled
