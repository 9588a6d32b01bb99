#include "session/evaluation_model.hpp"

#include <optional>

#include "artifact/artifact_file.hpp"
#include "compile/pipeline.hpp"
#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "session/planning.hpp"
#include "session/program.hpp"

namespace cosmic::session {

class EvaluationModel::Implementation {
 public:
  Implementation(const model::Network& network, const model::Loss& loss, Options options,
                 std::shared_ptr<ModelState> state)
      : network_(network),
        loss_(loss),
        options_(std::move(options)),
        target_(chosen_target(options_)),
        state_(std::move(state)) {}

  const CompileReport& compile(const BatchTypes& types) {
    const Stopwatch watch;
    graph::Builder g;
    const graph::ValueId image = g.input(kImage, types.image);
    const graph::ValueId label = g.input(kLabel, types.label);
    const graph::ValueId logits = network_.logits(g, image, model::Phase::evaluation);
    g.output(compile::kLossOutput, loss_.loss(g, logits, label));
    if (options_.outputs.logits) {
      g.output(kLogits, logits);
    }
    compile::Plan plan =
        plan_program(g.take(), compile::inference_passes(target_->info(), precision_of(options_)),
                     *target_, options_);
    require_states(*state_, plan.graph);
    program_.emplace(*target_, std::move(plan), *state_, kernel_options(options_));
    CompileReport report;
    program_->add_to(report);
    report.seconds = watch.seconds();
    report_ = std::move(report);
    return *report_;
  }

  const StepResult& run(std::span<const float> image, std::span<const std::uint8_t> label) {
    require_compiled(report_);
    program_->set_input(kImage, std::as_bytes(image));
    program_->set_input(kLabel, std::as_bytes(label));
    program_->run();
    result_ = {program_->output(compile::kLossOutput)[0], program_->output(kScores),
               program_->output(kLogits)};
    return result_;
  }

  std::vector<const compile::Plan*> plans() const {
    require_compiled(report_);
    return {&program_->plan()};
  }

 private:
  const model::Network& network_;
  const model::Loss& loss_;
  Options options_;
  std::unique_ptr<target::Target> target_;
  std::shared_ptr<ModelState> state_;  // shared with the training model it comes from
  std::optional<Program> program_;
  std::optional<CompileReport> report_;
  StepResult result_;
};

EvaluationModel::EvaluationModel(const model::Network& network, const model::Loss& loss,
                                 Options options, std::shared_ptr<ModelState> state)
    : implementation_(
          std::make_unique<Implementation>(network, loss, std::move(options), std::move(state))) {}
EvaluationModel::~EvaluationModel() = default;
EvaluationModel::EvaluationModel(EvaluationModel&&) noexcept = default;
EvaluationModel& EvaluationModel::operator=(EvaluationModel&&) noexcept = default;

const CompileReport& EvaluationModel::compile(const BatchTypes& types) {
  return implementation_->compile(types);
}

const StepResult& EvaluationModel::operator()(std::span<const float> image,
                                              std::span<const std::uint8_t> label) {
  return implementation_->run(image, label);
}

std::vector<const compile::Plan*> EvaluationModel::plans() const {
  return implementation_->plans();
}

void EvaluationModel::export_executable(const std::filesystem::path& path,
                                        Existing existing) const {
  artifact::save_artifact(path, plans(), existing);
}

}  // namespace cosmic::session
