#include "session/training_model.hpp"

#include "compile/pipeline.hpp"
#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "machine/recomputation.hpp"
#include "session/call_results.hpp"
#include "session/model_core.hpp"
#include "session/predicting.hpp"
#include "session/replica_buffers.hpp"

namespace cosmic::session {
namespace {

/// The part of each micro-batch's gradient in an update.
double gradient_share(const Options& options) {
  const auto part = [](Reduction reduction, std::int64_t of) {
    return reduction == Reduction::mean ? 1.0 / static_cast<double>(of) : 1.0;
  };
  return part(options.accumulation_reduction, options.gradient_accumulation) *
         part(options.replica_reduction, options.replication_factor);
}

}  // namespace

class TrainingModel::Implementation {
 public:
  Implementation(ModelCore& core, const model::Network& network, const model::Loss& loss,
                 compile::Optimizer optimizer)
      : core_(core), network_(network), loss_(loss), optimizer_(optimizer) {}

  const CompileReport& compile(const BatchTypes& types) {
    const Stopwatch watch;
    const Options& options = core_.options();
    std::vector<compile::Plan> plans;
    const graph::Graph forward = build(types);
    checkpoints_ = chosen_checkpoints(forward);
    std::optional<machine::Prediction> prediction = predict_step(forward);
    plans.push_back(plan_program(forward, step_passes(), core_.target(), options));
    if (accumulates()) {
      Options quiet = options;  // pass names to disable and dumps are about the step
      quiet.disabled_passes.clear();
      quiet.dump = nullptr;
      plans.push_back(
          plan_program(compile::accumulated_update(forward, update_rule()),
                       compile::finishing_passes(core_.target().info(), precision_of(options)),
                       core_.target(), quiet));
    }
    core_.install(std::move(plans), std::move(prediction), watch);
    prepare_call();
    if (options.progress) {
      options.progress(1, "done");
    }
    return core_.report();
  }

  const StepResult& run(std::span<const float> image, std::span<const std::uint8_t> label,
                        double learning_rate) {
    core_.require_runnable();
    core_.require_whole_batches(image.size(), label.size());
    const Stopwatch watch;
    core_.recorder().begin();
    rate_ = static_cast<float>(learning_rate);
    set_optimizer_inputs();
    const CallShape shape = core_.shape();
    results_.begin();
    std::int64_t batch = 0;
    for (std::int64_t iteration = 0; iteration < shape.iterations; ++iteration) {
      for (std::int64_t replica = 0; replica < shape.replicas; ++replica) {
        buffers_->begin_replica(replica, *core_.state()->bank());
        for (std::int64_t i = 0; i < shape.accumulation; ++i) {
          run_micro_batch(batch++, image, label);
        }
        buffers_->end_replica(replica, *core_.state()->bank());
      }
      update();
    }
    core_.recorder().end(watch.seconds());
    return results_.end();
  }

  void set_optimizer(const compile::Optimizer& optimizer) {
    if (core_.options().variable_optimizer) {
      compile::require_same_kind(optimizer_, optimizer);
    } else {
      compile::require_same_constants(optimizer_, optimizer);
    }
    optimizer_ = optimizer;
  }

  const compile::Optimizer& optimizer() const { return optimizer_; }

  std::span<const float> gradient(const std::string& parameter) const {
    core_.require_compiled();
    const std::span<const float> found = core_.program().output(compile::gradient_name(parameter));
    COSMIC_REQUIRE(UserError, !found.empty(),
                   "no gradient of '" << parameter
                                      << "' was kept (either it is not a parameter, or gradients "
                                         "were not asked for); set Options::outputs.gradients");
    return found;
  }

 private:
  bool accumulates() const { return core_.shape().per_update() > 1; }
  Program& updating_program() { return core_.program(accumulates() ? 1 : 0); }

  compile::UpdateRule update_rule() const {
    return {optimizer_, core_.options().variable_optimizer ? compile::Constants::inputs
                                                           : compile::Constants::fixed};
  }

  graph::Graph build(const BatchTypes& types) {
    graph::Builder g;
    const graph::ValueId image = g.input(kImage, types.image);
    const graph::ValueId label = g.input(kLabel, types.label);
    const graph::ValueId logits = network_.logits(g, image, model::Phase::training);
    g.output(compile::kLossOutput, loss_.loss(g, logits, label));
    if (core_.options().outputs.logits) {
      g.output(kLogits, logits);
    }
    return core_.finish(g);
  }

  /// Of an update, however many micro-batches it takes.
  std::optional<machine::Prediction> predict_step(const graph::Graph& forward) const {
    const Options& options = core_.options();
    std::vector<compile::Pass> passes = compile::training_passes(
        core_.target().machine_info(), update_rule(), {}, precision_of(options));
    add_recomputation(passes);
    return predict_program(forward, passes, core_.target(), options, Purpose::training);
  }

  /// Those that the options name, or the best if they leave the choice. What is best depends on the
  /// machine that the step is for, not on the host that may compute in its place.
  std::vector<std::string> chosen_checkpoints(const graph::Graph& forward) const {
    const Options& options = core_.options();
    if (!options.recompute) {
      return options.recomputation_checkpoints;
    }
    std::vector<compile::PassReport> ignored;
    return machine::best_checkpoints(
        compile::run_pipeline(forward,
                              compile::training_passes(core_.target().machine_info(), update_rule(),
                                                       {}, precision_of(options)),
                              {}, ignored));
  }

  void add_recomputation(std::vector<compile::Pass>& passes) const {
    if (!checkpoints_.empty()) {
      passes.push_back(compile::recompute_between_checkpoints(checkpoints_));
    }
  }

  std::vector<compile::Pass> step_passes() const {
    const Options& options = core_.options();
    const compile::GradientUse use{
        accumulates() ? compile::GradientUse::Kind::accumulate : compile::GradientUse::Kind::update,
        gradient_share(options),
        options.outputs.gradients ? compile::Keep::gradients : compile::Keep::nothing};
    std::vector<compile::Pass> passes =
        compile::training_passes(core_.target().info(), update_rule(), use, precision_of(options));
    add_recomputation(passes);
    return passes;
  }

  /// Everything a call needs memory for.
  void prepare_call() {
    const Options& options = core_.options();
    results_ = CallResults(options, core_.program());
    buffers_.emplace(core_.program().graph(), options.replication_factor,
                     options.replica_statistics);
    if (options.synthetic_data) {
      core_.program().make_synthetic(kImage, options.seed);
      core_.program().make_synthetic(kLabel, options.seed);
    }
  }

  void set_optimizer_inputs() {
    Program& program = updating_program();
    program.set_input(compile::kLearningRateInput, std::as_bytes(std::span(&rate_, 1)));
    if (core_.options().variable_optimizer) {
      constants_ = compile::constants_of(optimizer_);
      program.set_input(compile::kOptimizerInput,
                        std::as_bytes(std::span(constants_.data(), constants_.size())));
    }
  }

  void run_micro_batch(std::int64_t batch, std::span<const float> image,
                       std::span<const std::uint8_t> label) {
    Program& step = core_.program();
    if (!core_.options().synthetic_data) {
      const std::int64_t batches = core_.shape().batches();
      step.set_input(kImage, std::as_bytes(micro_batch(image, batch, batches)));
      step.set_input(kLabel, std::as_bytes(micro_batch(label, batch, batches)));
    }
    step.run();
    core_.recorder().add_micro_batch(step.run_times());
    results_.take(batch, step);
  }

  void update() {
    if (!accumulates()) {
      core_.recorder().count_update();
      return;
    }
    core_.program(1).run();
    core_.recorder().add_update(core_.program(1).run_times());
  }

  ModelCore& core_;
  const model::Network& network_;
  const model::Loss& loss_;
  std::vector<std::string> checkpoints_;  ///< of recomputation
  compile::Optimizer optimizer_;
  compile::OptimizerConstants constants_{};
  float rate_ = 0;
  std::optional<ReplicaBuffers> buffers_;
  CallResults results_;
};

TrainingModel::TrainingModel(const model::Network& network, const model::Loss& loss,
                             compile::Optimizer optimizer, Options options)
    : CompiledModel(std::move(options), Purpose::training, nullptr),
      implementation_(std::make_unique<Implementation>(core(), network, loss, optimizer)) {}
TrainingModel::~TrainingModel() = default;
TrainingModel::TrainingModel(TrainingModel&&) noexcept = default;
TrainingModel& TrainingModel::operator=(TrainingModel&&) noexcept = default;

const CompileReport& TrainingModel::compile(const BatchTypes& types) {
  return implementation_->compile(types);
}

const CompileReport& TrainingModel::compile(const Tensor& sample_image,
                                            const Tensor& sample_label) {
  return compile(
      {core().micro_batch_of(sample_image.type), core().micro_batch_of(sample_label.type)});
}

const StepResult& TrainingModel::operator()(std::span<const float> image,
                                            std::span<const std::uint8_t> label,
                                            double learning_rate) {
  return implementation_->run(image, label, learning_rate);
}

void TrainingModel::set_optimizer(const compile::Optimizer& optimizer) {
  implementation_->set_optimizer(optimizer);
}

const compile::Optimizer& TrainingModel::optimizer() const {
  return implementation_->optimizer();
}

std::span<const float> TrainingModel::gradient(const std::string& parameter) const {
  return implementation_->gradient(parameter);
}

}  // namespace cosmic::session
