#include "session/inference_model.hpp"

#include <optional>

#include "core/error.hpp"
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
    call_.reset();  // one in flight ended with the program it was for
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

  void submit(const CallBatches& given) {
    core_.require_runnable();
    core_.require_whole_batches(given);
    COSMIC_REQUIRE(UserError, !call_,
                   "a call was submitted while another is in flight (its memory is in use until "
                   "that one has ended); call wait() before the next submit()");
    watch_.restart();
    core_.recorder().begin();
    call_ = given;
    next_.reset();
    try {
      begin_micro_batch(0);
    } catch (...) {
      call_.reset();
      throw;
    }
  }

  std::span<const float> wait() {
    COSMIC_REQUIRE(UserError, call_.has_value(),
                   "there is no call to wait for (none was submitted since the last wait()); call "
                   "submit() first");
    try {
      end_micro_batches();
    } catch (...) {
      call_.reset();  // whatever happened, it is over
      throw;
    }
    call_.reset();
    core_.recorder().end(watch_.seconds());
    return logits_.values();
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

 private:
  void begin_micro_batch(std::int64_t batch) {
    const std::int64_t batches = core_.shape().batches();
    Program& program = core_.program();
    if (!core_.options().synthetic_data) {
      program.set_input(kImage, call_->image(batch, batches));
    }
    program.submit();
    begun_ = batch;
    if (batch + 1 < batches) {
      stage_micro_batch(*call_, batch + 1);
    } else if (next_) {
      stage_micro_batch(*next_, 0);
      next_.reset();
    }
  }

  void stage_micro_batch(const CallBatches& of, std::int64_t batch) {
    if (!core_.options().synthetic_data) {
      core_.program().stage(kImage, of.image(batch, core_.shape().batches()));
    }
  }

  void end_micro_batches() {
    Program& program = core_.program();
    for (std::int64_t batch = 0; batch < core_.shape().batches(); ++batch) {
      if (batch > 0) {
        begin_micro_batch(batch);
      }
      program.wait();
      core_.recorder().add_micro_batch(program.run_times());
      logits_.take(batch, program.output(kLogits));
    }
  }

  ModelCore& core_;
  const model::Network& network_;
  CallOutput logits_;
  std::optional<CallBatches> call_;  ///< in flight
  std::optional<CallBatches> next_;  ///< to be staged once the last micro-batch is in flight
  std::int64_t begun_ = 0;           ///< micro-batch of the call that is in flight
  Stopwatch watch_;
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
  submit(image);
  return wait();
}

void InferenceModel::submit(std::span<const float> image) {
  implementation_->submit({image, {}});
}

void InferenceModel::submit(std::span<const SparseBatch> batches) {
  implementation_->submit(CallBatches(batches));
}

std::span<const float> InferenceModel::wait() {
  return implementation_->wait();
}

void InferenceModel::stage(std::span<const float> image) {
  implementation_->stage({image, {}});
}

void InferenceModel::stage(std::span<const SparseBatch> batches) {
  implementation_->stage(CallBatches(batches));
}

}  // namespace cosmic::session
