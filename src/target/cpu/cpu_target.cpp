#include "target/cpu/cpu_target.hpp"

#include "core/error.hpp"
#include "target/cpu/assign_layouts.hpp"
#include "target/cpu/blocked_image.hpp"
#include "target/cpu/bundle_groups.hpp"
#include "target/cpu/cpu_executable.hpp"
#include "target/cpu/gate_before_unpooling.hpp"
#include "target/cpu/gate_by_activation.hpp"
#include "target/cpu/host_bank.hpp"
#include "target/cpu/machine.hpp"
#include "target/cpu/measure_peak.hpp"
#include "target/cpu/pair_gradients.hpp"
#include "target/cpu/program_steps.hpp"
#include "target/cpu/update_weights_early.hpp"

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
    return precision.partials == NumberFormat::f32
               ? Support::yes()
               : Support::no(
                     "products are added up in float32 registers; half sums are those of a machine "
                     "that is modelled");
  }
  compile::TargetInfo info() const override {
    compile::TargetInfo info;
    info.name = name();
    info.machine = machine();
    info.can_recompute = can_recompute;
    info.storage_bytes = storage_bytes;
    info.can_write_over = can_write_over;
    info.groups = [](const graph::Graph& graph) {
      std::vector<compile::NodeGroup> groups;
      for (const BundleGroup& group : bundle_groups(graph)) {
        groups.push_back(group.nodes);
      }
      return groups;
    };
    info.memory_kind = memory_kind;
    info.alignment = kAlignment;
    info.lowering = {pair_gradients(), update_weights_early(), gate_by_activation(),
                     gate_before_unpooling(), assign_layouts()};
    return info;
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
