// `cosmictagger test` in every format and on every target that has it: status 0 where the target is
// right, 1 where somebody planted an error of a few bits in one layer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command.hpp"
#include "cli/run_command.hpp"
#include "cli/test_report.hpp"
#include "config/parse.hpp"
#include "run/run_choices.hpp"
#include "run/target_test.hpp"
#include "target/check/planted_target.hpp"
#include "target/registry.hpp"
#include "target/targets_here.hpp"

namespace cosmic::target::check {
namespace {

using run::TargetTest;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

/// A network that takes images of 8 x 8 pixels.
struct TestedNetwork {
  std::string name;
  Words words;
};

const std::vector<TestedNetwork>& networks() {
  static const std::vector<TestedNetwork> all{
      {"a21",
       {"network=a21", "network.n_initial_filters=2", "network.depth=2",
        "network.bottleneck_deepest=3", "network.blocks_deepest_layer=1",
        "network.blocks_final=1"}},
      {"uresnet",
       {"network=uresnet", "network.n_initial_filters=4", "network.depth=2",
        "network.blocks_deepest_layer=1", "network.bottleneck_deepest=6",
        "network.blocks_final=1"}},
      {"uresnet_3d",
       {"network=uresnet", "network.conv_mode=conv_3D", "network.n_initial_filters=4",
        "network.depth=2", "network.blocks_deepest_layer=1", "network.bottleneck_deepest=6",
        "network.blocks_final=1"}},
  };
  return all;
}

/// Formats, and what an error of a few bits is in them.
struct TestedFormats {
  std::string name;
  Words words;
  double few_bits;
};

const std::vector<TestedFormats>& formats() {
  static const std::vector<TestedFormats> all{
      {"float32", {}, 0x1p-17},
      {"bfloat16", {"run.precision=bfloat16"}, 0x1p-5},
      {"bfloat16_pure", {"run.precision=bfloat16", "run.master_weights=false"}, 0x1p-5},
      {"bfloat16_stochastic", {"run.precision=bfloat16", "run.rounding=stochastic"}, 0x1p-4},
      {"float16", {"run.precision=float16"}, 0x1p-8},
      {"mixed", {"run.precision=mixed"}, 0x1p-8},
      {"float16_half_sums", {"run.precision=float16", "run.partials=float16"}, 0x1p-6},
  };
  return all;
}

config::Configuration configuration_of(const TestedNetwork& network, const TestedFormats& formats,
                                       const Words& more = {}) {
  Words words = network.words;
  words.insert(words.end(), formats.words.begin(), formats.words.end());
  words.insert(words.end(), {"data.downsample=0", "run.threads=2", "run.minibatch_size=2"});
  words.insert(words.end(), more.begin(), more.end());
  return config::parse(words, config::ParseOptions{.mode = config::Mode::train,
                                                   .missing = config::MissingKeys::leave})
      .configuration;
}

std::string worst_of(const TargetTest& test) {
  const ValueCheck& worst = test.worst();
  return worst.op + " of " + worst.layer + ": off by " + std::to_string(worst.share()) +
         " of its bound, spread " + std::to_string(worst.spread);
}

class EveryFormat
    : public testing::TestWithParam<std::tuple<std::string, TestedNetwork, TestedFormats>> {
 protected:
  const std::string& target_name() const { return std::get<std::string>(GetParam()); }
  TargetTest test(const Target& target) const {
    return run::test_target(configuration_, target, {8, 8});
  }

  const config::Configuration configuration_ =
      configuration_of(std::get<TestedNetwork>(GetParam()), std::get<TestedFormats>(GetParam()));
};

TEST_P(EveryFormat, a_sound_target_is_called_right_and_nearly_every_value_proves_something) {
  const TargetTest result = test(*make_target(target_name()));
  EXPECT_TRUE(result.passed()) << worst_of(result);
  EXPECT_GT(result.values(), 100U);
  EXPECT_LE(result.count(Verdict::proves_nothing), result.values() / 100);
  EXPECT_TRUE(result.programs.front().check.same_bits);
}

TEST_P(EveryFormat, an_error_of_a_few_bits_in_one_layer_is_found_and_named) {
  const double few_bits = std::get<TestedFormats>(GetParam()).few_bits;
  // Forwards, at the first layer and deep inside; backwards, an image's and a kernel's gradient.
  for (const auto& [op, nth] : std::vector<std::pair<std::string, std::size_t>>{
           {"conv", 0}, {"conv", 5}, {"conv_transpose", 4}, {"conv_kernel_gradient", 3}}) {
    const PlantedTarget wrong(make_target(target_name()), {op, nth, 1 + few_bits});
    const TargetTest result = test(wrong);
    ASSERT_FALSE(wrong.layer().empty()) << op << ' ' << nth;
    EXPECT_FALSE(result.passed()) << op << ' ' << nth << " at " << wrong.layer();
    std::vector<std::string> found;
    for (const ValueCheck& check : result.programs.front().check.values) {
      if (check.verdict == Verdict::wrong) {
        found.push_back(check.op + " at " + check.layer);
      }
    }
    EXPECT_THAT(found, testing::ElementsAre(op + " at " + wrong.layer()));
  }
}

/// Every network in every format that a target has. Modelled machines have the programs of the
/// host, so that one network shows what is theirs.
std::vector<std::tuple<std::string, TestedNetwork, TestedFormats>> all_tests() {
  std::vector<std::tuple<std::string, TestedNetwork, TestedFormats>> tests;
  for (const std::string& name : targets_here()) {
    const auto target = make_target(name);
    for (const TestedNetwork& network : networks()) {
      for (const TestedFormats& format : formats()) {
        const bool repeats =
            target->provenance() == Provenance::modelled && network.name != networks()[0].name;
        const Support support =
            target->supports_precision(run::precision_of(configuration_of(network, format).run));
        if (name != oracle_name() && !repeats && support.ok) {
          tests.emplace_back(name, network, format);
        }
      }
    }
  }
  return tests;
}

INSTANTIATE_TEST_SUITE_P(TargetTest, EveryFormat, testing::ValuesIn(all_tests()),
                         [](const auto& instance) {
                           return std::get<0>(instance.param) + "_" +
                                  std::get<1>(instance.param).name + "_" +
                                  std::get<2>(instance.param).name;
                         });

TEST(TargetTest, checks_the_update_of_accumulated_gradients_too) {
  const TargetTest result = run::test_target(
      configuration_of(networks()[0], formats()[0], {"mode.optimizer.gradient_accumulation=2"}),
      *make_target("cpu"), {8, 8});
  ASSERT_EQ(result.programs.size(), 2U);
  EXPECT_EQ(result.programs[1].name, "update");
  EXPECT_GT(result.programs[1].check.values.size(), 20U);
  EXPECT_TRUE(result.passed()) << worst_of(result);
}

TEST(TargetTest, holds_every_optimizer_and_loss_to_its_bound) {
  for (const Words& words : {Words{"mode.optimizer.name=rmsprop"}, Words{"mode.optimizer.name=sgd"},
                             Words{"mode.optimizer.name=sgd", "mode.optimizer.momentum=0.9"},
                             Words{"mode.optimizer.loss_balance_scheme=even"},
                             Words{"mode.optimizer.loss_balance_scheme=none"}}) {
    const TargetTest result = run::test_target(configuration_of(networks()[0], formats()[0], words),
                                               *make_target("cpu"), {8, 8});
    EXPECT_TRUE(result.passed()) << words.back() << ": " << worst_of(result);
  }
}

TEST(TargetTest, finds_the_reference_target_to_be_itself) {
  const TargetTest result = run::test_target(configuration_of(networks()[0], formats()[1]),
                                             *make_target(oracle_name()), {8, 8});
  EXPECT_TRUE(result.passed()) << worst_of(result);
  for (const ResultCheck& check : result.programs.front().check.results) {
    EXPECT_NEAR(check.difference, 0, 1e-7 * check.scale) << check.name;  // handed back as floats
  }
}

/// Images deep enough that one rounding becomes percents at the end: what made the old test
/// useless.
TEST(TargetTest, an_ill_conditioned_network_is_judged_all_the_same) {
  const config::Configuration configuration =
      configuration_of({"deep",
                        {"network=a21", "network.n_initial_filters=2", "network.depth=5",
                         "network.bottleneck_deepest=16", "network.blocks_deepest_layer=3"}},
                       formats()[1], {"run.minibatch_size=1"});
  const TargetTest result =
      run::test_target(configuration, *make_target("cpu"), run::smallest_image(configuration));
  EXPECT_TRUE(result.passed()) << worst_of(result);
  EXPECT_LE(result.count(Verdict::proves_nothing), result.values() / 100);
}

// --- what people see of it ---

TEST(TestReport, ends_with_status_1_and_names_the_value_that_is_wrong) {
  const PlantedTarget wrong(make_target("cpu"), {"conv", 1, 1 + 0x1p-5});
  const TargetTest result =
      run::test_target(configuration_of(networks()[0], formats()[1]), wrong, {8, 8});
  std::string text;
  testing::internal::CaptureStdout();
  try {
    cli::report_test(result, "title", cli::TestRows::by_layer);
    FAIL() << "a wrong value ended without a status";
  } catch (const cli::ExitStatus& status) {
    EXPECT_EQ(status.status(), 1);
  }
  text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, AllOf(HasSubstr("WRONG          1;"), HasSubstr("wrong values"),
                          HasSubstr(wrong.layer())));
}

TEST(TestReport, says_how_many_values_were_judged_where_all_are_right) {
  const TargetTest result =
      run::test_target(configuration_of(networks()[0], formats()[1]), *make_target("cpu"), {8, 8});
  const std::string text =
      cli::printed_by([&] { cli::report_test(result, "title", cli::TestRows::by_layer); });
  const std::string all = std::to_string(result.values());
  EXPECT_THAT(text, AllOf(HasSubstr("ok             " + all + " of " + all + " values"),
                          HasSubstr("WRONG          0;"), Not(HasSubstr("wrong values")),
                          HasSubstr("the same bits"), HasSubstr("end to end")));
}

}  // namespace
}  // namespace cosmic::target::check
