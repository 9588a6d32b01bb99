#include "session/inference_model.hpp"

#include <optional>

#include "artifact/artifact_file.hpp"
#include "compile/pipeline.hpp"
#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "session/planning.hpp"
#include "session/program.hpp"

namespace cosmic::session {

class InferenceModel::Implementation {
 public:
  Implementation(const model::Network& network, Options options, std::shared_ptr<ModelState> state)
      : network_(network),
        options_(std::move(options)),
        target_(chosen_target(options_)),
        state_(std::move(state)) {}

  const CompileReport& compile(const graph::TensorType& image_type) {
    const Stopwatch watch;
    graph::Builder g;
    const graph::ValueId image = g.input(kImage, image_type);
    g.output(kLogits, network_.logits(g, image, model::Phase::evaluation));
    compile::Plan plan =
        plan_program(g.take(), compile::inference_passes(target_->info(), precision_of(options_)),
                     *target_, options_);
    if (state_ == nullptr) {
      state_ = std::make_shared<ModelState>(*target_, std::vector<const graph::Graph*>{&plan.graph},
                                            options_.seed);
    }
    require_states(*state_, plan.graph);
    program_.emplace(*target_, std::move(plan), *state_, kernel_options(options_));
    CompileReport report;
    program_->add_to(report);
    if (options_.progress) {
      options_.progress(1, "done");
    }
    report.seconds = watch.seconds();
    report_ = std::move(report);
    return *report_;
  }

  std::span<const float> run(std::span<const float> image) {
    require_compiled(report_);
    program_->set_input(kImage, std::as_bytes(image));
    program_->run();
    return program_->output(kLogits);
  }

  const std::shared_ptr<ModelState>& state() const {
    require_compiled(report_);
    return state_;
  }

  const CompileReport& report() const {
    require_compiled(report_);
    return *report_;
  }

  std::vector<OpTiming> timings() const {
    require_compiled(report_);
    return program_->timings();
  }

  std::vector<const compile::Plan*> plans() const {
    require_compiled(report_);
    return {&program_->plan()};
  }

 private:
  const model::Network& network_;
  Options options_;
  std::unique_ptr<target::Target> target_;
  std::shared_ptr<ModelState> state_;  // shared with the training model it may come from
  std::optional<Program> program_;
  std::optional<CompileReport> report_;
};

InferenceModel::InferenceModel(const model::Network& network, Options options,
                               std::shared_ptr<ModelState> state)
    : implementation_(
          std::make_unique<Implementation>(network, std::move(options), std::move(state))) {}
InferenceModel::~InferenceModel() = default;
InferenceModel::InferenceModel(InferenceModel&&) noexcept = default;
InferenceModel& InferenceModel::operator=(InferenceModel&&) noexcept = default;

const CompileReport& InferenceModel::compile(const graph::TensorType& image) {
  return implementation_->compile(image);
}

std::span<const float> InferenceModel::operator()(std::span<const float> image) {
  return implementation_->run(image);
}

const std::shared_ptr<ModelState>& InferenceModel::state() const {
  return implementation_->state();
}

const CompileReport& InferenceModel::report() const {
  return implementation_->report();
}

std::vector<OpTiming> InferenceModel::timings() const {
  return implementation_->timings();
}

std::vector<const compile::Plan*> InferenceModel::plans() const {
  return implementation_->plans();
}

void InferenceModel::export_executable(const std::filesystem::path& path, Existing existing) const {
  artifact::save_artifact(path, plans(), existing);
}

}  // namespace cosmic::session
