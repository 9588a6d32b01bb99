#include "target/cuda/host_gpu.hpp"

#include "target/cpu/cpu_target.hpp"
#include "target/cuda/cuda_target.hpp"
#include "target/registration.hpp"

namespace cosmic::target {
namespace cuda {

HostGpu& host_gpu() {
  static HostGpu gpu;
  return gpu;
}

namespace {

/// A target that would rather have what host_gpu() says.
class Choosy final : public Target {
 public:
  explicit Choosy(std::unique_ptr<Target> target) : target_(std::move(target)) {}

  bool prefers_pixels() const override { return prefers_pixels_; }
  HostBuffer host_buffer(std::int64_t bytes) const override { return target_->host_buffer(bytes); }

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
    return target_->compile(plan, std::move(bank), options);
  }

 private:
  std::unique_ptr<Target> target_;
  bool prefers_pixels_ = host_gpu().prefers_pixels;
};

std::unique_ptr<Target> make_gpu(int device) {
  return std::make_unique<Choosy>(make_cuda_target(host_driver(host_gpu().machine), device));
}

std::unique_ptr<Target> make_cpu(int) {
  return std::make_unique<Choosy>(cpu::make_cpu_target());
}

}  // namespace
}  // namespace cuda

std::vector<Registration> built_targets() {
  return {{.name = "cpu", .compute_mode = "CPU", .make = cuda::make_cpu},
          {.name = "cuda", .compute_mode = "GPU", .make = cuda::make_gpu}};
}

std::vector<AbsentTarget> absent_targets() {
  return {};
}

}  // namespace cosmic::target
