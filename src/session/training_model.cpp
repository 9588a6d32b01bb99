#include "session/training_model.hpp"

#include <optional>

#include "artifact/artifact_file.hpp"
#include "compile/pipeline.hpp"
#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "session/planning.hpp"
#include "session/program.hpp"

namespace cosmic::session {

class TrainingModel::Implementation {
 public:
  Implementation(const model::Network& network, const model::Loss& loss,
                 compile::Optimizer optimizer, Options options)
      : network_(network),
        loss_(loss),
        optimizer_(optimizer),
        options_(std::move(options)),
        target_(chosen_target(options_)) {}

  const CompileReport& compile(const BatchTypes& types) {
    const Stopwatch watch;
    types_ = types;
    const compile::TargetInfo info = target_->info();
    const bool accumulates = options_.gradient_accumulation > 1;
    const bool mean = options_.accumulation_reduction == Reduction::mean;
    const compile::GradientUse use{
        accumulates ? compile::GradientUse::Kind::accumulate : compile::GradientUse::Kind::update,
        mean ? 1.0 / static_cast<double>(options_.gradient_accumulation) : 1.0,
        options_.outputs.gradients ? compile::Keep::gradients : compile::Keep::nothing};
    const compile::Precision precision = precision_of(options_);
    const graph::Graph forward = build();
    compile::Plan step = plan_program(
        forward, compile::training_passes(info, optimizer_, use, precision), *target_, options_);
    std::optional<compile::Plan> update;
    std::vector<const graph::Graph*> programs{&step.graph};
    if (accumulates) {
      Options quiet = options_;  // pass names to disable and dumps are about the step
      quiet.disabled_passes.clear();
      quiet.dump = nullptr;
      update = plan_program(compile::accumulated_update(forward, optimizer_),
                            compile::finishing_passes(info, precision), *target_, quiet);
      programs.push_back(&update->graph);
    }
    state_ = std::make_shared<ModelState>(*target_, programs, options_.seed);
    const target::CompileOptions kernels = kernel_options(options_);
    step_.emplace(*target_, std::move(step), *state_, kernels);
    CompileReport report;
    step_->add_to(report);
    if (update) {
      update_.emplace(*target_, std::move(*update), *state_, kernels);
      update_->add_to(report);
    }
    result_.scores = {};
    scores_.assign(step_->output(kScores).size(), 0);
    if (options_.progress) {
      options_.progress(1, "done");
    }
    report.seconds = watch.seconds();
    report_ = std::move(report);
    return *report_;
  }

  const StepResult& run(std::span<const float> image, std::span<const std::uint8_t> label,
                        double learning_rate) {
    require_compiled(report_);
    const auto batches = static_cast<std::size_t>(options_.gradient_accumulation);
    const auto rate = static_cast<float>(learning_rate);
    COSMIC_REQUIRE(UserError, image.size() % batches == 0 && label.size() % batches == 0,
                   "an image of " << image.size() << " and a label of " << label.size()
                                  << " elements were given (gradient_accumulation is " << batches
                                  << ", so both must hold that many batches); give all batches of "
                                     "an update one after the other");
    const std::size_t pixels = image.size() / batches;
    const std::size_t labels = label.size() / batches;
    double loss = 0;
    std::fill(scores_.begin(), scores_.end(), 0.0F);
    for (std::size_t i = 0; i < batches; ++i) {
      step_->set_input(kImage, std::as_bytes(image.subspan(i * pixels, pixels)));
      step_->set_input(kLabel, std::as_bytes(label.subspan(i * labels, labels)));
      step_->set_input(compile::kLearningRateInput, std::as_bytes(std::span(&rate, 1)));
      step_->run();
      loss += step_->output(compile::kLossOutput)[0];
      const std::span<const float> scores = step_->output(kScores);
      for (std::size_t k = 0; k < scores.size(); ++k) {
        scores_[k] += scores[k] / static_cast<float>(batches);
      }
    }
    if (update_) {
      update_->set_input(compile::kLearningRateInput, std::as_bytes(std::span(&rate, 1)));
      update_->run();
    }
    result_ = {loss / static_cast<double>(batches), scores_, step_->output(kLogits)};
    return result_;
  }

  std::span<const float> gradient(const std::string& parameter) const {
    require_compiled(report_);
    const std::span<const float> found = step_->output(compile::gradient_name(parameter));
    COSMIC_REQUIRE(UserError, !found.empty(),
                   "no gradient of '" << parameter
                                      << "' was kept (either it is not a parameter, or gradients "
                                         "were not asked for); set Options::outputs.gradients");
    return found;
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
    return step_->timings();
  }

  std::vector<const compile::Plan*> plans() const {
    require_compiled(report_);
    std::vector<const compile::Plan*> plans{&step_->plan()};
    if (update_) {
      plans.push_back(&update_->plan());
    }
    return plans;
  }

 private:
  graph::Graph build() const {
    graph::Builder g;
    const graph::ValueId image = g.input(kImage, types_.image);
    const graph::ValueId label = g.input(kLabel, types_.label);
    const graph::ValueId logits = network_.logits(g, image, model::Phase::training);
    g.output(compile::kLossOutput, loss_.loss(g, logits, label));
    if (options_.outputs.logits) {
      g.output(kLogits, logits);
    }
    return g.take();
  }

  const model::Network& network_;
  const model::Loss& loss_;
  compile::Optimizer optimizer_;
  Options options_;
  std::unique_ptr<target::Target> target_;
  BatchTypes types_;
  std::shared_ptr<ModelState> state_;  // inference models made from this one hold it too
  std::optional<Program> step_;
  std::optional<Program> update_;
  std::optional<CompileReport> report_;
  std::vector<float> scores_;
  StepResult result_;
};

TrainingModel::TrainingModel(const model::Network& network, const model::Loss& loss,
                             compile::Optimizer optimizer, Options options)
    : implementation_(
          std::make_unique<Implementation>(network, loss, optimizer, std::move(options))) {}
TrainingModel::~TrainingModel() = default;
TrainingModel::TrainingModel(TrainingModel&&) noexcept = default;
TrainingModel& TrainingModel::operator=(TrainingModel&&) noexcept = default;

const CompileReport& TrainingModel::compile(const BatchTypes& types) {
  return implementation_->compile(types);
}

const StepResult& TrainingModel::operator()(std::span<const float> image,
                                            std::span<const std::uint8_t> label,
                                            double learning_rate) {
  return implementation_->run(image, label, learning_rate);
}

std::span<const float> TrainingModel::gradient(const std::string& parameter) const {
  return implementation_->gradient(parameter);
}

const std::shared_ptr<ModelState>& TrainingModel::state() const {
  return implementation_->state();
}

const CompileReport& TrainingModel::report() const {
  return implementation_->report();
}

std::vector<OpTiming> TrainingModel::timings() const {
  return implementation_->timings();
}

std::vector<const compile::Plan*> TrainingModel::plans() const {
  return implementation_->plans();
}

void TrainingModel::export_executable(const std::filesystem::path& path, Existing existing) const {
  artifact::save_artifact(path, plans(), existing);
}

}  // namespace cosmic::session
