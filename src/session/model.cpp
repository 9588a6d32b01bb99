#include "session/model.hpp"

#include "compile/pipeline.hpp"
#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "core/threads.hpp"
#include "session/program.hpp"
#include "target/registry.hpp"

namespace cosmic::session {
namespace {

constexpr const char* kImage = "image";
constexpr const char* kLabel = "label";
constexpr const char* kLogits = "logits";
constexpr const char* kScores = "scores";

// The share of compiling that goes into passes, for the progress bar; the rest prepares kernels.
constexpr double kShareOfPasses = 0.5;

std::unique_ptr<target::Target> chosen_target(const Options& options) {
  validate(options);
  return target::make_target(options.target.empty() ? target::target_names().front()
                                                    : options.target);
}

int chosen_threads(const Options& options) {
  return options.threads == 0 ? available_cores() : options.threads;
}

compile::Plan plan_program(graph::Graph graph, const std::vector<compile::Pass>& passes,
                           const target::Target& target, const Options& options) {
  target::require_support(target, graph);
  compile::PipelineOptions pipeline{options.disabled_passes, options.dump, {}};
  if (options.progress) {
    pipeline.progress = [&](double done, const std::string& pass) {
      options.progress(done * kShareOfPasses, pass);
    };
  }
  compile::Plan plan = compile::make_plan(std::move(graph), passes, target.info(), pipeline);
  target::require_support(target, plan.graph);
  return plan;
}

target::CompileOptions kernel_options(const Options& options) {
  target::CompileOptions result;
  result.threads = chosen_threads(options);
  if (options.progress) {
    result.progress = [&options](double done) {
      options.progress(kShareOfPasses + done * (1 - kShareOfPasses), "kernels");
    };
  }
  return result;
}

void require_compiled(const std::optional<CompileReport>& report) {
  COSMIC_REQUIRE(UserError, report.has_value(),
                 "the model has not been compiled (it has no program to run and no state yet); "
                 "call compile() with the types of a batch first");
}

}  // namespace

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
    const graph::Graph forward = build();
    compile::Plan step =
        plan_program(forward, compile::training_passes(info, optimizer_, use), *target_, options_);
    std::optional<compile::Plan> update;
    std::vector<const graph::Graph*> programs{&step.graph};
    if (accumulates) {
      Options quiet = options_;  // pass names to disable and dumps are about the step
      quiet.disabled_passes.clear();
      quiet.dump = nullptr;
      update = plan_program(compile::accumulated_update(forward, optimizer_),
                            compile::finishing_passes(info), *target_, quiet);
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
        plan_program(g.take(), compile::inference_passes(target_->info()), *target_, options_);
    if (state_ == nullptr) {
      state_ = std::make_shared<ModelState>(*target_, std::vector<const graph::Graph*>{&plan.graph},
                                            options_.seed);
    }
    require_states(plan.graph);
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

 private:
  /// A state made for another network would be read where it is not.
  void require_states(const graph::Graph& graph) const {
    for (const graph::StateVariable& state : graph.states) {
      COSMIC_REQUIRE(UserError,
                     state_->has(state.name) && state_->type(state.name) == graph.type(state.value),
                     "the state given to the inference model has no '"
                         << state.name << "' of type " << graph.type(state.value)
                         << " (it belongs to another network); use the network it was made for");
    }
  }

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

}  // namespace cosmic::session
