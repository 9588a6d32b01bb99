#include "run/fitting_batch.hpp"

#include <fmt/core.h>

#include <optional>

#include "core/printable.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "run/run_choices.hpp"
#include "session/model.hpp"
#include "target/registry.hpp"

namespace cosmic::run {
namespace {

using config::Configuration;

class Search {
 public:
  Search(const Configuration& refused, TrainingPrograms programs, const data::DenseShape& image)
      : refused_(refused),
        programs_(programs),
        image_(image),
        target_name_(target::target_of_compute_mode(model::to_string(refused.run.compute_mode))),
        target_(target::make_target(target_name_, refused.run.machine, device_of(refused.run))) {
    refused_.run.executable.clear();  // another batch is another program
  }

  /// Nothing if not even one event does.
  std::optional<std::int64_t> largest_batch() const {
    if (!fits(with_batch(1))) {
      return std::nullopt;
    }
    std::int64_t fitting = 1;
    std::int64_t too_many = refused_.run.minibatch_size;
    while (too_many - fitting > 1) {
      const std::int64_t middle = fitting + (too_many - fitting) / 2;
      (fits(with_batch(middle)) ? fitting : too_many) = middle;
    }
    return fitting;
  }

  /// Would the batch that was asked for fit with values of half the size?
  bool fits_narrow() const {
    Configuration narrow = refused_;
    narrow.run.precision = config::Precision::bfloat16;
    return refused_.run.precision == config::Precision::float32 &&
           target_->supports_precision(precision_of(narrow.run)).ok && fits(narrow);
  }

 private:
  Configuration with_batch(std::int64_t batch) const {
    Configuration smaller = refused_;
    smaller.run.minibatch_size = batch;
    return smaller;
  }

  bool fits(const Configuration& configuration) const {
    const auto offline = [](session::Options options) {
      options.offline_compile = true;
      return options;
    };
    const model::UResNet network(configuration.network);
    const session::BatchTypes types = batch_types(configuration, image_);
    if (configuration.mode.name != config::Mode::train) {
      session::InferenceModel inference(network,
                                        offline(inference_options(configuration, target_name_)));
      inference.compile(types.image);
      return fit(inference.plans(), configuration.run.minibatch_size);
    }
    const model::SegmentationLoss loss = loss_of(configuration.mode.optimizer);
    session::TrainingModel training(network, loss, optimizer_of(configuration.mode.optimizer),
                                    offline(training_options(configuration, target_name_)));
    training.compile(types);
    std::vector<const compile::Plan*> plans = training.plans();
    if (programs_ == TrainingPrograms::step) {
      return fit(plans, configuration.run.minibatch_size);
    }
    session::EvaluationModel validation(network, loss,
                                        offline(validation_options(configuration, target_name_)),
                                        nullptr /* no state: it is never run */);
    validation.compile(types);
    const std::vector<const compile::Plan*> more = validation.plans();
    plans.insert(plans.end(), more.begin(), more.end());
    return fit(plans, configuration.run.minibatch_size);
  }

  bool fit(const std::vector<const compile::Plan*>& plans, std::int64_t batch) const {
    if (const auto memory =
            session::plan_device_memory(*target_, plans, session::States::to_be_made)) {
      return memory->fits();
    }
    constexpr std::int64_t kBatches = 5;  // of images in memory: used, read ahead, validated
    constexpr double kUsable = 0.9;       // the rest is for scratch memory and reading
    const auto pixels = static_cast<std::int64_t>(image_.event_pixels());
    const std::int64_t batches =
        kBatches * batch * pixels * static_cast<std::int64_t>(sizeof(float) + sizeof(std::uint8_t));
    return static_cast<double>(session::host_memory(plans, session::States::to_be_made) + batches) <
           kUsable * static_cast<double>(room_);
  }

  Configuration refused_;
  TrainingPrograms programs_;
  data::DenseShape image_;
  std::string target_name_;
  std::unique_ptr<target::Target> target_;
  std::int64_t room_ = available_bytes();  ///< of the host
};

std::string text_of(const std::vector<monitor::DeviceProcess>& others) {
  std::string text;
  for (const monitor::DeviceProcess& process : others) {
    text += fmt::format(
        "{}process {} ({}){}", text.empty() ? "" : ", ", process.number, printable(process.name),
        process.bytes ? " with " + target::memory_text(*process.bytes) : std::string());
  }
  return text;
}

}  // namespace

std::string fitting_batch(const Configuration& configuration, TrainingPrograms programs,
                          const HostMemoryError& refusal, const data::DenseShape& image) {
  const std::optional<std::int64_t> batch = Search(configuration, programs, image).largest_batch();
  return refusal.what() +
         (batch ? fmt::format("\nThe largest batch that fits: run.minibatch_size={}.", *batch)
                : "\nNot even a batch of one event fits; use a smaller network or larger "
                  "data.downsample.");
}

std::string fitting_batch(const Configuration& configuration, TrainingPrograms programs,
                          const session::DeviceMemoryError& refusal,
                          const std::vector<monitor::DeviceProcess>& others) {
  const graph::TensorType& image = refusal.image();
  const Search search(configuration, programs, {image.dim(2), image.dim(3)});
  std::string text = refusal.problem() + ".";
  if (!others.empty()) {
    text += fmt::format("\nOthers use this device: {}.", text_of(others));
  }
  const std::optional<std::int64_t> batch = search.largest_batch();
  if (batch) {
    text += fmt::format("\nThe largest batch that fits: run.minibatch_size={}", *batch);
  } else {
    text += "\nNot even a batch of one event fits; use a smaller network or larger data.downsample";
  }
  if (search.fits_narrow()) {
    text += fmt::format("; the {} events fit with run.precision=bfloat16",
                        configuration.run.minibatch_size);
  }
  text += ". Or choose another device (run.device)";
  text += others.empty() ? "." : ", or wait until the others have finished.";
  if (!configuration.run.executable.empty()) {
    text += "\nThe programs in " + configuration.run.executable +
            " are for the batch that was refused; compile again.";
  }
  return text;
}

}  // namespace cosmic::run
