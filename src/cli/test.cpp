// `cosmictagger test`: does a target compute what the reference target computes?
#include <fmt/core.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/run_command.hpp"
#include "cli/what_fits.hpp"
#include "config/help.hpp"
#include "model/uresnet.hpp"
#include "run/target_test.hpp"
#include "target/registry.hpp"

namespace cosmic::cli {
namespace {

constexpr int kOutsideTolerance = 1;

struct TestFlags {
  data::DenseShape shape;
  bool whole_events = false;
  run::TestTolerance tolerance;
};

const char* text_of(run::TensorDifference::Verdict verdict) {
  switch (verdict) {
    case run::TensorDifference::Verdict::within:
      return "ok";
    case run::TensorDifference::Verdict::rounding:
      return "rounding";
    case run::TensorDifference::Verdict::outside:
      return "OUTSIDE";
  }
  return "";
}

void test_and_print(const TestFlags& flags, const config::Configuration& configuration) {
  const std::string target = target_for(configuration.run.compute_mode);
  const bool small = flags.shape == data::DenseShape{} && !flags.whole_events;
  const data::DenseShape shape =
      small ? run::smallest_image(configuration.network) : image_shape(configuration, flags.shape);
  const run::TargetTest test = run::test_target(configuration, target, shape, flags.tolerance);
  fmt::print("{:<64} {:>9} {:>9} {:>9}\n", "tensor", "max abs", "relative", "rounding");
  for (const run::TensorDifference& tensor : test.tensors) {
    fmt::print("{:<64} {:>9.2e} {:>9.2e} {:>9.2e}  {}\n", tensor.name, tensor.largest,
               tensor.relative, tensor.rounding, text_of(tensor.verdict));
  }
  using Verdict = run::TensorDifference::Verdict;
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
    throw ExitStatus(kOutsideTolerance);  // the status alone: what there is to say was said
  }
}

}  // namespace

void add_test(Command& app) {
  auto flags = std::make_shared<TestFlags>();  // the callback holds it too
  Command* command = app.add_subcommand(
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
      ->positive()
      ->capture_default_str();
  command
      ->add_option(
          "--rounding-factor", flags->tolerance.rounding_factor,
          "How many times the effect of rounding images and weights counts as rounding; 0 to "
          "hold every tensor to the tolerance")
      ->not_negative()
      ->capture_default_str();
  command->allow_extras();  // settings and recipes are read by config::parse
  command->footer([] { return config::help(); });
  command->callback([flags, command] {
    const config::Configuration configuration = configuration_from(
        command->remaining(),
        config::ParseOptions{.mode = config::Mode::train, .missing = config::MissingKeys::leave});
    run_or_say_what_fits(configuration, TrainingPrograms::step,
                         [&] { test_and_print(*flags, configuration); });
  });
}

}  // namespace cosmic::cli
