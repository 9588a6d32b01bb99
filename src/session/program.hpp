// One planned program with buffers for what goes in and out, so that a call allocates nothing. It
// runs while it is attached: then an executable holds its arena and its kernels on the target.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/plan.hpp"
#include "session/compile_report.hpp"
#include "session/memory_use.hpp"
#include "session/model_state.hpp"
#include "session/tensor.hpp"
#include "target/target.hpp"

namespace cosmic::session {

class Program {
 public:
  explicit Program(compile::Plan plan);

  /// Makes the executable; the state has all that the program names.
  void attach(const target::Target& target, const ModelState& state,
              const target::CompileOptions& options);
  /// Gives its memory back. Throws UserError while a run is in flight.
  void detach();
  bool attached() const { return executable_ != nullptr; }

  const graph::Graph& graph() const { return plan_.graph; }

  /// What the next run is given for an input; its memory stays as it is until wait().
  void set_input(std::string_view name, const target::RunInput& input);
  /// What the run after the one in flight will be given for it, which a target may fetch meanwhile
  /// (target::Executable::stage). set_input() comes as ever; memory stays until wait() of that run.
  void stage(std::string_view name, const target::RunInput& input);
  /// An input that is handed over once: later runs find it where it is. Noise for images, zeros and
  /// ones for labels, which are classes of every classifier.
  void make_synthetic(std::string_view name, std::uint64_t seed);
  /// Begins a run. Until wait() the outputs are still those of the run before.
  void submit();
  void wait();
  /// Both.
  void run();
  bool in_flight() const { return attached() && executable_->in_flight(); }
  /// target::Executable::most_in_flight.
  int most_in_flight() const { return attached() ? executable_->most_in_flight() : 1; }
  /// The floats of an output after a run; empty if there is no such output, or nothing was ever
  /// attached.
  std::span<const float> output(std::string_view name) const;
  const target::RunTimes& run_times() const { return executable_->run_times(); }

  const compile::Plan& plan() const { return plan_; }
  void add_to(CompileReport& report) const;
  std::vector<OpTiming> timings() const;
  MemoryUse memory() const { return memory_use(plan_); }

 private:
  struct Synthetic {
    std::size_t input;
    Tensor data;
  };

  void make_outputs();
  std::size_t input_index(std::string_view name) const;

  compile::Plan plan_;
  std::unique_ptr<target::Executable> executable_;
  double kernels_seconds_ = 0;
  std::vector<target::RunInput> inputs_;
  std::vector<target::RunInput> staged_;  ///< and found fit, since the last submit()
  std::vector<Synthetic> synthetic_;
  std::vector<Tensor> outputs_;
  std::vector<std::span<std::byte>> output_spans_;
};

}  // namespace cosmic::session
