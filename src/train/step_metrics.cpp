#include "train/step_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "model/segmentation_loss.hpp"

namespace cosmic::train {

output::Metrics metrics_of(const session::StepResult& result) {
  static const std::vector<std::string> names = model::score_names();
  output::Metrics metrics{{"loss", result.loss}};
  for (std::size_t i = 0; i < result.scores.size(); ++i) {
    metrics.push_back({names[i], static_cast<double>(result.scores[i])});
  }
  if (result.loss_scale) {
    metrics.push_back({"loss_scale", *result.loss_scale});
  }
  return metrics;
}

double value_of(const output::Metrics& metrics, std::string_view key) {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const output::Metric& m) { return m.key == key; });
  return found == metrics.end() ? std::nan("") : found->value;
}

}  // namespace cosmic::train
