#include "session/call_results.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "comm/communicator.hpp"
#include "compile/passes/passes.hpp"
#include "session/planning.hpp"

namespace cosmic::session {

CallResults::CallResults(const Options& options, const Program& program)
    : shape_(call_shape(options)),
      communicator_(options.communicator),
      processes_(communicator_ == nullptr ? 1 : communicator_->size()),
      width_(1 + program.output(kScores).size()),
      own_(static_cast<std::size_t>(shape_.per_update()) * width_),
      of_all_(own_.size() * static_cast<std::size_t>(processes_)) {
  const auto output = [&](const char* name, OutputMode automatic, std::int64_t batches) {
    return CallOutput(
        options.output_mode == OutputMode::automatic ? automatic : options.output_mode,
        options.output_every, batches, program.output(name).size());
  };
  losses_ = output(compile::kLossOutput, OutputMode::mean, shape_.batches() * processes_);
  scores_ = output(kScores, OutputMode::mean, shape_.batches() * processes_);
  logits_ = output(kLogits, OutputMode::last, shape_.batches());
}

void CallResults::begin() {
  loss_sum_ = 0;
  loss_scale_.reset();
  lost_replica_.reset();
  skipped_updates_ = 0;
}

void CallResults::take(std::int64_t batch, const Program& program) {
  const std::int64_t in_update = batch % shape_.per_update();
  if (in_update == 0) {  // what is not computed any more is no number
    std::fill(own_.begin(), own_.end(), std::numeric_limits<float>::quiet_NaN());
  }
  const auto place = own_.begin() + in_update * static_cast<std::int64_t>(width_);
  const std::span<const float> scores = program.output(kScores);
  *place = program.output(compile::kLossOutput)[0];
  std::copy(scores.begin(), scores.end(), place + 1);
  logits_.take(batch, program.output(kLogits));
}

void CallResults::bring_together() {
  if (communicator_ == nullptr) {
    of_all_ = own_;
  } else {
    communicator_->gather(std::as_bytes(std::span(own_)),
                          std::as_writable_bytes(std::span(of_all_)));
  }
}

float CallResults::take_number(std::int64_t update, std::int64_t i) {
  const std::span<const float> numbers =
      std::span(of_all_).subspan(static_cast<std::size_t>(i) * width_, width_);
  const std::int64_t batch = update * batches_of_all() + i;
  loss_sum_ += numbers[0];
  losses_.take(batch, numbers.first(1));
  scores_.take(batch, numbers.subspan(1));
  return numbers[0];
}

bool CallResults::complete_update(std::int64_t update) {
  bring_together();
  for (std::int64_t i = 0; i < batches_of_all(); ++i) {
    if (!std::isfinite(take_number(update, i))) {
      lost_replica_ = i / shape_.accumulation;
      losses_.end_before(update * batches_of_all() + i + 1);
      scores_.end_before(update * batches_of_all() + i + 1);
      logits_.end_before(update * shape_.per_update() + i % shape_.per_update() + 1);
      return false;
    }
  }
  return true;
}

void CallResults::complete(std::int64_t update) {
  bring_together();
  for (std::int64_t i = 0; i < batches_of_all(); ++i) {
    take_number(update, i);
  }
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
  result_ = {loss_sum_ / static_cast<double>(shape_.batches() * processes_),
             losses_.values(),
             scores_.values(),
             logits_.values(),
             loss_scale_,
             lost_replica_,
             skipped_updates_};
  return result_;
}

}  // namespace cosmic::session
