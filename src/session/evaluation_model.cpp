#include "session/evaluation_model.hpp"

#include "compile/pipeline.hpp"
#include "core/stopwatch.hpp"
#include "session/call_results.hpp"
#include "session/model_core.hpp"

namespace cosmic::session {

class EvaluationModel::Implementation {
 public:
  Implementation(ModelCore& core, const model::Network& network, const model::Loss& loss)
      : core_(core), network_(network), loss_(loss) {}

  const CompileReport& compile(const BatchTypes& types) {
    const Stopwatch watch;
    const Options& options = core_.options();
    graph::Builder g;
    const graph::ValueId image = g.input(kImage, types.image);
    const graph::ValueId label = g.input(kLabel, types.label);
    const graph::ValueId logits = network_.logits(g, image, model::Phase::evaluation);
    g.output(compile::kLossOutput, loss_.loss(g, logits, label));
    if (options.outputs.logits) {
      g.output(kLogits, logits);
    }
    core_.install_forward(core_.finish(g), watch);
    results_ = CallResults(options, core_.program());
    if (options.synthetic_data) {
      core_.program().make_synthetic(kImage, options.seed);
      core_.program().make_synthetic(kLabel, options.seed);
    }
    return core_.report();
  }

  const StepResult& run(const CallBatches& given) {
    core_.require_runnable();
    core_.require_whole_batches(given);
    const Stopwatch watch;
    core_.recorder().begin();
    results_.begin();
    Program& program = core_.program();
    const std::int64_t batches = core_.shape().batches();
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      if (!core_.options().synthetic_data) {
        program.set_input(kImage, given.image(batch, batches));
        program.set_input(kLabel, given.label(batch, batches));
      }
      program.run();
      core_.recorder().add_micro_batch(program.run_times());
      results_.take(batch, program);
      if ((batch + 1) % core_.shape().per_update() == 0) {
        results_.complete(batch / core_.shape().per_update());
      }
    }
    core_.recorder().end(watch.seconds());
    return results_.end();
  }

 private:
  ModelCore& core_;
  const model::Network& network_;
  const model::Loss& loss_;
  CallResults results_;
};

EvaluationModel::EvaluationModel(const model::Network& network, const model::Loss& loss,
                                 Options options, std::shared_ptr<ModelState> state)
    : CompiledModel(std::move(options), Purpose::inference, std::move(state)),
      implementation_(std::make_unique<Implementation>(core(), network, loss)) {}
EvaluationModel::~EvaluationModel() = default;
EvaluationModel::EvaluationModel(EvaluationModel&&) noexcept = default;
EvaluationModel& EvaluationModel::operator=(EvaluationModel&&) noexcept = default;

const CompileReport& EvaluationModel::compile(const BatchTypes& types) {
  return implementation_->compile(types);
}

const CompileReport& EvaluationModel::compile(const Tensor& sample_image,
                                              const Tensor& sample_label) {
  return compile(
      {core().micro_batch_of(sample_image.type), core().micro_batch_of(sample_label.type)});
}

const StepResult& EvaluationModel::operator()(std::span<const float> image,
                                              std::span<const std::uint8_t> label) {
  return implementation_->run({image, label});
}

const StepResult& EvaluationModel::operator()(std::span<const SparseBatch> batches) {
  return implementation_->run(CallBatches(batches));
}

}  // namespace cosmic::session
