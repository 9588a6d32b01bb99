// All programs of a run, compiled before it: what `cosmictagger compile` puts into a file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "core/provenance.hpp"
#include "data/dense_image.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "session/model.hpp"

namespace cosmic::run {

class RunPrograms {
 public:
  /// Compiles a training step and a validation with mode=train, else an inference. `progress` hears
  /// which part is done and what is under way.
  RunPrograms(const config::Configuration& configuration, const std::string& target,
              const data::DenseShape& shape,
              const std::function<void(double done, const std::string& what)>& progress);

  /// They live as long as this.
  const std::vector<const compile::Plan*>& plans() const { return plans_; }
  double seconds() const { return seconds_; }
  Provenance provenance() const { return provenance_; }
  std::int64_t memory_bytes() const { return memory_bytes_; }

 private:
  template <class Model, class Types>
  void add_compiled(Model& model, const Types& types);

  model::UResNet network_;
  model::SegmentationLoss loss_;
  std::optional<session::TrainingModel> training_;
  std::optional<session::EvaluationModel> validation_;
  std::optional<session::InferenceModel> inference_;
  std::vector<const compile::Plan*> plans_;
  double seconds_ = 0;
  Provenance provenance_ = Provenance::measured;  ///< of the seconds
  std::int64_t memory_bytes_ = 0;
};

}  // namespace cosmic::run
