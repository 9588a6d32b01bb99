#include "cli/target_test.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "checkpoint/checkpoint_folder.hpp"
#include "cli/commands.hpp"
#include "cli/run_command.hpp"
#include "cli/some_events.hpp"
#include "config/help.hpp"
#include "core/error.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "session/model.hpp"
#include "target/registry.hpp"
#include "train/run_choices.hpp"

namespace cosmic::cli {
namespace {

constexpr int kOutsideTolerance = 1;

struct TestFlags {
  // The smallest image of the largest network: the reference target takes its time.
  data::DenseShape shape{64, 64};
  bool shape_of_events = false;
  double tolerance = 1e-3;
};

using Tensors = std::vector<std::pair<std::string, std::vector<float>>>;

/// Everything that a training step computes for its caller.
Tensors results_of_step(const config::Configuration& configuration, const std::string& target,
                        const data::DenseShape& shape, const SomeEvents& events,
                        const std::optional<checkpoint::Checkpoint>& weights) {
  session::Options options = train::training_options(configuration, target);
  options.outputs = {.logits = true, .gradients = true};
  const model::UResNet network(configuration.network);
  const model::SegmentationLoss loss(configuration.mode.optimizer.loss_balance_scheme);
  session::TrainingModel model(network, loss, train::optimizer_of(configuration.mode.optimizer),
                               options);
  model.compile(train::batch_types(configuration, shape));
  if (weights) {
    checkpoint::restore_weights(*weights, *model.state());
  }
  const session::StepResult& result =
      model(events.images, events.labels, configuration.mode.optimizer.learning_rate);
  Tensors tensors{{"loss", {static_cast<float>(result.loss)}},
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

TargetTest compare(const Tensors& here, const Tensors& reference, double tolerance) {
  // A tensor of nothing but rounding, such as the gradient of a bias that a normalisation takes
  // away again, has no scale of its own.
  constexpr double kRounding = 1e-6;
  double largest_scale = 0;
  for (const auto& [name, values] : reference) {
    largest_scale = std::max(largest_scale, scale_of(values));
  }
  TargetTest test;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const auto& [name, expected] = reference[i];
    const std::vector<float>& values = here[i].second;
    COSMIC_ASSERT(here[i].first == name && values.size() == expected.size());
    TensorDifference difference{name, 0, 0, true};
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double distance = std::abs(static_cast<double>(values[k]) - expected[k]);
      // Written so that what is not a number is the largest difference of all.
      difference.largest = distance <= difference.largest ? difference.largest : distance;
    }
    difference.relative =
        difference.largest / std::max(scale_of(expected), kRounding * largest_scale);
    difference.within = difference.relative <= tolerance;
    test.tensors.push_back(difference);
  }
  return test;
}

std::optional<checkpoint::Checkpoint> weights_of(const config::Configuration& configuration) {
  if (configuration.mode.weights_location.empty()) {
    return std::nullopt;
  }
  return checkpoint::load_newest(configuration.mode.weights_location).checkpoint;
}

void test_and_print(const TestFlags& flags, const std::vector<std::string>& words) {
  const config::Configuration configuration = configuration_from(
      words,
      config::ParseOptions{.mode = config::Mode::train, .missing = config::MissingKeys::leave});
  const std::string target = target_for(configuration.run.compute_mode);
  const data::DenseShape shape = flags.shape_of_events
                                     ? image_shape(configuration, data::DenseShape{})
                                     : image_shape(configuration, flags.shape);
  const TargetTest test = test_target(configuration, target, shape, flags.tolerance);
  fmt::print("{:<60} {:>10} {:>10}\n", "tensor", "max abs", "relative");
  for (const TensorDifference& tensor : test.tensors) {
    fmt::print("{:<60} {:>10.2e} {:>10.2e}  {}\n", tensor.name, tensor.largest, tensor.relative,
               tensor.within ? "ok" : "OUTSIDE");
  }
  fmt::print(
      "\nTarget {} against {}, {}, {} events of {} x {}: {} tensors, the worst is {} with {:.2e} "
      "of "
      "its scale; tolerance {:.0e}: {}\n",
      target, target::oracle_name(), model::UResNet(configuration.network).name(),
      configuration.run.minibatch_size, shape.rows, shape.columns, test.tensors.size(),
      test.worst().name, test.worst().relative, flags.tolerance, test.passed() ? "ok" : "OUTSIDE");
  if (!test.passed()) {
    throw CLI::RuntimeError(kOutsideTolerance);  // the status alone: what there is to say was said
  }
}

}  // namespace

bool TargetTest::passed() const {
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const TensorDifference& tensor) { return tensor.within; });
}

const TensorDifference& TargetTest::worst() const {
  return *std::max_element(
      tensors.begin(), tensors.end(), [](const TensorDifference& a, const TensorDifference& b) {
        return std::isnan(b.relative) ? !std::isnan(a.relative) : a.relative < b.relative;
      });
}

TargetTest test_target(const config::Configuration& configuration, const std::string& target,
                       const data::DenseShape& shape, double tolerance) {
  const std::int64_t batches = configuration.mode.optimizer.gradient_accumulation;
  const SomeEvents events =
      some_events(configuration, shape, configuration.run.minibatch_size * batches);
  const std::optional<checkpoint::Checkpoint> weights = weights_of(configuration);
  return compare(results_of_step(configuration, target, shape, events, weights),
                 results_of_step(configuration, target::oracle_name(), shape, events, weights),
                 tolerance);
}

void add_test(CLI::App& app) {
  auto flags = std::make_shared<TestFlags>();  // the callback holds it too
  CLI::App* command = app.add_subcommand(
      "test",
      "Compare one training step on a target with the reference target, tensor by tensor; status 1 "
      "if one is outside the tolerance");
  command->add_option("--rows", flags->shape.rows, "Rows of the images")->capture_default_str();
  command->add_option("--columns", flags->shape.columns, "Columns of the images")
      ->capture_default_str();
  command->add_flag("--whole-events", flags->shape_of_events,
                    "Images as large as those of data.file; the reference target is slow");
  command
      ->add_option("--tolerance", flags->tolerance,
                   "How much a tensor may differ, by its largest element")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->allow_extras();  // settings and recipes are read by config::parse
  command->footer([] { return config::help(); });
  command->callback([flags, command] { test_and_print(*flags, command->remaining()); });
}

}  // namespace cosmic::cli
