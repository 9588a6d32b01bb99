// Validation: the loss and the scores that the weights of another model give.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "model/network.hpp"
#include "session/compile_report.hpp"
#include "session/model_state.hpp"
#include "session/options.hpp"
#include "session/step_result.hpp"

namespace cosmic::session {

/// Loss and scores of labelled batches with the weights of another model, without changing them:
/// validation while training.
class EvaluationModel {
 public:
  EvaluationModel(const model::Network& network, const model::Loss& loss, Options options,
                  std::shared_ptr<ModelState> state);
  ~EvaluationModel();
  EvaluationModel(EvaluationModel&&) noexcept;
  EvaluationModel& operator=(EvaluationModel&&) noexcept;

  const CompileReport& compile(const BatchTypes& types);

  const StepResult& operator()(std::span<const float> image, std::span<const std::uint8_t> label);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cosmic::session
