#include "session/training_model.hpp"

#include <algorithm>
#include <cmath>

#include "comm/communicator.hpp"
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

std::int64_t processes_of(const Options& options) {
  return options.communicator == nullptr ? 1 : options.communicator->size();
}

compile::Sums sums_of(const Options& options) {
  return options.communicator == nullptr ? compile::Sums::own : compile::Sums::of_all_processes;
}

bool has_synchronized_statistics(const graph::Graph& forward) {
  return std::any_of(forward.nodes().begin(), forward.nodes().end(), compile::is_synchronized);
}

/// Replicas of a process run one after the other: the first would have to wait for the last.
void require_side_by_side(const Options& options) {
  COSMIC_REQUIRE(
      UserError, options.replication_factor == 1,
      "synchronized_statistics is true with "
          << options.replication_factor
          << " replicas in a process (they run one after the other, so the first cannot be "
             "normalized with what the last has yet to compute); use one replica in each of more "
             "processes, or synchronized_statistics=false");
}

/// The part of each micro-batch's gradient in an update.
double gradient_share(const Options& options) {
  const auto part = [](Reduction reduction, std::int64_t of) {
    return reduction == Reduction::mean ? 1.0 / static_cast<double>(of) : 1.0;
  };
  return part(options.accumulation_reduction, options.gradient_accumulation) *
         part(options.replica_reduction, options.replication_factor * processes_of(options));
}

}  // namespace

class TrainingModel::Implementation {
 public:
  Implementation(ModelCore& core, const model::Network& network, const model::Loss& loss,
                 compile::Optimizer optimizer)
      : core_(core),
        network_(network),
        loss_(loss),
        optimizer_(optimizer),
        decay_(core.options().weights_average) {}

  const CompileReport& compile(const BatchTypes& types) {
    const Stopwatch watch;
    const Options& options = core_.options();
    std::vector<compile::Plan> plans;
    const graph::Graph forward = build(types);
    synchronized_ = has_synchronized_statistics(forward);
    if (synchronized_) {
      require_side_by_side(options);
    }
    checkpoints_ = chosen_checkpoints(forward);
    std::optional<machine::Prediction> prediction = predict_step(forward);
    plans.push_back(plan_program(forward, step_passes(), core_.target(), options));
    if (accumulates()) {
      Options quiet = options;  // pass names to disable and dumps are about the step
      quiet.disabled_passes.clear();
      quiet.dump = nullptr;
      const auto plan = [&](const graph::Graph& program) {
        plans.push_back(plan_program(
            program, compile::finishing_passes(core_.target().info(), precision_of(options)),
            core_.target(), quiet));
      };
      plan(compile::accumulated_update(
          forward, update_rule(), options.precision.loss_scaling, sums_of(options),
          sums_replicas() ? compile::AddedUpBy::replica : compile::AddedUpBy::batch,
          exchanges() ? options.exchange_format : NumberFormat::f32));
      if (sums_replicas()) {
        plan(compile::replica_sum(forward, exchange_of_replicas()));
      }
    }
    core_.install(std::move(plans), std::move(prediction), watch);
    prepare_call();
    if (options.progress) {
      options.progress(1, "done");
    }
    return core_.report();
  }

  void submit(const CallBatches& given, double learning_rate) {
    core_.require_runnable();
    core_.require_whole_batches(given);
    COSMIC_REQUIRE(UserError, !call_,
                   "a call was submitted while another is in flight (both would change the same "
                   "state); call wait() before the next submit()");
    drop_runs();
    call_watch_.restart();
    core_.recorder().begin();
    rate_ = static_cast<float>(learning_rate);
    set_optimizer_inputs();
    call_ = given;
    next_.reset();
    try {
      begin_micro_batch(0);
    } catch (...) {
      call_.reset();
      throw;
    }
  }

  const StepResult& wait() {
    COSMIC_REQUIRE(UserError, call_.has_value(),
                   "there is no call to wait for (none was submitted since the last wait()); call "
                   "submit() first");
    const CallEnd end(call_);  // whatever happens, it is over
    const CallShape shape = core_.shape();
    results_.begin();
    for (std::int64_t batch = 0; batch < shape.batches(); ++batch) {
      if (begun_ < batch) {
        begin_micro_batch(batch);
      }
      // The target need not wait for the host to look at results.
      if (runs_ahead() && batch + 1 < shape.batches()) {
        begin_micro_batch(batch + 1);
      }
      end_micro_batch(batch);
      // Where batches are normalized together, nobody leaves before all are done.
      const bool lost =
          !synchronized_ && !std::isfinite(core_.program().output(compile::kLossOutput)[0]);
      if (!lost && (batch + 1) % shape.per_update() != 0) {
        continue;
      }
      if (!results_.complete_update(batch / shape.per_update())) {
        drop_runs();
        undo_update();
        break;
      }
      update();
      if (runs_ahead()) {
        stage_next();
      }
    }
    core_.recorder().end(call_watch_.seconds());
    return results_.end();
  }

  void stage(const CallBatches& next) {
    core_.require_runnable();
    core_.require_whole_batches(next);
    // One micro-batch can be staged, and those of the call in flight come first.
    if (call_ && begun_ + 1 < core_.shape().batches()) {
      next_ = next;
    } else {
      stage_micro_batch(next, 0);
    }
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

  void set_weights_average(double decay) {
    COSMIC_REQUIRE(UserError, averages(),
                   "the decay of an average cannot become "
                       << decay
                       << " (weights_average is 0, so the program keeps no averages); set "
                          "Options::weights_average before compiling");
    COSMIC_REQUIRE(UserError, decay >= 0 && decay < 1,
                   "the decay of an average cannot become "
                       << decay << " (it is at least 0 and less than 1); use one such as 0.999");
    decay_ = decay;
  }

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
  /// The end of a call that is in flight, be it by an error.
  class CallEnd {
   public:
    explicit CallEnd(std::optional<CallBatches>& call) : call_(call) {}
    ~CallEnd() { call_.reset(); }
    CallEnd(const CallEnd&) = delete;
    CallEnd& operator=(const CallEnd&) = delete;

   private:
    std::optional<CallBatches>& call_;
  };

  bool accumulates() const { return core_.shape().per_update() > 1; }
  bool averages() const { return core_.options().weights_average > 0; }
  /// Does a replica add up its batches before it adds to others?
  bool sums_replicas() const {
    return core_.shape().replicas > 1 && core_.shape().accumulation > 1;
  }
  /// Are there others whose gradients count?
  bool exchanges() const {
    return core_.options().communicator != nullptr || core_.shape().replicas > 1;
  }
  /// That the gradients of replicas would travel in, were each a process of its own. In a process
  /// among others they are added up as they are; their sum travels.
  NumberFormat exchange_of_replicas() const {
    return core_.options().communicator == nullptr && core_.shape().replicas > 1
               ? core_.options().exchange_format
               : NumberFormat::f32;
  }
  Program& updating_program() { return core_.program(accumulates() ? 1 : 0); }

  compile::UpdateRule update_rule() const {
    return {
        optimizer_,
        core_.options().variable_optimizer ? compile::Constants::inputs : compile::Constants::fixed,
        averages() ? compile::Averages::of_weights : compile::Averages::none};
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

  /// A step that accumulates adds to the sum of its replica, or to that of all of them.
  NumberFormat exchange_of_step() const {
    if (!accumulates()) {
      return core_.options().exchange_format;
    }
    return sums_replicas() ? NumberFormat::f32 : exchange_of_replicas();
  }

  std::vector<compile::Pass> step_passes() const {
    const Options& options = core_.options();
    const compile::GradientUse use{
        accumulates() ? compile::GradientUse::Kind::accumulate : compile::GradientUse::Kind::update,
        gradient_share(options),
        options.outputs.gradients ? compile::Keep::gradients : compile::Keep::nothing,
        sums_of(options),
        synchronized_ ? processes_of(options) : 1,
        exchange_of_step()};
    std::vector<compile::Pass> passes =
        compile::training_passes(core_.target().info(), update_rule(), use, precision_of(options));
    add_recomputation(passes);
    return passes;
  }

  /// Everything a call needs memory for.
  void prepare_call() {
    const Options& options = core_.options();
    results_ = CallResults(options, core_.program());
    before_update_.reset();
    sums_.clear();
    call_.reset();  // one in flight ended with the program it was for
    buffers_.emplace(core_.program().graph(), options);
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
    if (averages()) {
      average_constants_ = compile::average_constants(decay_);
      program.set_input(
          compile::kAverageInput,
          std::as_bytes(std::span(average_constants_.data(), average_constants_.size())));
    }
  }

  /// Number `batch` of the call: of the first iteration's first replica at first.
  void begin_micro_batch(std::int64_t batch) {
    const CallShape shape = core_.shape();
    if (batch % shape.per_update() == 0) {
      remember_state();
    }
    if (batch % shape.accumulation == 0) {
      buffers_->begin_replica(batch / shape.accumulation % shape.replicas, *core_.state()->bank());
    }
    Program& step = core_.program();
    if (!core_.options().synthetic_data) {
      step.set_input(kImage, call_->image(batch, shape.batches()));
      step.set_input(kLabel, call_->label(batch, shape.batches()));
    }
    const bool alone = !step.in_flight();
    step.submit();
    begun_ = batch;
    if (alone) {
      stage_next();
    }
  }

  /// The micro-batch behind the last that was begun, of this call or of the next.
  void stage_next() {
    if (begun_ + 1 < core_.shape().batches()) {
      stage_micro_batch(*call_, begun_ + 1);
    } else if (next_) {
      stage_micro_batch(*next_, 0);
      next_.reset();
    }
  }

  /// May a micro-batch begin before the results of the one before it are there? Not where the host
  /// does something in between.
  bool runs_ahead() const {
    return core_.shape().per_update() == 1 && processes_of(core_.options()) == 1 &&
           core_.program().most_in_flight() > 1;
  }

  /// Ends what was begun ahead and is not wanted any more: it has changed nothing.
  void drop_runs() {
    while (core_.program().in_flight()) {
      core_.program().wait();
    }
  }

  void stage_micro_batch(const CallBatches& of, std::int64_t batch) {
    if (core_.options().synthetic_data) {
      return;  // it is there already
    }
    const std::int64_t batches = core_.shape().batches();
    core_.program().stage(kImage, of.image(batch, batches));
    core_.program().stage(kLabel, of.label(batch, batches));
  }

  void end_micro_batch(std::int64_t batch) {
    const CallShape shape = core_.shape();
    Program& step = core_.program();
    step.wait();
    core_.recorder().add_micro_batch(step.run_times());
    results_.take(batch, step);
    if ((batch + 1) % shape.accumulation == 0) {
      buffers_->end_replica(batch / shape.accumulation % shape.replicas, *core_.state()->bank());
      if (sums_replicas()) {
        core_.program(2).run();
      }
    }
  }

  /// What a step that accumulates changes beside the sums, which are zero between updates: running
  /// statistics and counters. One that updates looks at its loss by itself (Graph::guard).
  void remember_state() {
    if (!accumulates()) {
      return;
    }
    target::StateBank& bank = *core_.state()->bank();
    if (before_update_ != nullptr) {
      bank.take_again(*before_update_);
      return;
    }
    const graph::Graph& step = core_.program().graph();
    std::vector<std::string> names;
    for (const graph::StateVariable& state : step.states) {
      const bool updated = std::any_of(
          step.updates.begin(), step.updates.end(),
          [&](const graph::StateUpdate& update) { return update.state == state.value; });
      if (!updated) {
        continue;
      }
      if (!compile::is_accumulator(state.name)) {
        names.push_back(state.name);
      }
    }
    before_update_ = bank.snapshot(names);
    sums_ = core_.state()->names();
    std::erase_if(sums_, [](const std::string& name) { return !compile::is_accumulator(name); });
  }

  /// Of the update whose loss was lost: what its other micro-batches have left behind.
  void undo_update() {
    if (!accumulates()) {
      return;
    }
    core_.state()->bank()->restore(*before_update_);
    for (const std::string& name : sums_) {
      core_.state()->write(name, Tensor(core_.state()->type(name)));
    }
  }

  void update() {
    buffers_->end_update(*core_.state()->bank());
    if (!accumulates()) {
      core_.recorder().count_update();
    } else {
      core_.program(1).run();
      core_.recorder().add_update(core_.program(1).run_times());
    }
    results_.take_update(updating_program());
  }

  ModelCore& core_;
  const model::Network& network_;
  const model::Loss& loss_;
  std::vector<std::string> checkpoints_;  ///< of recomputation
  bool synchronized_ = false;             ///< batch statistics are those of all processes
  compile::Optimizer optimizer_;
  compile::OptimizerConstants constants_{};
  double decay_ = 0;  ///< of moving averages of the weights
  compile::AverageConstants average_constants_{};
  float rate_ = 0;
  std::optional<ReplicaBuffers> buffers_;
  CallResults results_;
  std::unique_ptr<target::StateSnapshot> before_update_;  ///< from the first update on
  std::vector<std::string> sums_;                         ///< of gradients, known from then on
  std::optional<CallBatches> call_;                       ///< in flight
  std::optional<CallBatches> next_;  ///< to be staged once the last micro-batch is in flight
  std::int64_t begun_ = 0;           ///< micro-batch of the call that is in flight
  Stopwatch call_watch_;
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
  submit(image, label, learning_rate);
  return wait();
}

const StepResult& TrainingModel::operator()(std::span<const SparseBatch> batches,
                                            double learning_rate) {
  submit(batches, learning_rate);
  return wait();
}

void TrainingModel::submit(std::span<const float> image, std::span<const std::uint8_t> label,
                           double learning_rate) {
  implementation_->submit({image, label}, learning_rate);
}

void TrainingModel::submit(std::span<const SparseBatch> batches, double learning_rate) {
  implementation_->submit(CallBatches(batches), learning_rate);
}

void TrainingModel::stage(std::span<const float> image, std::span<const std::uint8_t> label) {
  implementation_->stage({image, label});
}

void TrainingModel::stage(std::span<const SparseBatch> batches) {
  implementation_->stage(CallBatches(batches));
}

const StepResult& TrainingModel::wait() {
  return implementation_->wait();
}

void TrainingModel::set_optimizer(const compile::Optimizer& optimizer) {
  implementation_->set_optimizer(optimizer);
}

const compile::Optimizer& TrainingModel::optimizer() const {
  return implementation_->optimizer();
}

void TrainingModel::set_weights_average(double decay) {
  implementation_->set_weights_average(decay);
}

std::span<const float> TrainingModel::gradient(const std::string& parameter) const {
  return implementation_->gradient(parameter);
}

}  // namespace cosmic::session
