#include "train/non_finite_state.hpp"

#include <sstream>
#include <utility>

namespace cosmic::train {
namespace {

std::string end_of_state(std::int64_t step, double loss, const checkpoint::NonFinite& found,
                         const std::filesystem::path& newest) {
  std::ostringstream text;
  text << "after step " << step - 1 << " " << found.text() << " (the loss is " << loss
       << ", but nothing that such a state computes can be relied on, so it was not saved); ";
  if (newest.empty()) {
    text << "there is no checkpoint yet";
  } else {
    text << "the newest checkpoint is " << newest.string()
         << ", from which the same command goes on";
  }
  text << ": look for huge charges with `cosmictagger data check`, or use a smaller "
          "mode.optimizer.learning_rate";
  return text.str();
}

}  // namespace

NonFiniteState::NonFiniteState(std::int64_t at_step, double loss, checkpoint::NonFinite what,
                               std::filesystem::path newest_before)
    : DataError(end_of_state(at_step, loss, what, newest_before)),
      step(at_step),
      found(std::move(what)),
      newest(std::move(newest_before)) {}

}  // namespace cosmic::train
