#include "run/layer_comparison.hpp"

#include <gmock/gmock.h>

#include "config/parse.hpp"
#include "core/error.hpp"
#include "run/explain_options.hpp"

namespace cosmic::run {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kProfile = R"({
  "format": "cosmictagger profile", "format_version": 1, "revision": "abc",
  "purpose": "training", "network": "A21", "batch": "f32[2x3x640x1024]",
  "machine": {"target": "cpu", "provenance": "measured", "threads": 2},
  "step": {"seconds": 0.010},
  "ops": [
    {"op": "conv", "layer": "first.conv", "seconds": 0.004},
    {"op": "leaky_relu", "layer": "first.norm", "seconds": 0.001},
    {"op": "conv_transpose", "layer": "block.0.convolution_2.conv", "seconds": 0.002},
    {"op": "add", "layer": "block.0", "seconds": 0.0005},
    {"op": "weighted_mean", "layer": "", "seconds": 0.0015}]})";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  return text.replace(text.find(what), what.size(), with);
}

machine::Prediction predicted() {
  machine::Prediction prediction;
  prediction.step.best = machine::ModelledTime(0.008);
  const auto add = [&](const char* op, const char* layer, double seconds) {
    machine::OpTime time;
    time.op = op;
    time.layer = layer;
    time.time = machine::ModelledTime(seconds);
    prediction.ops.push_back(time);
  };
  add("conv", "first.conv", 0.003);
  add("adam_step", "first.conv.weight", 0.0005);
  add("conv_kernel_gradient", "block.0.convolution_1.conv", 0.004);
  return prediction;
}

RunChoice choice(std::vector<std::string> settings) {
  return choice_of(config::parse(settings, {.command = config::Command::explain,
                                            .missing = config::MissingKeys::leave})
                       .configuration,
                   {});
}

const ComparedTime& named(const std::vector<ComparedTime>& times, const std::string& what) {
  for (const ComparedTime& time : times) {
    if (time.what == what) {
      return time;
    }
  }
  throw std::runtime_error("there is no " + what);
}

TEST(LayerComparison, parts_of_a_block_count_to_their_layer) {
  const LayerComparison comparison = compared(predicted(), parse_profile(kProfile, "p.json"));
  ASSERT_EQ(comparison.layers.size(), 3U);
  EXPECT_EQ(comparison.layers.front().what, "first");  // the longest is first
  EXPECT_DOUBLE_EQ(comparison.layers.front().measured_seconds, 0.005);
  EXPECT_DOUBLE_EQ(comparison.layers.front().predicted.modelled_seconds(), 0.0035);
  const ComparedTime& block = named(comparison.layers, "block.0");
  EXPECT_DOUBLE_EQ(block.measured_seconds, 0.0025);
  EXPECT_DOUBLE_EQ(block.predicted_to_measured(), 0.004 / 0.0025);
  EXPECT_DOUBLE_EQ(comparison.step.predicted_to_measured(), 0.8);
}

TEST(LayerComparison, products_are_told_from_everything_else) {
  const LayerComparison comparison = compared(predicted(), parse_profile(kProfile, "p.json"));
  const ComparedTime& products = named(comparison.kinds, "convolutions and their gradients");
  EXPECT_DOUBLE_EQ(products.measured_seconds, 0.006);
  EXPECT_DOUBLE_EQ(products.predicted.modelled_seconds(), 0.007);
}

TEST(LayerComparison, short_layers_are_shown_as_one) {
  const LayerComparison comparison = compared(predicted(), parse_profile(kProfile, "p.json"));
  const std::vector<ComparedTime> rows = longest(comparison.layers, 1);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows.back().what, "2 others");
  EXPECT_DOUBLE_EQ(rows.back().measured_seconds, 0.004);
}

TEST(LayerComparison, its_text_says_what_was_measured_and_what_is_modelled) {
  const MeasuredProfile profile = parse_profile(kProfile, "p.json");
  EXPECT_THAT(text_of(compared(predicted(), profile), profile, "zen4-2core"),
              AllOf(HasSubstr("Measured: p.json (cpu, 2 threads, revision abc)"),
                    HasSubstr("zen4-2core, modelled"), HasSubstr("0.80")));
}

TEST(LayerComparison, a_profile_of_another_run_is_refused) {
  const MeasuredProfile profile = parse_profile(kProfile, "p.json");
  EXPECT_NO_THROW(
      require_same_run(profile, choice({"network=a21", "mode=train", "run.minibatch_size=2"})));
  EXPECT_THAT([&] { require_same_run(profile, choice({"network=uresnet", "mode=train"})); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("network A21"), HasSubstr("p.json"))));
  EXPECT_THAT([&] { require_same_run(profile, choice({"network=a21", "mode=inference"})); },
              ThrowsMessage<UserError>(HasSubstr("mode training")));
  EXPECT_THAT(
      [&] {
        require_same_run(profile, choice({"network=a21", "mode=train", "run.minibatch_size=8"}));
      },
      ThrowsMessage<UserError>(HasSubstr("f32[2, and the settings say f32[8")));
}

TEST(LayerComparison, what_is_no_measured_profile_is_refused_with_the_reason) {
  const auto reading = [](const std::string& text) { return [text] { parse_profile(text, "x"); }; };
  EXPECT_THAT(reading("{}"), ThrowsMessage<DataError>(HasSubstr("no profile")));
  EXPECT_THAT(reading("not JSON"), ThrowsMessage<DataError>(HasSubstr("no profile")));
  EXPECT_THAT(reading(replaced(kProfile, "\"measured\"", "\"modelled\"")),
              ThrowsMessage<DataError>(HasSubstr("its times are modelled")));
  EXPECT_THAT(reading(replaced(kProfile, "\"ops\"", "\"other\"")),
              ThrowsMessage<DataError>(HasSubstr("'ops' is missing")));
  EXPECT_THAT(reading(replaced(kProfile, "0.004", "\"long\"")),
              ThrowsMessage<DataError>(HasSubstr("another kind of value")));
  EXPECT_THAT([] { read_profile("nowhere/profile.json"); },
              ThrowsMessage<UserError>(HasSubstr("nowhere/profile.json")));
}

}  // namespace
}  // namespace cosmic::run
