// The kernels of tensor cores on the host's chip, each against its plain twin: in every step of
// networks whose images are large enough for all of them, from the very numbers that the step
// before left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <variant>

#include "compile/optimizer.hpp"
#include "compile/pipeline.hpp"
#include "conformance/run_case.hpp"
#include "core/random.hpp"
#include "graph/builder.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "target/cuda/cuda_target.hpp"
#include "target/cuda/host_chip/chip.hpp"
#include "target/cuda/host_driver.hpp"
#include "target/cuda/launch.hpp"
#include "target/reference/evaluate.hpp"

namespace cosmic::target::cuda {
namespace {

using conformance::OpCase;
using graph::ValueId;
using reference::Tensor;

/// What a work writes, as numbers that can be compared whoever wrote them.
struct Written {
  std::string name;
  std::vector<float> numbers;
  double tolerance = 0;  ///< as a share of a number, and of the largest
};

/// Sums are added up in another order, and tf32 factors that lie midway may be rounded either way;
/// so a number may be rounded to its neighbour.
double tolerance_of(Format format, Products products) {
  if (format == Format::f32) {
    return products == Products::tf32 ? 0x1p-9 : 2e-5;
  }
  return format == Format::f16 ? 0x1p-10 : 0x1p-7;
}

Written numbers_of(const std::string& name, const Image& image, Products products = Products::f32) {
  Written written{name, {}, tolerance_of(image.format, products)};
  for (int n = 0; n < image.images; ++n) {
    for (int channel = 0; channel < image.channels; ++channel) {
      for (std::int64_t pixel = 0; pixel < image.pixels(); ++pixel) {
        written.numbers.push_back(image.load(n, channel, pixel));
      }
    }
  }
  return written;
}

void add_sums(const PixelSums& sums, std::vector<Written>& all) {
  if (sums.wanted()) {
    const int count =
        (sums.kind == PixelSums::Kind::channel_sum ? 1 : 2) * sums.groups * sums.channels;
    all.push_back({"sums", {sums.out, sums.out + count}, 2e-3});
  }
}

std::vector<Written> written_by(const ConvTile& work) {
  std::vector<Written> all{numbers_of("result", work.out, work.products)};
  add_sums(work.sums, all);
  return all;
}

/// Blocks of threads leave sums, which the next work joins.
std::vector<Written> written_by(const KernelGradientTile& work) {
  std::vector<Written> all;
  if (work.leaves_dy()) {
    all.push_back(numbers_of("evaluated gradient", work.evaluated_dy, work.products));
  }
  const KernelGradientGeometry& g = work.geometry;
  Written joined{"joined sums", {}, work.products == Products::f32 ? 1e-5 : 1e-3};
  for (int part = 0; part < work.parts(); ++part) {
    const int chunk = part / work.taps.depth % g.chunks;
    const int entries = work.taps.rows * work.taps.columns * work.blocks_of_chunk(chunk);
    const int filters = g.filter_columns * kBlock;
    for (int i = 0; i < entries * kBlock * filters; ++i) {
      // Channels and filters that fill up a block are multiplied like others, and not used.
      const int block_of_chunk = i / filters / kBlock % work.blocks_of_chunk(chunk);
      const int channel = (chunk * g.chunk_blocks + block_of_chunk) * kBlock + i / filters % kBlock;
      const int filter = part / work.taps.depth / g.chunks * filters + i % filters;
      if (channel >= work.image.channels || filter >= work.dy.channels) {
        continue;
      }
      double sum = 0;
      for (int block = 0; block < g.slices * g.blocks; ++block) {
        sum += work.partials[(static_cast<std::int64_t>(part) * g.slices * g.blocks + block) *
                                 g.elements() +
                             i];
      }
      joined.numbers.push_back(static_cast<float>(sum));
    }
  }
  all.push_back(joined);
  return all;
}

std::vector<Written> written_by(const SumPixels& work) {
  std::vector<Written> all;
  add_sums(work.sums, all);
  return all;
}
std::vector<Written> written_by(const PixelMap<EvaluateBody>& work) {
  return {numbers_of("value", work.body.out)};
}
std::vector<Written> written_by(const PixelMap<MaxPoolGradientPixelsBody>& work) {
  std::vector<Written> all{numbers_of("gradient", work.body.dx)};
  add_sums(work.body.sums, all);
  return all;
}
std::vector<Written> written_by(const PixelMap<UpsampleGradientPixelsBody>& work) {
  return {numbers_of("gradient", work.body.dx)};
}
/// All other work is a thread per element or one of the two kinds of sums, which the twin does as
/// the device does.
template <class Kind>
std::vector<Written> written_by(const Kind&) {
  return {};
}

/// The bytes that an image has, to be put back.
const Image* overwritten_by(const Work& work) {
  if (const auto* const conv = std::get_if<ConvTile>(&work)) {
    return &conv->out;
  }
  if (const auto* const value = std::get_if<PixelMap<EvaluateBody>>(&work)) {
    return &value->body.out;
  }
  return nullptr;
}

using Kernels = std::set<std::string>;

/// The kernels that know what they read, by their names in conv_tile.hpp.
const std::map<std::pair<Source, Finish>, std::string>& conv_kernels() {
#define COSMIC_CUDA_NAME(source, finish) {{Source::source, Finish::finish}, #source " to " #finish},
  static const std::map<std::pair<Source, Finish>, std::string> names{
      COSMIC_CUDA_COMMON_CONV_KERNELS(COSMIC_CUDA_NAME)
          COSMIC_CUDA_OTHER_CONV_KERNELS(COSMIC_CUDA_NAME)};
#undef COSMIC_CUDA_NAME
  return names;
}

/// Does each work twice, on the chip and plainly, and compares.
struct Comparison {
  Kernels convolutions;  ///< and "in chunks" if one had more channels than fit on the chip
  std::int64_t compared = 0;
  std::int64_t different = 0;

  void operator()(const Work& work) {
    std::vector<std::byte> before;
    const Image* const image = overwritten_by(work);
    if (image != nullptr) {
      const auto* const first = static_cast<const std::byte*>(image->base);
      before.assign(first, first + image->vectors() * image->lanes * size_of(image->format));
    }
    std::visit([&](const auto& one) { compare(one, work, image, before); }, work);
    if (const auto* const conv = std::get_if<ConvTile>(&work)) {
      const ConvKernel kernel = kernel_of(*conv);
      const auto name = conv_kernels().find({kernel.source, kernel.finish});
      const bool is_known = name != conv_kernels().end();
      convolutions.insert(is_known ? name->second : "interpreted");
      if (is_known && conv->geometry.chunks > 1) {
        convolutions.insert("in chunks");
      }
    }
  }

 private:
  template <class Kind>
  void compare(const Kind& one, const Work& work, const Image* image,
               const std::vector<std::byte>& before) {
    // Most of the time is spent here, and layers of the same shape have the same kernels.
    constexpr bool kIsLong =
        std::is_same_v<Kind, ConvTile> || std::is_same_v<Kind, KernelGradientTile>;
    if (written_by(one).empty() || (kIsLong && !compared_.insert(description(work)).second)) {
      launch(one, nullptr);
      return;
    }
    run_on_host(work);
    const std::vector<Written> expected = written_by(one);
    if (image != nullptr) {
      std::copy(before.begin(), before.end(), static_cast<std::byte*>(image->base));
    }
    launch(one, nullptr);
    const std::vector<Written> found = written_by(one);
    for (std::size_t i = 0; i < found.size(); ++i) {
      double largest = 0;
      for (const float number : expected[i].numbers) {
        largest = std::max(largest, static_cast<double>(std::abs(number)));
      }
      for (std::size_t k = 0; k < found[i].numbers.size(); ++k) {
        const float number = found[i].numbers[k];
        const float wanted = expected[i].numbers[k];
        ++compared;
        // Written as "not <=", so that a NaN counts as different.
        if (!(std::abs(number - wanted) <=
              found[i].tolerance * (std::abs(wanted) + largest / 64))) {
          if (++different <= 3) {
            ADD_FAILURE() << description(work) << ", " << found[i].name << " " << k << " of "
                          << found[i].numbers.size() << ": " << number << ", expected " << wanted;
          }
        }
      }
    }
  }

  /// Its kernel and what it works on.
  static std::string description(const Work& work) {
    if (const auto* const conv = std::get_if<ConvTile>(&work)) {
      const ConvKernel kernel = kernel_of(*conv);
      const auto name = conv_kernels().find({kernel.source, kernel.finish});
      return "convolution of " + std::to_string(conv->source.channels) + " channels to " +
             std::to_string(conv->out.channels) + " on " + std::to_string(conv->out.rows) + " x " +
             std::to_string(conv->out.columns) + ", " + std::to_string(conv->taps.count()) +
             " taps, " + (name == conv_kernels().end() ? "interpreted" : name->second);
    }
    if (const auto* const gradient = std::get_if<KernelGradientTile>(&work)) {
      return "kernel gradient of " + std::to_string(gradient->image.channels) + " channels and " +
             std::to_string(gradient->dy.channels) + " on " + std::to_string(gradient->dy.rows) +
             " x " + std::to_string(gradient->dy.columns) + ", " +
             std::to_string(gradient->taps.count()) + " taps, sources " +
             std::to_string(
                 static_cast<int>(image_source_of(gradient->image, gradient->products))) +
             " and " +
             std::to_string(static_cast<int>(source_of(gradient->dy, gradient->products)));
    }
    return "work " + std::to_string(work.index());
  }

  std::set<std::string> compared_;
};

struct Network {
  std::string name;
  model::UResNetOptions options;
  int batch = 22;
  int rows = 18;
  int columns = 34;
};

model::UResNetOptions options_of(int filters, model::Connections connections) {
  model::UResNetOptions options;
  options.n_initial_filters = filters;
  options.connections = connections;
  options.depth = 1;
  options.blocks_per_layer = 1;
  options.blocks_deepest_layer = 1;
  options.blocks_final = 1;
  options.filter_size_deepest = 3;
  options.bottleneck_deepest = 8;
  return options;
}

/// Images are many rather than large: what a kernel is cut into goes by the number of tiles. Wide
/// ones are for kernels of which several blocks of threads share an image, and warps a row.
std::vector<Network> networks() {
  using model::Connections;
  Network two_blocks{"two blocks", options_of(8, Connections::sum)};
  two_blocks.options.blocks_per_layer = 2;
  Network no_residuals{"no residuals", options_of(8, Connections::concat)};
  no_residuals.options.residual = false;
  Network no_normalization{"no normalisation", options_of(8, Connections::concat)};
  no_normalization.options.normalization = model::Normalization::none;
  return {{"large images", options_of(8, Connections::concat), 22, 34, 40},
          {"wide images", options_of(8, Connections::sum), 1, 66, 130},
          two_blocks,
          no_residuals,
          no_normalization,
          {"16 filters", options_of(16, Connections::sum)},
          {"20 filters", options_of(20, Connections::none), 6},
          {"32 filters", options_of(32, Connections::concat), 6}};
}

OpCase with_numbers(const compile::Plan& plan) {
  OpCase program;
  program.graph = plan.graph;
  RandomStream random(7, "kernels");
  const auto draw = [&](const graph::TensorType& type, double bound) {
    Tensor tensor = reference::zeros(type);
    for (double& number : tensor.data) {
      number = type.dtype == graph::DType::f32
                   ? static_cast<double>(static_cast<float>(random.uniform(-bound, bound)))
                   : std::floor(random.uniform(0, 3));
    }
    return tensor;
  };
  for (const graph::NamedValue& input : plan.graph.inputs) {
    program.inputs.push_back(draw(plan.graph.type(input.value), 1));
    if (input.name == compile::kLearningRateInput) {
      program.inputs.back().data = {0x1p-5};
    }
  }
  for (const graph::StateVariable& state : plan.graph.states) {
    Tensor tensor = reference::zeros(plan.graph.type(state.value));
    if (state.initializer.kind == graph::Initializer::Kind::uniform) {
      tensor = draw(tensor.type, state.initializer.value);
    } else {
      std::fill(tensor.data.begin(), tensor.data.end(), state.initializer.value);
    }
    program.states[state.name] = tensor;
  }
  return program;
}

Comparison compare_step(const Network& network, model::Phase phase,
                        const compile::Precision& precision) {
  auto machine = std::make_shared<HostMachine>();
  Comparison comparison;
  machine->run = [&](const Work& work) { comparison(work); };
  const std::unique_ptr<Target> target = make_cuda_target(host_driver(machine), 0);
  const compile::TargetInfo info = target->info();
  graph::Builder g;
  const graph::Shape shape{network.batch, 3, network.rows, network.columns};
  const ValueId image = g.input("image", {graph::DType::f32, shape});
  const ValueId logits = model::UResNet(network.options).logits(g, image, phase);
  if (phase == model::Phase::training) {
    const ValueId label = g.input("label", {graph::DType::u8, shape});
    g.output(compile::kLossOutput, model::SegmentationLoss().loss(g, logits, label));
  } else {
    g.output("logits", logits);
  }
  const compile::Plan plan = compile::make_plan(
      g.take(),
      phase == model::Phase::training
          ? compile::training_passes(info, {compile::Sgd{.momentum = 0.5}}, {}, precision)
          : compile::inference_passes(info, precision),
      info, {});
  conformance::run_on(*target, with_numbers(plan), plan, 1);
  return comparison;
}

/// A training step and an inference. Returns the names of the convolutions' kernels.
Kernels compare(const Network& network, const compile::Precision& precision) {
  Kernels kernels;
  for (const model::Phase phase : {model::Phase::training, model::Phase::evaluation}) {
    const Comparison comparison = compare_step(network, phase, precision);
    EXPECT_EQ(comparison.different, 0) << network.name << ", of " << comparison.compared;
    EXPECT_GT(comparison.compared, 100'000);
    kernels.insert(comparison.convolutions.begin(), comparison.convolutions.end());
  }
  return kernels;
}

TEST(KernelsOnTheChip, write_what_their_twins_write_and_all_of_them_are_needed) {
  Kernels compared;
  for (const Network& network : networks()) {
    compared.merge(compare(network, {.format = NumberFormat::bf16}));
  }
  Kernels all{"interpreted", "in chunks"};
  for (const auto& [kernel, name] : conv_kernels()) {
    all.insert(name);
  }
  EXPECT_EQ(compared, all);
}

class KernelsIn : public testing::TestWithParam<std::tuple<std::string, compile::Precision>> {};

TEST_P(KernelsIn, another_format_write_what_their_twins_write) {
  const Network small{"small", options_of(8, model::Connections::concat)};
  compare(small, std::get<1>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(
    , KernelsIn,
    testing::Values(std::tuple{"float32", compile::Precision{}},
                    std::tuple{"tf32", compile::Precision{.tf32 = true}},
                    std::tuple{"float16", compile::Precision{.format = NumberFormat::f16}}),
    [](const auto& instance) { return std::get<0>(instance.param); });

}  // namespace
}  // namespace cosmic::target::cuda
