// Our network against what the reference computed, over all golden files of a folder:
// $COSMIC_GOLDEN_DIR, or else the reference's own files, where they are, and the project's.
//
// Tolerances are those of the files' README. Convolution biases in front of a batch norm are left
// out: their true gradient is zero, and adaptive optimizers turn round-off into full steps.
//
// The end of a run is compared in three ways. The reference's final weights, given to our network,
// must give its final logits and scores, as tightly as the first ones. Our own final weights may
// differ by what round-off does to an adaptive optimizer, which is a small part of the way that
// they have come. And as in evaluation a bias in front of a batch norm counts, our final network is
// evaluated with the reference's in the place of ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <tuple>

#include "golden/golden_file.hpp"
#include "model/uresnet.hpp"
#include "session/model.hpp"
#include "target/targets_here.hpp"

namespace cosmic::golden {
namespace {

using session::NamedTensors;
using session::Tensor;

constexpr const char* kFolderVariable = "COSMIC_GOLDEN_DIR";
// Tests run in the top folder of the sources.
constexpr const char* kReferenceFolder = "../shared/golden";
constexpr const char* kOwnFolder = "tests/golden";

constexpr double kFirstTolerance = 1e-5;
constexpr double kGradientTolerance = 1e-4;
constexpr double kLaterTolerance = 1e-2;
constexpr double kScoreTolerance = 1e-6;

/// How far the end of our own training may be from the file's.
struct FinalTolerance {
  double of_tensor = 0;  ///< of the way that a parameter has come since the start, by norm
  double of_all = 0;     ///< of the way of all parameters together
  double of_logits = 0;  ///< of the largest evaluation logit
};
constexpr double kAny = std::numeric_limits<double>::infinity();
// The project's files are computed in double precision, and so is the target `reference`.
constexpr FinalTolerance kInDouble{1e-4, 1e-5, 1e-4};
// Largest that was seen: 6.5e-3, 2.1e-5 and 1.4e-5.
constexpr FinalTolerance kInFloat{2e-2, 1e-3, 1e-3};
// Where both are float32, round-off makes steps of elements whose gradient is nearly zero, and five
// steps let it grow: up to 0.08 of the way together. A step too few or too many is about a fifth.
constexpr FinalTolerance kBothInFloat{kAny, 0.15, 0.1};
// The first steps of RMSprop are ten times the rate: up to 0.35 of the way was seen.
constexpr FinalTolerance kOfRmsprop{kAny, 0.75, kAny};

std::vector<std::filesystem::path> golden_folders() {
  if (const char* chosen = std::getenv(kFolderVariable); chosen != nullptr && *chosen != '\0') {
    return {chosen};
  }
  return {kReferenceFolder, kOwnFolder};
}

std::vector<std::filesystem::path> golden_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code no_folder;
  for (const auto& entry : std::filesystem::directory_iterator(folder, no_folder)) {
    if (entry.path().extension() == ".h5") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::filesystem::path> golden_files() {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& folder : golden_folders()) {
    const std::vector<std::filesystem::path> more = golden_files(folder);
    files.insert(files.end(), more.begin(), more.end());
  }
  return files;
}

/// What our network makes of a golden file's batch and weights.
struct Outcome {
  std::vector<float> initial_eval_logits;
  std::vector<float> train_logits;
  std::map<std::string, std::vector<float>> gradients;
  NamedTensors state_after_first_step;
  std::vector<float> first_scores;
  std::vector<double> losses;
  NamedTensors final_state;
  /// Evaluation logits of it, with the biases in front of a batch norm that the reference has.
  std::vector<float> final_eval_logits;
  /// What our network makes of the reference's final state.
  std::vector<float> eval_logits_of_its_final_state;
  std::vector<float> scores_of_its_final_state;
};

std::vector<float> copy(std::span<const float> values) {
  return {values.begin(), values.end()};
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool is_bias_before_norm(const NamedTensors& state, const std::string& name) {
  const std::string bias = "conv.bias";
  return ends_with(name, bias) &&
         state.contains(name.substr(0, name.size() - bias.size()) + "norm.weight");
}

bool is_running_statistic(const std::string& name) {
  return ends_with(name, "running_mean") || ends_with(name, "running_var");
}

/// The running mean of such a norm, which holds the bias.
bool is_mean_behind_bias(const NamedTensors& state, const std::string& name) {
  const std::string mean = "norm.running_mean";
  return ends_with(name, mean) &&
         state.contains(name.substr(0, name.size() - mean.size()) + "conv.bias");
}

Outcome run_model(const GoldenFile& file, const std::string& target) {
  const model::UResNet network(file.network);
  const model::SegmentationLoss loss(file.scheme);
  session::Options options;
  options.target = target;
  options.threads = 2;
  session::Options training_options = options;
  training_options.outputs = {.logits = true, .gradients = true};
  session::TrainingModel training(network, loss, file.optimizer, training_options);
  training.compile({file.image.type, file.label.type});
  training.state()->write_weights(file.initial_state);
  session::InferenceModel inference(network, options, training.state());
  inference.compile(file.image.type);

  Outcome outcome;
  outcome.initial_eval_logits = copy(inference(file.image.as<float>()));
  for (std::size_t step = 0; step < file.losses.size(); ++step) {
    const session::StepResult& result =
        training(file.image.as<float>(), file.label.as<std::uint8_t>(), file.learning_rate);
    outcome.losses.push_back(result.loss);
    if (step == 0) {
      outcome.train_logits = copy(result.logits);
      outcome.first_scores = copy(result.scores);
      outcome.state_after_first_step = training.state()->read_weights();
      for (const auto& [name, gradient] : file.gradients) {
        outcome.gradients[name] = copy(training.gradient(name));
      }
    }
  }
  outcome.final_state = training.state()->read_weights();
  NamedTensors comparable = outcome.final_state;
  for (auto& [name, tensor] : comparable) {
    if (is_bias_before_norm(file.final_state, name) ||
        is_mean_behind_bias(file.final_state, name)) {
      tensor = file.final_state.at(name);
    }
  }
  training.state()->write_weights(comparable);
  outcome.final_eval_logits = copy(inference(file.image.as<float>()));
  training.state()->write_weights(file.final_state);
  outcome.eval_logits_of_its_final_state = copy(inference(file.image.as<float>()));
  session::EvaluationModel evaluation(network, loss, options, training.state());
  evaluation.compile({file.image.type, file.label.type});
  outcome.scores_of_its_final_state =
      copy(evaluation(file.image.as<float>(), file.label.as<std::uint8_t>()).scores);
  return outcome;
}

double norm(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) {
    sum += static_cast<double>(value) * value;
  }
  return std::sqrt(sum);
}

double largest(std::span<const float> values) {
  double most = 0;
  for (const float value : values) {
    most = std::max(most, std::abs(static_cast<double>(value)));
  }
  return most;
}

std::vector<float> difference(std::span<const float> a, std::span<const float> b) {
  std::vector<float> result(a.size());
  std::transform(a.begin(), a.end(), b.begin(), result.begin(), std::minus<>());
  return result;
}

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

/// Every element within `tolerance` of the largest: what round-off of a sum is relative to.
void expect_close(std::span<const float> value, std::span<const float> expected, double tolerance,
                  const std::string& what) {
  ASSERT_EQ(value.size(), expected.size()) << what;
  ASSERT_TRUE(all_finite(value)) << what;
  EXPECT_LE(largest(difference(value, expected)), tolerance * largest(expected)) << what;
}

void expect_close_planes(std::span<const float> value, std::span<const float> expected,
                         double tolerance) {
  ASSERT_EQ(value.size(), expected.size());
  const std::size_t plane = value.size() / 3;
  for (std::size_t p = 0; p < 3; ++p) {
    expect_close(value.subspan(p * plane, plane), expected.subspan(p * plane, plane), tolerance,
                 "plane " + std::to_string(p));
  }
}

/// How far a parameter moves against a gradient in the first step. Grows with the gradient.
struct FirstUpdate {
  double rate;
  double gradient;

  // The corrected moments of a first step are the gradient and its square.
  double operator()(const compile::Adam& adam) const {
    return rate * gradient / (std::abs(gradient) + adam.epsilon);
  }
  double operator()(const compile::Rmsprop& rmsprop) const {
    return rate * gradient / (std::sqrt(1 - rmsprop.alpha) * std::abs(gradient) + rmsprop.epsilon);
  }
  double operator()(const compile::Sgd&) const { return rate * gradient; }
};

/// How far the first update may be off when the gradient is off by `error`. Adam's first step is
/// the sign of the gradient, so where the error reaches the gradient itself the step may go either
/// way.
double update_error(const GoldenFile& file, double gradient, double error) {
  const auto update = [&](double g) {
    return std::visit(FirstUpdate{file.learning_rate, g}, file.optimizer);
  };
  return std::max(update(gradient + error) - update(gradient),
                  update(gradient) - update(gradient - error));
}

using Case = std::tuple<std::string, std::filesystem::path>;

class Golden : public testing::TestWithParam<Case> {
 protected:
  /// All tests of a file look at one run of it.
  struct Results {
    GoldenFile file;
    Outcome outcome;
  };

  static const Results& results() {
    static std::map<Case, Results> known;
    const auto found = known.find(GetParam());
    if (found != known.end()) {
      return found->second;
    }
    const auto& [target, path] = GetParam();
    GoldenFile file = read_golden_file(path);
    Outcome outcome = run_model(file, target);
    return known.emplace(GetParam(), Results{std::move(file), std::move(outcome)}).first->second;
  }
  static const GoldenFile& file() { return results().file; }
  static const Outcome& ours() { return results().outcome; }
};

TEST_P(Golden, initial_evaluation_logits_agree) {
  expect_close_planes(ours().initial_eval_logits, file().initial_eval_logits, kFirstTolerance);
}

TEST_P(Golden, first_training_logits_agree) {
  expect_close_planes(ours().train_logits, file().train_logits, kFirstTolerance);
}

TEST_P(Golden, first_loss_agrees) {
  const double expected = file().losses.at(0);
  EXPECT_NEAR(ours().losses.at(0), expected, kFirstTolerance * expected);
}

TEST_P(Golden, first_gradients_agree_by_norm) {
  for (const auto& [name, tensor] : file().gradients) {
    if (is_bias_before_norm(file().initial_state, name)) {
      continue;
    }
    const std::span<const float> expected = tensor.as<float>();
    const std::vector<float>& gradient = ours().gradients.at(name);
    ASSERT_EQ(gradient.size(), expected.size()) << name;
    // A gradient that is exactly zero, of a layer nothing flows through, must be just that.
    EXPECT_LE(norm(difference(gradient, expected)), kGradientTolerance * norm(expected)) << name;
  }
}

TEST_P(Golden, first_running_statistics_agree) {
  for (const auto& [name, tensor] : file().state_after_first_step) {
    const Tensor& value = ours().state_after_first_step.at(name);
    ASSERT_EQ(value.type, tensor.type) << name;
    if (is_running_statistic(name)) {
      expect_close(value.as<float>(), tensor.as<float>(), kFirstTolerance, name);
    } else if (tensor.type.dtype == graph::DType::i64) {
      EXPECT_EQ(value.as<std::int64_t>()[0], tensor.as<std::int64_t>()[0]) << name;
    }
  }
}

TEST_P(Golden, first_update_moves_parameters_as_its_gradients_say) {
  for (const auto& [name, gradient_tensor] : file().gradients) {
    if (is_bias_before_norm(file().initial_state, name)) {
      continue;
    }
    const std::span<const float> gradient = gradient_tensor.as<float>();
    const std::span<const float> expected = file().state_after_first_step.at(name).as<float>();
    const std::span<const float> value = ours().state_after_first_step.at(name).as<float>();
    ASSERT_EQ(value.size(), expected.size()) << name;
    const double gradient_error = kGradientTolerance * norm(gradient);
    for (std::size_t i = 0; i < value.size(); ++i) {
      constexpr double kRounding = 1e-6;  // of parameter and step, in single precision
      const double allowed =
          update_error(file(), gradient[i], gradient_error) +
          kRounding * (std::abs(static_cast<double>(expected[i])) + file().learning_rate);
      EXPECT_NEAR(value[i], expected[i], allowed) << name << ", element " << i;
    }
  }
}

void expect_scores(std::span<const float> scores, const Scores& expected_scores) {
  const std::vector<std::string> names = model::score_names();
  ASSERT_EQ(scores.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double expected = expected_scores.at(names[i]);
    const double value = scores[i];
    EXPECT_TRUE(std::isnan(expected) ? std::isnan(value)
                                     : std::abs(value - expected) <= kScoreTolerance)
        << names[i] << " is " << value << ", expected " << expected;
  }
}

TEST_P(Golden, first_scores_agree) {
  expect_scores(ours().first_scores, file().first_scores);
}

TEST_P(Golden, later_losses_agree) {
  ASSERT_EQ(ours().losses.size(), file().losses.size());
  for (std::size_t step = 1; step < file().losses.size(); ++step) {
    EXPECT_NEAR(ours().losses[step], file().losses[step], kLaterTolerance * file().losses[step])
        << "step " << step;
  }
}

TEST_P(Golden, its_final_weights_give_its_final_logits) {
  expect_close_planes(ours().eval_logits_of_its_final_state, file().final_eval_logits,
                      kFirstTolerance);
}

TEST_P(Golden, its_final_weights_give_its_final_scores) {
  expect_scores(ours().scores_of_its_final_state, file().final_scores);
}

FinalTolerance final_tolerance(const GoldenFile& file, const Case& which) {
  const bool in_double = std::get<std::filesystem::path>(which).parent_path() == kOwnFolder;
  if (in_double && std::get<std::string>(which) == "reference") {
    return kInDouble;
  }
  if (std::holds_alternative<compile::Rmsprop>(file.optimizer)) {
    return kOfRmsprop;
  }
  return in_double ? kInFloat : kBothInFloat;
}

TEST_P(Golden, training_ends_with_its_weights) {
  const FinalTolerance tolerance = final_tolerance(file(), GetParam());
  double way_of_all = 0;  // squared
  double off = 0;
  for (const auto& [name, tensor] : file().final_state) {
    const Tensor& value = ours().final_state.at(name);
    ASSERT_EQ(value.type, tensor.type) << name;
    if (tensor.type.dtype == graph::DType::i64) {
      EXPECT_EQ(value.as<std::int64_t>()[0], tensor.as<std::int64_t>()[0]) << name;
    } else if (!is_bias_before_norm(file().final_state, name) && !is_running_statistic(name)) {
      const std::span<const float> expected = tensor.as<float>();
      ASSERT_EQ(value.as<float>().size(), expected.size()) << name;
      const double way = norm(difference(expected, file().initial_state.at(name).as<float>()));
      const double error = norm(difference(value.as<float>(), expected));
      EXPECT_LE(error, tolerance.of_tensor * way) << name;
      way_of_all += way * way;
      off += error * error;
    }
  }
  EXPECT_GT(way_of_all, 0);
  EXPECT_LE(std::sqrt(off), tolerance.of_all * std::sqrt(way_of_all));
}

TEST_P(Golden, training_ends_with_its_evaluation_logits) {
  expect_close_planes(ours().final_eval_logits, file().final_eval_logits,
                      final_tolerance(file(), GetParam()).of_logits);
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  const auto& [target, path] = info.param;
  std::string name = target + "_" + path.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

/// What is only modelled computes as the host does.
std::vector<std::string> measured_targets_here() {
  std::vector<std::string> names = target::targets_here();
  std::erase_if(names, [](const std::string& name) {
    return target::provenance_of(name) != Provenance::measured;
  });
  return names;
}

INSTANTIATE_TEST_SUITE_P(AllFiles, Golden,
                         testing::Combine(testing::ValuesIn(measured_targets_here()),
                                          testing::ValuesIn(golden_files())),
                         case_name);

TEST(GoldenFolder, holds_golden_files) {
  for (const std::filesystem::path& folder : golden_folders()) {
    if (folder == kReferenceFolder && !std::filesystem::exists(folder)) {
      continue;
    }
    EXPECT_FALSE(golden_files(folder).empty())
        << "no *.h5 in " << folder << "; set " << kFolderVariable
        << " to a folder of golden files, or unset it";
  }
}

TEST(GoldenFolder, of_the_reference_is_there) {
  if (golden_folders().front() != kReferenceFolder) {
    GTEST_SKIP() << "only the files of " << golden_folders().front() << " are tested ("
                 << kFolderVariable << " is set)";
  }
  if (!std::filesystem::exists(kReferenceFolder)) {
    GTEST_SKIP() << "needs " << kReferenceFolder << "; only the files of " << kOwnFolder
                 << " are tested";
  }
}

}  // namespace
}  // namespace cosmic::golden
