// One compiled program with buffers for what goes in and out, so that a call allocates nothing.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compile/pipeline.hpp"
#include "session/compile_report.hpp"
#include "session/model_state.hpp"
#include "session/tensor.hpp"
#include "target/target.hpp"

namespace cosmic::session {

class Program {
 public:
  Program(const target::Target& target, compile::Plan plan, const ModelState& state,
          const target::CompileOptions& options);

  /// Hands over the bytes of an input for the next run.
  void set_input(const std::string& name, std::span<const std::byte> bytes);
  void run();
  /// The floats of an output after a run; empty if there is no such output.
  std::span<const float> output(const std::string& name) const;

  const compile::Plan& plan() const { return plan_; }
  void add_to(CompileReport& report) const;
  std::vector<OpTiming> timings() const;

 private:
  compile::Plan plan_;
  std::unique_ptr<target::Executable> executable_;
  std::vector<std::span<const std::byte>> inputs_;
  std::vector<Tensor> outputs_;
  std::vector<std::span<std::byte>> output_spans_;
};

}  // namespace cosmic::session
