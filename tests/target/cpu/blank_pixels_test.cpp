// Where an image is blank a convolution without bias gives exactly zero, however it is computed: an
// activation behind it takes its slope from the sign, and most of an event is blank.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "compile/pipeline.hpp"
#include "conformance/run_case.hpp"
#include "core/random.hpp"
#include "data/detector/detector_source.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/sample_file.hpp"
#include "data/loader/batch_loader.hpp"
#include "data/loader/event_samples.hpp"
#include "graph/builder.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "target/cpu/cpu_target.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::Builder;
using graph::ValueId;

constexpr std::int64_t kChannels = 16;
constexpr int kLayers = 3;

/// Three convolutions, the second and third of which are Winograd's; each one's sum is an output.
graph::Graph layers(std::int64_t rows, std::int64_t columns) {
  Builder g;
  ValueId x = g.input("image", {graph::DType::f32, {1, 1, rows, columns}});
  std::int64_t channels = 1;
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::string name = "sum" + std::to_string(layer);
    const ValueId kernel =
        g.parameter(name + ".kernel", {kChannels, channels, 3, 3}, graph::Initializer::uniform(1));
    const ValueId sum = g.add(graph::Conv{{{1, 1, 1}, {0, 1, 1}}}, {x, kernel});
    g.output(name, sum);
    x = g.add(graph::LeakyRelu{}, {sum});
    channels = kChannels;
  }
  g.output("result", x);
  return g.take();
}

bool uses_winograd(const Target& target, const compile::Plan& plan) {
  for (const compile::Step& step : plan.steps.steps) {
    const std::vector<KernelChoice> choices = target.kernel_choices(plan, step);
    for (const KernelChoice& choice : choices) {
      if (choice.name.find("Winograd") != std::string::npos && choice.support.ok) {
        return true;
      }
    }
  }
  return false;
}

/// For each pixel: does a square of `reach` pixels to every side hold nothing but zeros?
std::vector<bool> blank_around(std::span<const float> image, std::int64_t rows,
                               std::int64_t columns, std::int64_t reach) {
  std::vector<bool> blank(image.size(), true);
  for (std::int64_t at = 0; at < std::ssize(image); ++at) {
    if (image[static_cast<std::size_t>(at)] == 0) {
      continue;
    }
    const std::int64_t row = at / columns;
    const std::int64_t column = at % columns;
    for (std::int64_t r = std::max<std::int64_t>(row - reach, 0);
         r <= std::min(row + reach, rows - 1); ++r) {
      for (std::int64_t c = std::max<std::int64_t>(column - reach, 0);
           c <= std::min(column + reach, columns - 1); ++c) {
        blank[static_cast<std::size_t>(r * columns + c)] = false;
      }
    }
  }
  return blank;
}

void expect_exact_zeros(const data::EventSource& source) {
  const data::EventSamples samples(source, {.dense = {.downsample = 1}});
  data::LoaderOptions options;
  options.order = {.kind = data::OrderKind::serial_access, .start_index = 0};
  data::BatchLoader loader(samples, options);
  const data::Batch& batch = *loader.next();
  const std::int64_t rows = samples.shape().rows;
  const std::int64_t columns = samples.shape().columns;
  const std::size_t pixels = samples.shape().plane_pixels();

  conformance::OpCase program;
  program.graph = layers(rows, columns);
  RandomStream random(7, "kernels");
  for (const graph::StateVariable& state : program.graph.states) {
    reference::Tensor& kernel = program.states[state.name];
    kernel = reference::zeros(program.graph.type(state.value));
    for (double& number : kernel.data) {
      number = static_cast<double>(static_cast<float>(random.uniform(-0.1, 0.1)));
    }
  }
  const auto target = make_cpu_target();
  const compile::Plan plan = conformance::plan_for(program.graph, *target);
  ASSERT_TRUE(uses_winograd(*target, plan));

  const std::span<const float> image = batch.images.first(pixels);
  reference::Tensor input{{graph::DType::f32, {1, 1, rows, columns}}, {}};
  input.data.assign(image.begin(), image.end());
  program.inputs = {input};
  const std::vector<reference::Tensor> results = run_on(*target, program, plan, 2);
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::vector<bool> blank = blank_around(image, rows, columns, layer + 1);
    const auto blank_pixels = std::count(blank.begin(), blank.end(), true);
    EXPECT_GT(blank_pixels, std::ssize(blank) / 2) << "too few blank pixels to show anything";
    const std::vector<double>& sums = results[static_cast<std::size_t>(layer)].data;
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      wrong += blank[i % pixels] && sums[i] != 0 ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0) << "of " << blank_pixels * kChannels << " sums of blank pixels, layer "
                        << layer;
  }
}

TEST(BlankPixels, of_generated_events_stay_exactly_zero) {
  expect_exact_zeros(data::detector::DetectorSource(1, 11));
}

TEST(BlankPixels, of_real_events_stay_exactly_zero) {
  COSMIC_NEEDS_SAMPLE_FILE();
  expect_exact_zeros(data::larcv::LarcvSource(
      {.files = {data::larcv::kSampleFile}, .labels = data::larcv::LabelUse::required}));
}

/// A network in which blank pixels stay zero through many layers: nothing normalizes, no bias.
graph::Graph step_without_normalization() {
  model::UResNetOptions options;
  options.n_initial_filters = 12;
  options.depth = 1;
  options.blocks_per_layer = 1;
  options.blocks_deepest_layer = 0;
  options.blocks_final = 0;
  options.bottleneck_deepest = 16;
  options.residual = false;
  options.normalization = model::Normalization::none;
  options.connections = model::Connections::none;
  options.block_concat = true;
  Builder g;
  const ValueId image = g.input("image", {graph::DType::f32, {1, 3, 16, 32}});
  const ValueId label = g.input("label", {graph::DType::u8, {1, 3, 16, 32}});
  const ValueId logits = model::UResNet(options).logits(g, image, model::Phase::training);
  g.output(compile::kLossOutput, model::SegmentationLoss().loss(g, logits, label));
  return g.take();
}

TEST(BlankPixels, do_not_change_the_gradients_of_biases) {
  const auto target = make_cpu_target();
  const compile::Plan plan = compile::make_plan(
      step_without_normalization(),
      compile::training_passes(target->info(), {compile::Sgd{.momentum = 0.5}}, {}, {}),
      target->info(), {});
  conformance::OpCase program;
  program.graph = plan.graph;
  RandomStream random(9, "step");
  for (const graph::NamedValue& input : plan.graph.inputs) {
    reference::Tensor tensor = reference::zeros(plan.graph.type(input.value));
    // A cosmic and a neutrino pixel in each plane.
    for (const std::size_t plane : {0UL, 1UL, 2UL}) {
      const std::size_t first = plane * 16 * 32 + 130 + 50 * plane;
      if (input.name == "image") {
        tensor.data[first] = 3;
        tensor.data[first + 1] = 2;
      } else if (input.name == "label") {
        tensor.data[first] = 1;
        tensor.data[first + 1] = 2;
      }
    }
    if (input.name == compile::kLearningRateInput) {
      tensor.data = {1};
    }
    program.inputs.push_back(tensor);
  }
  for (const graph::StateVariable& state : plan.graph.states) {
    reference::Tensor& tensor = program.states[state.name];
    tensor = reference::zeros(plan.graph.type(state.value));
    const bool is_kernel = tensor.type.rank() == 4 && !state.name.ends_with("momentum");
    for (double& number : tensor.data) {
      number = is_kernel ? static_cast<double>(static_cast<float>(random.uniform(-0.3, 0.3))) : 0;
    }
  }
  const std::vector<reference::Tensor> expected = meaning_of(plan.graph, program);
  const std::vector<reference::Tensor> results = run_on(*target, program, plan, 1);
  ASSERT_EQ(results.size(), expected.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    double largest = 0;
    for (const double number : expected[i].data) {
      largest = std::max(largest, std::abs(number));
    }
    for (std::size_t k = 0; k < results[i].data.size(); ++k) {
      ASSERT_NEAR(results[i].data[k], expected[i].data[k], 1e-4 * largest)
          << "result " << i << " of " << results[i].type << ", element " << k;
    }
  }
}

}  // namespace
}  // namespace cosmic::target::cpu
