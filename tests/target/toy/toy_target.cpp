#include "target/toy/toy_target.hpp"

#include <future>

#include "target/cpu/cpu_target.hpp"

namespace cosmic::target::toy {

std::function<void()> while_running = [] {};

namespace {

constexpr std::string_view kName = "toy";

class ToyExecutable final : public Executable {
 public:
  ToyExecutable(std::unique_ptr<Executable> host, const graph::Graph& graph)
      : host_(std::move(host)) {
    for (const graph::NamedValue& output : graph.outputs) {
      outputs_.emplace_back(static_cast<std::size_t>(graph.type(output.value).bytes()));
    }
  }

  std::int64_t memory_bytes() const override { return host_->memory_bytes(); }
  std::span<const NodeTiming> timings() const override { return host_->timings(); }
  std::string_view target() const override { return kName; }
  std::vector<graph::ValueId> computed_values() const override { return host_->computed_values(); }
  const RunTimes& run_times() const override { return host_->run_times(); }

 private:
  void begin(std::span<const RunInput> inputs) override {
    host_->submit(inputs);
    machine_ = std::async(std::launch::async, [this] {
      const std::vector<std::span<std::byte>> outputs(outputs_.begin(), outputs_.end());
      host_->wait(outputs);
      while_running();
    });
  }

  void finish(std::span<const std::span<std::byte>> outputs) override {
    machine_.get();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      std::copy(outputs_[i].begin(), outputs_[i].end(), outputs[i].begin());
    }
  }

  std::unique_ptr<Executable> host_;
  std::vector<std::vector<std::byte>> outputs_;
  std::future<void> machine_;  // last, so that it ends before what it uses
};

class ToyTarget final : public Target {
 public:
  std::string_view name() const override { return kName; }
  Provenance provenance() const override { return Provenance::measured; }
  Support supports(const graph::Graph& graph, graph::ValueId node) const override {
    return host_->supports(graph, node);
  }
  Support supports_processes(int) const override { return Support::yes(); }
  compile::TargetInfo info() const override {
    compile::TargetInfo info = host_->info();
    info.name = name();
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
    return std::make_unique<ToyExecutable>(host_->compile(plan, std::move(bank), options),
                                           plan.graph);
  }

 private:
  std::unique_ptr<Target> host_ = cpu::make_cpu_target();
};

}  // namespace

Registration registration() {
  return {.name = std::string(kName),
          .compute_mode = "TOY",
          .make = [](int) -> std::unique_ptr<Target> { return std::make_unique<ToyTarget>(); },
          .devices = [] { return 2; }};
}

}  // namespace cosmic::target::toy
