#include "session/call_output.hpp"

#include <algorithm>
#include <limits>

#include "core/error.hpp"

namespace cosmic::session {
namespace {

std::int64_t results_kept(OutputMode mode, std::int64_t every, std::int64_t batches) {
  switch (mode) {
    case OutputMode::all:
      return batches;
    case OutputMode::every_n:
      return batches / every;
    case OutputMode::sum:
    case OutputMode::mean:
      return 1;
    case OutputMode::last:
      return 0;
    case OutputMode::automatic:
      break;
  }
  throw InternalError("an output of a call has no mode of its own");
}

}  // namespace

CallOutput::CallOutput(OutputMode mode, std::int64_t every, std::int64_t batches,
                       std::size_t elements)
    // For a single result all modes are the same, and the last one needs no copy.
    : mode_(batches == 1 ? OutputMode::last : mode),
      every_(every),
      batches_(batches),
      elements_(static_cast<std::int64_t>(elements)),
      kept_(static_cast<std::size_t>(results_kept(mode_, every, batches)) * elements) {}

void CallOutput::copy_to(std::int64_t place, std::span<const float> result) {
  std::copy(result.begin(), result.end(),
            kept_.begin() + place * static_cast<std::int64_t>(result.size()));
}

void CallOutput::take(std::int64_t batch, std::span<const float> result) {
  if (mode_ == OutputMode::last) {
    values_ = result;
    return;
  }
  values_ = kept_;
  if (mode_ == OutputMode::all) {
    copy_to(batch, result);
  } else if (mode_ == OutputMode::every_n) {
    if ((batch + 1) % every_ == 0) {
      copy_to(batch / every_, result);
    }
  } else {
    if (batch == 0) {
      std::fill(kept_.begin(), kept_.end(), 0.0F);
    }
    const auto share = static_cast<float>(mode_ == OutputMode::mean ? batches_ : 1);
    for (std::size_t i = 0; i < result.size(); ++i) {
      kept_[i] += result[i] / share;
    }
  }
}

void CallOutput::end_before(std::int64_t batch) {
  if (mode_ == OutputMode::last || batch == batches_) {
    return;
  }
  std::int64_t place = 0;  // a sum has lost its meaning altogether
  if (mode_ == OutputMode::all || mode_ == OutputMode::every_n) {
    place = mode_ == OutputMode::all ? batch : batch / every_;
  }
  std::fill(kept_.begin() + place * elements_, kept_.end(),
            std::numeric_limits<float>::quiet_NaN());
}

}  // namespace cosmic::session
