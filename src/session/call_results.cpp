#include "session/call_results.hpp"

#include <cmath>

#include "compile/passes/passes.hpp"
#include "session/call_shape.hpp"
#include "session/planning.hpp"

namespace cosmic::session {

CallResults::CallResults(const Options& options, const Program& program)
    : batches_(call_shape(options).batches()) {
  const auto output = [&](const char* name, OutputMode automatic) {
    return CallOutput(
        options.output_mode == OutputMode::automatic ? automatic : options.output_mode,
        options.output_every, batches_, program.output(name).size());
  };
  losses_ = output(compile::kLossOutput, OutputMode::mean);
  scores_ = output(kScores, OutputMode::mean);
  logits_ = output(kLogits, OutputMode::last);
}

void CallResults::begin() {
  loss_sum_ = 0;
  loss_scale_.reset();
  skipped_updates_ = 0;
}

void CallResults::take(std::int64_t batch, const Program& program) {
  const std::span<const float> loss = program.output(compile::kLossOutput);
  loss_sum_ += loss[0];
  losses_.take(batch, loss);
  scores_.take(batch, program.output(kScores));
  logits_.take(batch, program.output(kLogits));
}

void CallResults::take_update(const Program& program) {
  const std::span<const float> scale = program.output(compile::kLossScaleOutput);
  if (scale.empty()) {
    return;
  }
  loss_scale_ = scale[0];
  if (!std::isfinite(program.output(compile::kFiniteGradientsOutput)[0])) {
    ++skipped_updates_;
  }
}

const StepResult& CallResults::end() {
  result_ = {loss_sum_ / static_cast<double>(batches_),
             losses_.values(),
             scores_.values(),
             logits_.values(),
             loss_scale_,
             skipped_updates_};
  return result_;
}

const StepResult& CallResults::end_before(std::int64_t batch) {
  for (CallOutput* const output : {&losses_, &scores_, &logits_}) {
    output->end_before(batch);
  }
  return end();
}

}  // namespace cosmic::session
