#include "cli/target_test.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "checkpoint/checkpoint_folder.hpp"
#include "cli/commands.hpp"
#include "cli/run_command.hpp"
#include "cli/some_events.hpp"
#include "cli/what_fits.hpp"
#include "config/help.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "session/model.hpp"
#include "target/registry.hpp"
#include "train/run_choices.hpp"

namespace cosmic::cli {
namespace {

constexpr int kOutsideTolerance = 1;

struct TestFlags {
  data::DenseShape shape;
  bool whole_events = false;
  TestTolerance tolerance;
};

/// The smallest that leaves a batch of one something to normalise at the deepest layer: the
/// reference target takes its time.
data::DenseShape small_image(const model::UResNetOptions& network) {
  const std::int64_t side = std::int64_t{2} << network.depth;
  return {side, side};
}

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
  session::Options options = train::training_options(configuration, target);
  if (target == target::oracle_name()) {
    options.machine.clear();  // it is the one that the other target stands for
  }
  options.outputs = {.logits = true, .gradients = true};
  const model::UResNet network(configuration.network);
  const model::SegmentationLoss loss = train::loss_of(configuration.mode.optimizer);
  session::TrainingModel model(network, loss, train::optimizer_of(configuration.mode.optimizer),
                               options);
  model.compile(train::batch_types(configuration, shape));
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

const char* text_of(TensorDifference::Verdict verdict) {
  switch (verdict) {
    case TensorDifference::Verdict::within:
      return "ok";
    case TensorDifference::Verdict::rounding:
      return "rounding";
    case TensorDifference::Verdict::outside:
      return "OUTSIDE";
  }
  return "";
}

std::optional<checkpoint::Checkpoint> weights_of(const config::Configuration& configuration) {
  if (configuration.mode.weights_location.empty()) {
    return std::nullopt;
  }
  return checkpoint::load_newest(configuration.mode.weights_location).checkpoint;
}

void test_and_print(const TestFlags& flags, const config::Configuration& configuration) {
  const std::string target = target_for(configuration.run.compute_mode);
  const bool small = flags.shape == data::DenseShape{} && !flags.whole_events;
  const data::DenseShape shape =
      small ? small_image(configuration.network) : image_shape(configuration, flags.shape);
  const TargetTest test = test_target(configuration, target, shape, flags.tolerance);
  fmt::print("{:<64} {:>9} {:>9} {:>9}\n", "tensor", "max abs", "relative", "rounding");
  for (const TensorDifference& tensor : test.tensors) {
    fmt::print("{:<64} {:>9.2e} {:>9.2e} {:>9.2e}  {}\n", tensor.name, tensor.largest,
               tensor.relative, tensor.rounding, text_of(tensor.verdict));
  }
  using Verdict = TensorDifference::Verdict;
  fmt::print(
      "\nTarget {} against {}: {}, {} events of {} x {}, tolerance {:.0e} of a tensor's "
      "largest element\n",
      target, target::oracle_name(), model::UResNet(configuration.network).name(),
      configuration.run.minibatch_size, shape.rows, shape.columns, flags.tolerance.relative);
  fmt::print("  {:<9} {} of {} tensors\n", text_of(Verdict::within), test.count(Verdict::within),
             test.tensors.size());
  if (test.count(Verdict::rounding) > 0) {
    fmt::print(
        "  {:<9} {}: they differ by no more than {} times what rounding images and weights does to "
        "them, so they prove nothing; larger images or fewer levels help\n",
        text_of(Verdict::rounding), test.count(Verdict::rounding), flags.tolerance.rounding_factor);
  }
  fmt::print("  {:<9} {}; the worst of all is {} with {:.2e}\n", text_of(Verdict::outside),
             test.count(Verdict::outside), test.worst().name, test.worst().relative);
  if (!test.passed()) {
    throw CLI::RuntimeError(kOutsideTolerance);  // the status alone: what there is to say was said
  }
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

void add_test(CLI::App& app) {
  auto flags = std::make_shared<TestFlags>();  // the callback holds it too
  CLI::App* command = app.add_subcommand(
      "test",
      "Compare one training step on a target with the reference target, tensor by tensor; status 1 "
      "if one is outside the tolerance");
  command->add_option("--rows", flags->shape.rows,
                      "Rows of the images; by default the fewest that the network can take");
  command->add_option("--columns", flags->shape.columns, "Columns of the images");
  command->add_flag("--whole-events", flags->whole_events,
                    "Images as large as those of data.file; the reference target is slow");
  command
      ->add_option("--tolerance", flags->tolerance.relative,
                   "How much a tensor may differ, by its largest element")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option(
          "--rounding-factor", flags->tolerance.rounding_factor,
          "How many times the effect of rounding images and weights counts as rounding; 0 to "
          "hold every tensor to the tolerance")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->allow_extras();  // settings and recipes are read by config::parse
  command->footer([] { return config::help(); });
  command->callback([flags, command] {
    const config::Configuration configuration = configuration_from(
        command->remaining(), config::ParseOptions{.mode = config::Mode::train,
                                                   .command = config::Command::test,
                                                   .missing = config::MissingKeys::leave});
    run_or_say_what_fits(configuration, TrainingPrograms::step,
                         [&] { test_and_print(*flags, configuration); });
  });
}

}  // namespace cosmic::cli
