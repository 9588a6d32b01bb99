// The training curve behind the weights, from the files that a run leaves next to its checkpoints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cosmic::report::evaluation {

struct CurvePoint {
  std::int64_t step = 0;
  double loss = 0;
  double mean_iou = 0;
};

struct TrainingCurve {
  std::vector<CurvePoint> training;    ///< empty if the run has left no such file
  std::vector<CurvePoint> validation;  ///< likewise
};

/// The curve of the run whose checkpoint folder holds the weights. Incomplete rows are skipped: a
/// run may still be writing.
TrainingCurve read_training_curve(const std::filesystem::path& weights);

/// Averages over stretches of the curve, so that at most `count` points remain.
std::vector<CurvePoint> thinned(const std::vector<CurvePoint>& curve, std::size_t count);

}  // namespace cosmic::report::evaluation
