// A network with a loss and an optimizer, compiled into one step that is called with batches.
//
//   session::TrainingModel training(network, loss, compile::Adam{}, {.threads = 2});
//   training.compile({image_type, label_type});
//   const session::StepResult& result = training(image, label, learning_rate);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "compile/optimizer.hpp"
#include "model/network.hpp"
#include "session/call_batches.hpp"
#include "session/compiled_model.hpp"
#include "session/step_result.hpp"
#include "session/tensor.hpp"

namespace cosmic::session {

class TrainingModel : public CompiledModel {
 public:
  /// The network and the loss are only needed while compiling, but then they must still be there:
  /// temporary ones are refused.
  TrainingModel(const model::Network& network, const model::Loss& loss,
                compile::Optimizer optimizer, Options options);
  TrainingModel(const model::Network&& network, const model::Loss& loss,
                compile::Optimizer optimizer, Options options) = delete;
  TrainingModel(const model::Network& network, const model::Loss&& loss,
                compile::Optimizer optimizer, Options options) = delete;
  ~TrainingModel();
  TrainingModel(TrainingModel&&) noexcept;
  TrainingModel& operator=(TrainingModel&&) noexcept;

  /// Builds, rewrites, plans and prepares the step. The learning rate stays an input. The types are
  /// those of a micro-batch.
  const CompileReport& compile(const BatchTypes& types);
  /// The same for what one call will take, such as the first batch of a loader.
  const CompileReport& compile(const Tensor& sample_image, const Tensor& sample_label);

  /// `device_iterations` updates. Image and label hold all micro-batches of the call: those of the
  /// first update, in it those of the first replica, in it those whose gradients are accumulated.
  ///
  /// A loss that is not finite ends the call: the state is that of before the update it was for,
  /// CallStatistics::updates says how many were made, and what was not computed any more is NaN.
  const StepResult& operator()(std::span<const float> image, std::span<const std::uint8_t> label,
                               double learning_rate);

  /// The same in two halves. On a target that runs beside the host, what the host does in between
  /// costs no time: making the next batch, writing the log of the step before. Image and label stay
  /// as they are until wait(), and so does the result of the call before; the state is nobody's.
  /// Throw UserError if a call is in flight, or none is.
  void submit(std::span<const float> image, std::span<const std::uint8_t> label,
              double learning_rate);
  const StepResult& wait();

  /// The same with pixels alone, a batch for each micro-batch of the call.
  const StepResult& operator()(std::span<const SparseBatch> batches, double learning_rate);
  void submit(std::span<const SparseBatch> batches, double learning_rate);

  /// Says what the next call will be given, while one is in flight: a target beside the host then
  /// fetches it meanwhile. Only a hint, which changes no result; submit() is given the same. Its
  /// memory stays as it is until wait() of that call.
  void stage(std::span<const float> image, std::span<const std::uint8_t> label);
  void stage(std::span<const SparseBatch> batches);

  /// Goes on with other constants, without compiling and with the moments as they are. Throws
  /// UserError that names the constant unless Options::variable_optimizer made it an input, and for
  /// another kind of optimizer always.
  void set_optimizer(const compile::Optimizer& optimizer);
  const compile::Optimizer& optimizer() const;

  /// The decay of the moving averages from the next call on, without compiling. Throws UserError
  /// unless Options::weights_average made the program keep them.
  void set_weights_average(double decay);

  /// The gradient of a parameter in the last micro-batch. Only if Options asked for gradients.
  std::span<const float> gradient(const std::string& parameter) const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cosmic::session
