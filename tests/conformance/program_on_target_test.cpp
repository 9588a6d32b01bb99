// Whole training steps on every target: in every number format, with every layer's result handed
// out in turn, and with any number of threads. What single ops cannot show (who rides on whom, what
// runs side by side, what is rounded when, whose memory is reused) has to give what the reference
// gives for the very same program.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compile/pipeline.hpp"
#include "conformance/run_case.hpp"
#include "core/random.hpp"
#include "model/fashion_mnist.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "target/targets_here.hpp"

namespace cosmic::conformance {
namespace {

using compile::Precision;
using graph::Graph;
using graph::ValueId;
using target::reference::Tensor;

/// Pictures in two bundles of eight, which the CPU keeps interleaved.
Graph pictures() {
  graph::Builder g;
  const ValueId image = g.input("image", {graph::DType::f32, {16, 1, 28, 28}});
  const ValueId label = g.input("label", {graph::DType::u8, {16}});
  const ValueId logits = model::FashionMnist().logits(g, image, model::Phase::training);
  g.output(compile::kLossOutput, model::NegativeLogLikelihoodLoss().loss(g, logits, label));
  return g.take();
}

Graph planes() {
  model::UResNetOptions options;
  options.n_initial_filters = 4;
  options.depth = 2;
  options.blocks_per_layer = 1;
  options.blocks_deepest_layer = 1;
  options.blocks_final = 1;
  options.filter_size_deepest = 3;
  options.bottleneck_deepest = 6;
  graph::Builder g;
  const ValueId image = g.input("image", {graph::DType::f32, {2, 3, 8, 12}});
  const ValueId label = g.input("label", {graph::DType::u8, {2, 3, 8, 12}});
  const ValueId logits = model::UResNet(options).logits(g, image, model::Phase::training);
  g.output(compile::kLossOutput, model::SegmentationLoss().loss(g, logits, label));
  return g.take();
}

struct Network {
  std::string name;
  Graph (*build)();
  std::size_t every;  ///< every n-th result is handed out in turn
};

struct Format {
  std::string name;
  Precision precision;
  double tolerance;
  /// Of a target that also rounds the factors of products, each of which may go either way. A
  /// network this small normalises a dozen pixels, which multiplies it by hundreds.
  double with_rounded_factors;
};

std::vector<Format> formats() {
  using enum NumberFormat;
  constexpr auto kPure = Precision::Weights::pure;
  // Of few pixels the gradients are large.
  constexpr auto kScaled = compile::LossScaling::Kind::dynamic;
  // A number that lies between two of its format may be rounded either way, and the layers behind
  // it multiply that by a few.
  return {
      {"float32", {}, 2e-4, 2e-4},
      {"bfloat16", {.format = bf16}, 0x1p-4, 0x1p-4},
      {"bfloat16_pure", {.format = bf16, .weights = kPure}, 0x1p-4, 0x1p-4},
      {"float16", {.format = f16}, 0x1p-5, 0x1p-2},
      {"mixed", {.format = f16, .loss_scaling = {kScaled, 256}}, 0x1p-5, 0x1p-2},
      {"float16_half_sums", {.format = f16, .weights = kPure, .partials = f16}, 0x1p-3, 0x1p-3}};
}

/// Results of the forward program that a caller may ask for.
std::vector<ValueId> anchors(const Graph& graph, std::size_t every) {
  std::vector<ValueId> all;
  for_each_node(graph, [&](ValueId id, const graph::Node& node) {
    if (!node.operands.empty() && node.type.dtype == graph::DType::f32 && node.type.rank() >= 2) {
      all.push_back(id);
    }
  });
  std::vector<ValueId> some;
  for (std::size_t i = 0; i < all.size(); i += every) {
    some.push_back(all[i]);
  }
  return some;
}

Tensor random_tensor(const graph::TensorType& type, RandomStream& random, double bound) {
  Tensor tensor = target::reference::zeros(type);
  for (double& number : tensor.data) {
    number = type.dtype == graph::DType::f32
                 ? static_cast<double>(static_cast<float>(random.uniform(-bound, bound)))
                 : std::floor(random.uniform(0, 3));
  }
  return tensor;
}

/// The planned program with numbers to start from.
OpCase with_numbers(const compile::Plan& plan, const Format& format) {
  OpCase program;
  program.graph = plan.graph;
  RandomStream random(5, "program");
  for (const graph::NamedValue& input : plan.graph.inputs) {
    program.inputs.push_back(random_tensor(plan.graph.type(input.value), random, 1));
    if (input.name == compile::kLearningRateInput) {
      program.inputs.back().data = {0x1p-5};
    }
  }
  for (const graph::StateVariable& state : plan.graph.states) {
    Tensor& tensor = program.states[state.name];
    tensor = target::reference::zeros(plan.graph.type(state.value));
    const bool uniform = state.initializer.kind == graph::Initializer::Kind::uniform;
    if (uniform) {
      tensor = random_tensor(tensor.type, random, state.initializer.value);
    } else {
      std::fill(tensor.data.begin(), tensor.data.end(), state.initializer.value);
    }
    // A pure program keeps its states rounded.
    for (double& number : tensor.data) {
      if (tensor.type.dtype == graph::DType::f32 &&
          format.precision.weights == Precision::Weights::pure) {
        number = rounded(static_cast<float>(number), format.precision.format);
      }
    }
  }
  return program;
}

/// Beside the largest number of the tensor: gradients through normalisations are differences of
/// large numbers, of which small ones keep few digits.
void expect_close(const Tensor& value, const Tensor& expected, double tolerance,
                  const std::string& what) {
  ASSERT_EQ(value.type, expected.type) << what;
  double largest = 0;
  for (const double number : expected.data) {
    largest = std::max(largest, std::abs(number));
  }
  for (std::size_t i = 0; i < value.data.size(); ++i) {
    ASSERT_LE(std::abs(value.data[i] - expected.data[i]), tolerance * (1 + largest))
        << what << ", element " << i << " of " << value.type << ": " << value.data[i]
        << ", expected " << expected.data[i];
  }
}

class ProgramOnTarget : public testing::TestWithParam<std::tuple<std::string, Network, Format>> {};

TEST_P(ProgramOnTarget, gives_what_the_reference_gives_whoever_asks_for_which_layer) {
  const auto& [target_name, network, format] = GetParam();
  const auto target = target::make_target(target_name);
  const Graph forward = network.build();
  std::vector<std::optional<ValueId>> asked{std::nullopt};
  for (const ValueId anchor : anchors(forward, network.every)) {
    asked.emplace_back(anchor);
  }
  for (const std::optional<ValueId> anchor : asked) {
    Graph graph = forward;
    std::string what = "without an anchor";
    if (anchor) {
      graph.outputs.push_back({"anchor", *anchor});
      what = "with " + std::string(name_of(graph.node(*anchor).op)) + " of '" +
             graph.node(*anchor).name + "'";
    }
    const compile::Plan plan =
        compile::make_plan(graph,
                           compile::training_passes(target->info(), {compile::Sgd{.momentum = 0.5}},
                                                    {}, format.precision),
                           target->info(), {});
    const OpCase program = with_numbers(plan, format);
    const std::vector<Tensor> expected = meaning_of(plan.graph, program);
    for (const int threads : {1, 2, 3}) {
      const std::vector<Tensor> results = run_on(*target, program, plan, threads);
      ASSERT_EQ(results.size(), expected.size());
      for (std::size_t i = 0; i < results.size(); ++i) {
        expect_close(
            results[i], expected[i],
            plan.graph.numerics.narrow_factors ? format.with_rounded_factors : format.tolerance,
            "result " + std::to_string(i) + " " + what + ", " + std::to_string(threads) +
                " threads");
        if (HasFatalFailure()) {
          return;
        }
      }
    }
  }
}

/// The oracle needs no test against itself, and a modelled machine has its host's program wherever
/// the host has the format.
std::vector<std::tuple<std::string, Network, Format>> all_programs() {
  const auto host = target::make_target(target::target_names().front());
  std::vector<std::tuple<std::string, Network, Format>> programs;
  for (const std::string& name : target::targets_here()) {
    const auto target = target::make_target(name);
    for (const Format& format : formats()) {
      const bool is_host_s = target->provenance() == Provenance::modelled &&
                             host->supports_precision(format.precision).ok;
      if (name == "reference" || is_host_s || !target->supports_precision(format.precision).ok) {
        continue;
      }
      programs.emplace_back(name, Network{"pictures", pictures, 1}, format);
      programs.emplace_back(name, Network{"planes", planes, 17}, format);
    }
  }
  return programs;
}

INSTANTIATE_TEST_SUITE_P(AllTargets, ProgramOnTarget, testing::ValuesIn(all_programs()),
                         [](const auto& instance) {
                           return std::get<0>(instance.param) + "_" +
                                  std::get<1>(instance.param).name + "_" +
                                  std::get<2>(instance.param).name;
                         });

}  // namespace
}  // namespace cosmic::conformance
