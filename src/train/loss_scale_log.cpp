#include "train/loss_scale_log.hpp"

#include <array>
#include <charconv>
#include <string>

namespace cosmic::train {
namespace {

/// Scales are powers of two: every digit of one counts.
std::string text_of(double scale) {
  std::array<char, 32> text{};  // the longest shortest double has 24 characters
  return {text.data(), std::to_chars(text.begin(), text.end(), scale).ptr};
}

}  // namespace

void LossScaleLog::add(std::int64_t step, const session::StepResult& result) {
  if (!result.loss_scale) {
    return;
  }
  const double scale = *result.loss_scale;
  say_change(step, scale, result.skipped_updates);
  scale_ = scale;
  warn_of_small(step, scale);
}

void LossScaleLog::say_change(std::int64_t step, double scale, std::int64_t skipped) {
  const std::string next = text_of(scale);
  if (skipped > 0) {
    log_.info("Step " + std::to_string(step) +
              " was skipped: its gradients are not finite, so the loss scale was too large; the "
              "next step has " +
              next + ".");
  } else if (!scale_) {
    log_.info("The loss is scaled: the scale after step " + std::to_string(step) + " is " + next +
              ".");
  } else if (*scale_ != scale) {
    log_.info("The loss scale is " + next + " after step " + std::to_string(step) + ", it was " +
              text_of(*scale_) + ".");
  }
}

void LossScaleLog::warn_of_small(std::int64_t step, double scale) {
  small_steps_ = scale < 1 ? small_steps_ + 1 : 0;
  if (small_steps_ != kLong) {
    return;
  }
  log_.warning("The loss scale has been below 1 for " + std::to_string(kLong) + " steps, it is " +
               text_of(scale) + " after step " + std::to_string(step) +
               ": gradients are not finite for another reason than the scale, or too large for "
               "float16. Use run.precision=bfloat16, or a smaller mode.optimizer.learning_rate.");
}

}  // namespace cosmic::train
