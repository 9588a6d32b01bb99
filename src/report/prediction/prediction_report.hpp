// What a report on a modelled run is made of.
#pragma once

#include <string>
#include <vector>

#include "machine/prediction.hpp"
#include "machine/scaling.hpp"

namespace cosmic::report::prediction {

struct PredictionReport {
  machine::Description machine;
  machine::Prediction prediction;
  std::string what_runs;                          ///< "a21, training, bfloat16"
  double events = 1;                              ///< of one step, on all replicas
  std::vector<machine::ScalingRow> scaling = {};  ///< may be empty
  std::string configuration = {};                 ///< as YAML
  std::string date = {};
};

}  // namespace cosmic::report::prediction
