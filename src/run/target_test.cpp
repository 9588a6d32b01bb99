#include "run/target_test.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "checkpoint/checkpoint_folder.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "run/run_choices.hpp"
#include "run/some_events.hpp"
#include "session/model.hpp"
#include "target/registry.hpp"

namespace cosmic::run {
namespace {

/// Each number one unit in its last place up or down: what any other way to compute it might do.
void round_once(std::span<float> values, const std::string& name) {
  constexpr float kUnit = std::numeric_limits<float>::epsilon();
  RandomStream random(1, name);
  for (float& value : values) {
    value *= random.uniform() < 0.5 ? 1 - kUnit : 1 + kUnit;
  }
}

/// Whether a step begins with the images and weights it was given, or with rounded ones.
enum class Given { exactly, rounded };

void round_parameters(session::ModelState& state) {
  for (const std::string& name : state.names()) {
    if (state.kind(name) == graph::StateKind::parameter) {
      session::Tensor parameter = state.read(name);
      round_once(parameter.as<float>(), name);
      state.write(name, parameter);
    }
  }
}

/// Everything that a training step computes for its caller.
NamedValues results_of_step(const config::Configuration& configuration, const std::string& target,
                            const data::DenseShape& shape, SomeEvents events,
                            const std::optional<checkpoint::Checkpoint>& weights, Given given) {
  session::Options options = training_options(configuration, target);
  if (target == target::oracle_name()) {
    options.machine.clear();  // it is the one that the other target stands for
  }
  options.outputs = {.logits = true, .gradients = true};
  const model::UResNet network(configuration.network);
  const model::SegmentationLoss loss = loss_of(configuration.mode.optimizer);
  session::TrainingModel model(network, loss, optimizer_of(configuration.mode.optimizer), options);
  model.compile(batch_types(configuration, shape));
  if (weights) {
    checkpoint::restore_weights(*weights, *model.state());
  }
  if (given == Given::rounded) {
    round_parameters(*model.state());
    round_once(events.images, "images");
  }
  const session::StepResult& result =
      model(events.images, events.labels, configuration.mode.optimizer.learning_rate);
  NamedValues tensors{{"loss", {static_cast<float>(result.loss)}},
                      {"logits", {result.logits.begin(), result.logits.end()}}};
  for (const std::string& name : model.state()->names()) {
    if (model.state()->kind(name) == graph::StateKind::parameter) {
      const std::span<const float> gradient = model.gradient(name);
      tensors.push_back({"gradient of " + name, {gradient.begin(), gradient.end()}});
    }
  }
  return tensors;
}

double scale_of(const std::vector<float>& values) {
  double scale = 0;
  for (const float value : values) {
    scale = std::max(scale, std::abs(static_cast<double>(value)));
  }
  return scale;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  COSMIC_ASSERT(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double distance = std::abs(static_cast<double>(a[i]) - b[i]);
    if (std::isnan(distance)) {
      return distance;  // no difference is larger
    }
    largest = std::max(largest, distance);
  }
  return largest;
}

std::optional<checkpoint::Checkpoint> weights_of(const config::Configuration& configuration) {
  if (configuration.mode.weights_location.empty()) {
    return std::nullopt;
  }
  return checkpoint::load_newest(configuration.mode.weights_location).checkpoint;
}

}  // namespace

std::size_t TargetTest::count(TensorDifference::Verdict verdict) const {
  return static_cast<std::size_t>(
      std::count_if(tensors.begin(), tensors.end(),
                    [&](const TensorDifference& tensor) { return tensor.verdict == verdict; }));
}

const TensorDifference& TargetTest::worst() const {
  return *std::max_element(
      tensors.begin(), tensors.end(), [](const TensorDifference& a, const TensorDifference& b) {
        return std::isnan(b.relative) ? !std::isnan(a.relative) : a.relative < b.relative;
      });
}

TargetTest compare(const NamedValues& target, const NamedValues& reference,
                   const NamedValues& rounded, const TestTolerance& tolerance) {
  // A tensor of nothing but rounding, such as the gradient of a bias that a normalisation takes
  // away again, has no scale of its own.
  constexpr double kNothing = 1e-6;
  double largest_scale = 0;
  for (const auto& [name, values] : reference) {
    largest_scale = std::max(largest_scale, scale_of(values));
  }
  TargetTest test;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const auto& [name, expected] = reference[i];
    COSMIC_ASSERT(target[i].first == name && rounded[i].first == name);
    const double scale = std::max(scale_of(expected), kNothing * largest_scale);
    TensorDifference difference;
    difference.name = name;
    difference.largest = largest_difference(target[i].second, expected);
    difference.relative = difference.largest / scale;
    difference.rounding = largest_difference(rounded[i].second, expected) / scale;
    using Verdict = TensorDifference::Verdict;
    difference.verdict = difference.relative <= tolerance.relative ? Verdict::within
                         : difference.relative <= tolerance.rounding_factor * difference.rounding
                             ? Verdict::rounding
                             : Verdict::outside;
    test.tensors.push_back(difference);
  }
  return test;
}

data::DenseShape smallest_image(const model::UResNetOptions& network) {
  const std::int64_t side = std::int64_t{2} << network.depth;
  return {side, side};
}

TargetTest test_target(const config::Configuration& configuration, const std::string& target,
                       const data::DenseShape& shape, const TestTolerance& tolerance) {
  const std::int64_t batches = configuration.mode.optimizer.gradient_accumulation;
  const SomeEvents events =
      some_events(configuration, shape, configuration.run.minibatch_size * batches);
  const std::optional<checkpoint::Checkpoint> weights = weights_of(configuration);
  const auto results = [&](const std::string& on, Given given) {
    return results_of_step(configuration, on, shape, events, weights, given);
  };
  // The target first: if it cannot, nobody waits for the reference.
  const NamedValues on_target = results(target, Given::exactly);
  return compare(on_target, results(target::oracle_name(), Given::exactly),
                 results(target::oracle_name(), Given::rounded), tolerance);
}

}  // namespace cosmic::run
