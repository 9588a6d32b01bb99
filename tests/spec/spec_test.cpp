// Appendix A of the specification: numbers the reference computed for weights and images given by
// formulas. Rows G1 to G12 each change one option of a base network.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <tuple>

#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "session/model.hpp"

namespace cosmic::spec {
namespace {

using model::BalanceScheme;
using model::UResNetOptions;
using session::Tensor;

constexpr std::int64_t kBatch = 2;
constexpr std::int64_t kRows = 16;
constexpr std::int64_t kColumns = 24;
constexpr std::size_t kPixels = kBatch * 3 * kRows * kColumns;

const graph::TensorType kImageType{graph::DType::f32, {kBatch, 3, kRows, kColumns}};
const graph::TensorType kLabelType{graph::DType::u8, {kBatch, 3, kRows, kColumns}};

/// Rates of the fixed schedule: a peak of 3e-4, batches of 2 out of 20 events.
constexpr double kRates[] = {1e-4, 1.2e-4, 1.4e-4, 1.6e-4, 1.8e-4, 2e-4};

/// `copies` times the batch of the appendix.
std::vector<float> image(std::size_t copies = 1) {
  std::vector<float> values(kPixels * copies);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(0.5 + 0.5 * std::sin(0.3 * static_cast<double>(i % kPixels)));
  }
  return values;
}

std::vector<std::uint8_t> label(std::size_t copies = 1) {
  std::vector<std::uint8_t> values(kPixels * copies);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::uint8_t>(i % kPixels / 5 % 3);
  }
  return values;
}

UResNetOptions base() {
  UResNetOptions options;
  options.n_initial_filters = 4;
  options.depth = 2;
  options.blocks_per_layer = 2;
  options.blocks_deepest_layer = 2;
  options.blocks_final = 1;
  options.filter_size_deepest = 5;
  options.bottleneck_deepest = 6;
  options.residual = false;
  options.connections = model::Connections::sum;
  return options;
}

bool is_norm_weight(const std::string& name) {
  const std::string end = "norm.weight";
  return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
}

std::vector<std::string> parameters(const session::ModelState& state) {
  std::vector<std::string> names;
  for (const std::string& name : state.names()) {
    if (state.kind(name) == graph::StateKind::parameter) {
      names.push_back(name);
    }
  }
  return names;
}

/// The fill rule: a running index over all elements of all parameters in their order.
void fill(session::ModelState& state) {
  std::int64_t g = 0;
  for (const std::string& name : parameters(state)) {
    Tensor tensor(state.type(name));
    for (float& element : tensor.as<float>()) {
      const double value = 0.3 * std::sin(0.7 * static_cast<double>(g++) + 0.2);
      element = static_cast<float>(is_norm_weight(name) ? 1 + value : value);
    }
    state.write(name, tensor);
  }
}

session::Options options_for(const std::string& target) {
  session::Options options;
  options.target = target;
  options.threads = 2;
  return options;
}

session::TrainingModel training_model(const UResNetOptions& network_options, BalanceScheme scheme,
                                      const std::string& target,
                                      const compile::Optimizer& optimizer = compile::Sgd{},
                                      std::int64_t accumulation = 1) {
  const model::UResNet network(network_options);
  const model::SegmentationLoss loss(scheme);
  session::Options options = options_for(target);
  options.gradient_accumulation = accumulation;
  options.outputs = {.logits = true, .gradients = true};
  session::TrainingModel training(network, loss, optimizer, options);
  training.compile({kImageType, kLabelType});
  fill(*training.state());
  return training;
}

double sum(std::span<const float> values) {
  double total = 0;
  for (const float value : values) {
    total += value;
  }
  return total;
}

double absolute_sum(std::span<const float> values) {
  double total = 0;
  for (const float value : values) {
    total += std::abs(static_cast<double>(value));
  }
  return total;
}

double parameter_sum(const session::ModelState& state) {
  double total = 0;
  for (const std::string& name : parameters(state)) {
    total += sum(state.read(name).as<float>());
  }
  return total;
}

std::int64_t parameter_count(const session::ModelState& state) {
  std::int64_t count = 0;
  for (const std::string& name : parameters(state)) {
    count += state.type(name).elements();
  }
  return count;
}

double gradient_norm(const session::TrainingModel& training) {
  double squares = 0;
  for (const std::string& name : parameters(*training.state())) {
    for (const float element : training.gradient(name)) {
      squares += static_cast<double>(element) * element;
    }
  }
  return std::sqrt(squares);
}

double first_loss(const UResNetOptions& options, BalanceScheme scheme, const std::string& target) {
  session::TrainingModel training = training_model(options, scheme, target);
  return training(image(), label(), 0).loss;
}

struct Row {
  const char* name;
  std::function<void(UResNetOptions&)> change;
  std::int64_t parameters;
  double sums[3];   ///< of the logits of each plane
  double absolute;  ///< sum of |logits| of plane 0
  double element;   ///< of the logits: plane 1, image 1, class 2, row 3, column 5
  double light;
  double focal;
  double even;
  double gradient;    ///< norm of all gradients of the focal loss
  double evaluation;  ///< sum of |logits| of plane 0 in evaluation, after one training forward
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.name;
}

// clang-format off
const std::vector<Row>& rows() {
  using O = UResNetOptions;
  static const std::vector<Row> rows{
      {"G1_base", [](O&) {},
       6053, {302.2917, 291.9438, 298.2150}, 780.0004, -0.995836, 3.892174, 4.176958, 3.621551, 12.5344, 651.2636},
      {"G2_residual", [](O& o) { o.residual = true; },
       11069, {-684.0619, -668.3353, -662.5480}, 2170.3989, 0.104761, 5.349206, 7.562906, 5.185675, 21.8343, 2951.6386},
      {"G3_concat", [](O& o) { o.connections = model::Connections::concat; },
       6249, {-187.7452, -188.8499, -182.9378}, 741.5826, 0.181453, 3.457741, 4.161994, 3.621367, 5.6812, 525.8102},
      {"G4_none", [](O& o) { o.connections = model::Connections::none; },
       6053, {308.7172, 293.5879, 296.0412}, 774.8264, -2.895867, 3.834941, 4.168059, 3.613664, 49.682, 528.6677},
      {"G5_multiplicative", [](O& o) { o.growth_rate = model::GrowthRate::multiplicative; },
       6309, {-410.4464, -402.5860, -406.1385}, 811.0202, 1.181235, 3.294687, 3.889834, 3.513865, 8.8620, 617.8503},
      {"G6_conv_down", [](O& o) { o.downsampling = model::Downsampling::convolutional; },
       6437, {-349.7206, -349.3417, -347.3851}, 646.9203, -0.596457, 3.272643, 3.999838, 3.544043, 2.7293, 476.5017},
      {"G7_conv_up", [](O& o) { o.upsampling = model::Upsampling::convolutional; },
       6437, {-348.0952, -352.4057, -348.9394}, 649.5379, -0.633414, 3.276294, 4.010097, 3.556602, 3.7494, 435.8455},
      {"G8_block_concat", [](O& o) { o.block_concat = true; },
       5693, {-3.7220, -13.0334, -8.7664}, 814.9713, -0.396897, 3.701603, 4.336658, 3.696091, 3.2014, 786.6784},
      {"G9_no_bias", [](O& o) { o.bias = false; },
       5908, {-7.0250, -9.0274, -9.0483}, 189.5101, 0.001769, 3.555752, 3.444195, 3.346115, 1.9663, 72.0660},
      {"G10_no_normalization", [](O& o) { o.normalization = model::Normalization::none; },
       5769, {1157.3287, 1261.9907, 1051.7266}, 4399.4506, -0.227830, 5.932318, 12.125737, 7.306884, 38.2677, 4399.4506},
      {"G11_3D", [](O& o) { o.conv_mode = model::ConvMode::conv_3D; },
       5981, {230.2358, 220.0711, 207.1876}, 823.5428, 0.091185, 3.909722, 4.216679, 3.626562, 4.5087, 938.5000},
      {"G12_3D_residual_concat_conv_down_conv_up",
       [](O& o) {
         o.conv_mode = model::ConvMode::conv_3D;
         o.residual = true;
         o.connections = model::Connections::concat;
         o.downsampling = model::Downsampling::convolutional;
         o.upsampling = model::Upsampling::convolutional;
       },
       11961, {502.5894, 500.1572, 449.0604}, 769.6733, -0.471583, 4.096784, 3.998950, 3.548597, 6.1016, 27419.3043},
  };
  return rows;
}
// clang-format on

/// How far a number may be from the printed one: half its last digit, and what the target rounds.
double allowed(const std::string& target, double half_digit, double scale) {
  const double rounding = target == "reference" ? 1e-7 : 3e-6;
  return 1.1 * half_digit + rounding * std::abs(scale);
}

class Appendix : public testing::TestWithParam<std::tuple<std::string, Row>> {
 protected:
  static const std::string& target() { return std::get<0>(GetParam()); }
  static const Row& row() { return std::get<1>(GetParam()); }
  static UResNetOptions options() {
    UResNetOptions options = base();
    row().change(options);
    return options;
  }
};

TEST_P(Appendix, the_first_step_gives_the_printed_numbers) {
  const UResNetOptions network = options();
  session::TrainingModel training = training_model(network, BalanceScheme::focal, target());
  EXPECT_EQ(parameter_count(*training.state()), row().parameters);
  // A rate of zero: one forward and backward that leaves the parameters as they are.
  const session::StepResult& result = training(image(), label(), 0);

  const std::size_t plane = result.logits.size() / 3;
  const double sum_error = allowed(target(), 5e-5, row().absolute);
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_NEAR(sum(result.logits.subspan(p * plane, plane)), row().sums[p], sum_error)
        << "plane " << p;
  }
  EXPECT_NEAR(absolute_sum(result.logits.first(plane)), row().absolute, sum_error);
  const std::size_t element = (((1 * kBatch + 1) * 3 + 2) * kRows + 3) * kColumns + 5;
  // G4 has the largest logits and the steepest gradient.
  EXPECT_NEAR(result.logits[element], row().element, allowed(target(), 5e-7, 5));
  EXPECT_NEAR(result.loss, row().focal, allowed(target(), 5e-7, row().focal));
  EXPECT_NEAR(gradient_norm(training), row().gradient,
              (target() == "reference" ? 2e-5 : 1e-4) * row().gradient);

  const model::UResNet evaluated(network);
  session::InferenceModel inference(evaluated, options_for(target()), training.state());
  inference.compile(kImageType);
  EXPECT_NEAR(absolute_sum(inference(image()).first(plane)), row().evaluation,
              allowed(target(), 5e-5, row().evaluation));
}

TEST_P(Appendix, the_other_losses_are_the_printed_ones) {
  EXPECT_NEAR(first_loss(options(), BalanceScheme::light, target()), row().light,
              allowed(target(), 5e-7, row().light));
  EXPECT_NEAR(first_loss(options(), BalanceScheme::even, target()), row().even,
              allowed(target(), 5e-7, row().even));
}

INSTANTIATE_TEST_SUITE_P(
    A1, Appendix, testing::Combine(testing::Values("reference", "cpu"), testing::ValuesIn(rows())),
    [](const auto& instance) {
      return std::get<0>(instance.param) + "_" + std::get<1>(instance.param).name;
    });

class AppendixOn : public testing::TestWithParam<std::string> {
 protected:
  static const std::string& target() { return GetParam(); }

  static void expect_running(const UResNetOptions& options, double mean,
                             std::optional<double> variance) {
    session::TrainingModel training = training_model(options, BalanceScheme::focal, target());
    training(image(), label(), 0);
    const std::string norm = "initial_convolution.norm.";
    EXPECT_NEAR(training.state()->read(norm + "running_mean").as<float>()[0], mean,
                allowed(target(), 5e-8, 0.1));
    if (variance) {
      EXPECT_NEAR(training.state()->read(norm + "running_var").as<float>()[0], *variance,
                  allowed(target(), 5e-8, *variance));
    }
  }

  static std::vector<double> losses(const compile::Optimizer& optimizer,
                                    std::int64_t accumulation = 1) {
    session::TrainingModel training =
        training_model(base(), BalanceScheme::focal, target(), optimizer, accumulation);
    const auto copies = static_cast<std::size_t>(accumulation);
    std::vector<double> losses;
    for (const double rate : kRates) {
      losses.push_back(training(image(copies), label(copies), rate).loss);
    }
    return losses;
  }
};

TEST_P(AppendixOn, running_statistics_see_three_updates_in_2D_and_one_in_3D) {
  for (std::size_t i = 0; i < 8; ++i) {
    SCOPED_TRACE(rows()[i].name);
    UResNetOptions options = base();
    rows()[i].change(options);
    expect_running(options, 0.1186117, 0.7369517);
  }
  UResNetOptions no_bias = base();
  no_bias.bias = false;
  expect_running(no_bias, 0.0467193, std::nullopt);
  for (std::size_t i : {10, 11}) {
    SCOPED_TRACE(rows()[i].name);
    UResNetOptions options = base();
    rows()[i].change(options);
    expect_running(options, 0.0437694, 0.9029352);
  }
}

TEST_P(AppendixOn, adam_follows_the_printed_losses) {
  const std::vector<double> expected{4.176958, 4.162807, 4.158426, 4.149748, 4.139852, 4.129944};
  const std::vector<double> found = losses(compile::Adam{});
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], target() == "reference" ? 1.5e-6 : 1e-4) << "step " << i;
  }
}

// In double precision biases in front of a norm stay where they are, and so they do here even in
// single precision: their gradient is cancelled, not computed.
TEST_P(AppendixOn, adam_moves_no_bias_by_round_off) {
  session::TrainingModel training =
      training_model(base(), BalanceScheme::focal, target(), compile::Adam{});
  for (const double rate : kRates) {
    training(image(), label(), rate);
  }
  EXPECT_NEAR(parameter_sum(*training.state()), 142.7645, target() == "reference" ? 6e-5 : 2e-3);
}

TEST_P(AppendixOn, rmsprop_follows_the_printed_losses) {
  const std::vector<double> expected{4.176958, 4.178823, 4.128454, 4.095074, 4.080769, 4.035400};
  const std::vector<double> found = losses(compile::Rmsprop{});
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], target() == "reference" ? 6e-7 : 3e-3) << "step " << i;
  }
}

TEST_P(AppendixOn, adam_does_not_see_that_accumulated_gradients_are_doubled) {
  const std::vector<double> once = losses(compile::Adam{});
  const std::vector<double> twice = losses(compile::Adam{}, 2);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(twice[i], once[i], target() == "reference" ? 1e-6 : 1e-5) << "step " << i;
  }
}

TEST_P(AppendixOn, scores_are_the_printed_ones) {
  const std::vector<double> expected{
      0.3315972, 0.3057942, 0.1448098, 0.4980900, 0.2253020,  // average
      0.3398438, 0.3115761, 0.1568954, 0.5137795, 0.2342357,  // plane 0
      0.3242188, 0.2990937, 0.1370968, 0.4834776, 0.2180952,  // plane 1
      0.3307292, 0.3067128, 0.1404372, 0.4970128, 0.2235750,  // plane 2
  };
  session::TrainingModel training = training_model(base(), BalanceScheme::focal, target());
  const session::StepResult& result = training(image(), label(), 0);
  const std::vector<std::string> names = model::score_names();
  ASSERT_EQ(names.size(), expected.size());
  ASSERT_EQ(result.scores.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(result.scores[i], expected[i], 1.5e-7) << names[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, AppendixOn, testing::Values("reference", "cpu"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace cosmic::spec
