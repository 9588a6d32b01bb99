#include "session/inference_model.hpp"

#include "core/stopwatch.hpp"
#include "session/call_output.hpp"
#include "session/model_core.hpp"

namespace cosmic::session {

class InferenceModel::Implementation {
 public:
  Implementation(ModelCore& core, const model::Network& network) : core_(core), network_(network) {}

  const CompileReport& compile(const graph::TensorType& image_type) {
    const Stopwatch watch;
    const Options& options = core_.options();
    graph::Builder g;
    const graph::ValueId image = g.input(kImage, image_type);
    g.output(kLogits, network_.logits(g, image, model::Phase::evaluation));
    core_.install_forward(core_.finish(g), watch);
    const bool all = options.output_mode == OutputMode::automatic;
    logits_ = CallOutput(all ? OutputMode::all : options.output_mode, options.output_every,
                         core_.shape().batches(), core_.program().output(kLogits).size());
    if (options.synthetic_data) {
      core_.program().make_synthetic(kImage, options.seed);
    }
    if (options.progress) {
      options.progress(1, "done");
    }
    return core_.report();
  }

  std::span<const float> run(std::span<const float> image) {
    core_.require_runnable();
    core_.require_whole_batches(image.size(), 0);
    const Stopwatch watch;
    core_.recorder().begin();
    Program& program = core_.program();
    const std::int64_t batches = core_.shape().batches();
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      if (!core_.options().synthetic_data) {
        program.set_input(kImage, std::as_bytes(micro_batch(image, batch, batches)));
      }
      program.run();
      core_.recorder().add_micro_batch(program.run_times());
      logits_.take(batch, program.output(kLogits));
    }
    core_.recorder().end(watch.seconds());
    return logits_.values();
  }

 private:
  ModelCore& core_;
  const model::Network& network_;
  CallOutput logits_;
};

InferenceModel::InferenceModel(const model::Network& network, Options options,
                               std::shared_ptr<ModelState> state)
    : CompiledModel(std::move(options), Purpose::inference, std::move(state)),
      implementation_(std::make_unique<Implementation>(core(), network)) {}
InferenceModel::~InferenceModel() = default;
InferenceModel::InferenceModel(InferenceModel&&) noexcept = default;
InferenceModel& InferenceModel::operator=(InferenceModel&&) noexcept = default;

const CompileReport& InferenceModel::compile(const graph::TensorType& image) {
  return implementation_->compile(image);
}

const CompileReport& InferenceModel::compile(const Tensor& sample_image) {
  return implementation_->compile(core().micro_batch_of(sample_image.type));
}

std::span<const float> InferenceModel::operator()(std::span<const float> image) {
  return implementation_->run(image);
}

}  // namespace cosmic::session
