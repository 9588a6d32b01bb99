#include "target/cpu/cpu_target.hpp"

#include "core/error.hpp"
#include "target/cpu/cpu_executable.hpp"
#include "target/cpu/cpu_info.hpp"
#include "target/cpu/host_bank.hpp"
#include "target/cpu/implementations.hpp"
#include "target/cpu/measure_peak.hpp"

namespace cosmic::target::cpu {
namespace {

class CpuTarget final : public Target {
 public:
  std::string_view name() const override { return kName; }
  Provenance provenance() const override { return Provenance::measured; }
  Support supports(const graph::Graph& graph, graph::ValueId node) const override {
    return supports_node(graph, node);
  }
  Support supports_precision(const compile::Precision& precision) const override {
    if (precision.tf32) {
      return no_tf32();
    }
    return precision.partials == NumberFormat::f32
               ? Support::yes()
               : Support::no(
                     "products are accumulated in float32 registers; only modelled machines have "
                     "half sums");
  }
  Support supports_processes(int) const override { return Support::yes(); }
  compile::TargetInfo info() const override { return cpu_info(); }
  std::vector<KernelChoice> kernel_choices(const compile::Plan& plan,
                                           const compile::Step& step) const override {
    return choices_for(plan.graph, step);
  }
  std::shared_ptr<StateBank> make_bank(
      const std::vector<std::pair<std::string, graph::TensorType>>& states) const override {
    return std::make_shared<HostBank>(states);
  }
  std::unique_ptr<Executable> compile(const compile::Plan& plan, std::shared_ptr<StateBank> bank,
                                      const CompileOptions& options) const override {
    auto host_bank = std::dynamic_pointer_cast<HostBank>(std::move(bank));
    COSMIC_ASSERT(host_bank != nullptr);
    return std::make_unique<CpuExecutable>(plan, std::move(host_bank), options);
  }
  std::optional<Peak> peak(int threads) const override { return measure_peak(threads); }
};

}  // namespace

std::unique_ptr<Target> make_cpu_target() {
  return std::make_unique<CpuTarget>();
}

Registration registration() {
  return {.name = std::string(kName), .compute_mode = "CPU", .make = [](int) {
            return make_cpu_target();
          }};
}

}  // namespace cosmic::target::cpu
