#include "session/inference_model.hpp"

#include "compile/artifact/artifact_file.hpp"
#include "compile/pipeline.hpp"
#include "core/stopwatch.hpp"
#include "session/call_output.hpp"
#include "session/model_core.hpp"
#include "session/predicting.hpp"

namespace cosmic::session {

class InferenceModel::Implementation {
 public:
  Implementation(const model::Network& network, Options options, std::shared_ptr<ModelState> state)
      : core_(std::move(options), Purpose::inference, std::move(state)), network_(network) {}

  const CompileReport& compile(const graph::TensorType& image_type) {
    const Stopwatch watch;
    const Options& options = core_.options();
    graph::Builder g;
    const graph::ValueId image = g.input(kImage, image_type);
    g.output(kLogits, network_.logits(g, image, model::Phase::evaluation));
    std::vector<compile::Plan> plans;
    const graph::Graph forward = core_.finish(g);
    std::optional<machine::Prediction> prediction = predict_program(
        forward, compile::inference_passes(core_.target().machine_info(), precision_of(options)),
        core_.target(), options, Purpose::inference);
    plans.push_back(plan_program(
        forward, compile::inference_passes(core_.target().info(), precision_of(options)),
        core_.target(), options));
    core_.install(std::move(plans), std::move(prediction), watch);
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

  ModelCore& core() { return core_; }
  const ModelCore& core() const { return core_; }

 private:
  ModelCore core_;
  const model::Network& network_;
  CallOutput logits_;
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

const CompileReport& InferenceModel::compile(const Tensor& sample_image) {
  return implementation_->compile(implementation_->core().micro_batch_of(sample_image.type));
}

std::span<const float> InferenceModel::operator()(std::span<const float> image) {
  return implementation_->run(image);
}

std::span<const float> InferenceModel::anchored(const std::string& layer) const {
  return implementation_->core().anchored(layer);
}

const std::vector<std::string>& InferenceModel::layers() const {
  return implementation_->core().layers();
}

const std::shared_ptr<ModelState>& InferenceModel::state() const {
  return implementation_->core().state();
}

const CompileReport& InferenceModel::report() const {
  return implementation_->core().report();
}

std::vector<OpTiming> InferenceModel::timings() const {
  return implementation_->core().timings();
}

MemoryUse InferenceModel::memory() const {
  return implementation_->core().memory();
}

const CallStatistics& InferenceModel::last_call() const {
  return implementation_->core().last_call();
}

void InferenceModel::detach() {
  implementation_->core().detach();
}

void InferenceModel::attach() {
  implementation_->core().attach();
}

bool InferenceModel::attached() const {
  return implementation_->core().attached();
}

std::vector<const compile::Plan*> InferenceModel::plans() const {
  return implementation_->core().plans();
}

void InferenceModel::export_executable(const std::filesystem::path& path, Existing existing) const {
  compile::artifact::save_artifact(path, plans(), existing);
}

}  // namespace cosmic::session
