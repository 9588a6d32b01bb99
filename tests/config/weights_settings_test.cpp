// Settings that belong to weights: which they are, where they come from, and what contradicts them.
#include "config/weights_settings.hpp"

#include <gmock/gmock.h>

#include "config/dump.hpp"
#include "config/parsed.hpp"
#include "config/schema.hpp"
#include "core/error.hpp"

namespace cosmic::config {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

/// Of a network that no preset is, at another scale than the default.
const std::string kTrained = "run.id=1 network=a21 network.depth=3 data.downsample=2";

WeightsRecord record_of(const std::string& line, WeightsUse use = WeightsUse::applied) {
  return {"model-4.safetensors", to_yaml(parsed(line).configuration), use};
}

/// `cosmictagger infer LINE` with weights of a run that was trained as `trained` says.
Resolved inferred(const std::string& line, const std::string& trained = kTrained,
                  Command command = Command::infer) {
  return parsed(line, {.mode = command == Command::train ? Mode::train : Mode::inference,
                       .command = command,
                       .weights = [&](const Situation&) { return record_of(trained); }});
}

TEST(SettingsOfWeights, are_the_network_and_what_it_sees) {
  std::vector<std::string> names;
  for (const Key& key : schema()) {
    if (key.of_weights == OfWeights::belongs) {
      names.push_back(key.name);
      EXPECT_NE(key.of_weights_because, "") << key.name;
    }
  }
  EXPECT_THAT(
      names, ElementsAre("data.downsample", "data.img_transform", "data.image_producer",
                         "data.label_producer", "network.n_initial_filters", "network.depth",
                         "network.blocks_per_layer", "network.blocks_deepest_layer",
                         "network.blocks_final", "network.filter_size_deepest",
                         "network.bottleneck_deepest", "network.residual", "network.bias",
                         "network.normalization", "network.plane_statistics", "network.connections",
                         "network.growth_rate", "network.downsampling", "network.upsampling",
                         "network.conv_mode", "network.block_concat"));
}

TEST(SettingsOfWeights, come_from_the_weights_where_nobody_gave_them) {
  const Resolved resolved = inferred("run.id=1");
  const Configuration trained = parsed(kTrained).configuration;
  EXPECT_EQ(resolved.configuration.network, trained.network);
  EXPECT_EQ(resolved.configuration.data.downsample, 2);
  EXPECT_EQ(resolved.configuration.run.minibatch_size, 2) << "that one is nobody's but the user's";
  EXPECT_THAT(resolved.notes, Contains(AllOf(HasSubstr("from the weights in model-4.safetensors"),
                                             HasSubstr("data.downsample=2"))));
}

TEST(SettingsOfWeights, are_refused_where_they_contradict_with_both_values_and_how_to_insist) {
  EXPECT_THAT([] { inferred("run.id=1 data.downsample=0"); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("contradicts the weights in model-4.safetensors"),
                        HasSubstr("data.downsample=0, theirs is 2"), HasSubstr("another scale"),
                        HasSubstr("mode.insist_on_settings=true"))));
}

TEST(SettingsOfWeights, that_differ_in_much_are_one_sentence) {
  try {
    inferred("run.id=1 network=uresnet");
    FAIL() << "no error";
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_THAT(message,
                AllOf(HasSubstr("settings contradict"), HasSubstr("of network=uresnet, theirs is"),
                      HasSubstr(" more ("), Not(HasSubstr("\n"))));
    EXPECT_LT(message.size(), 600U);
  }
}

TEST(SettingsOfWeights, are_used_as_given_by_who_insists) {
  const Resolved resolved = inferred("run.id=1 data.downsample=0 mode.insist_on_settings=true");
  EXPECT_EQ(resolved.configuration.data.downsample, 0);
  EXPECT_EQ(resolved.configuration.network.depth, 3) << "what nobody gave is still theirs";
}

TEST(SettingsOfWeights, agree_with_the_network_that_they_were_made_from) {
  EXPECT_EQ(inferred("run.id=1 network=a21").configuration.network.depth, 3);
  EXPECT_THAT([] { inferred("run.id=1 network=a21 network.depth=4"); },
              ThrowsMessage<UserError>(HasSubstr("network.depth=4, theirs is 3")));
}

TEST(SettingsOfWeights, that_a_recipe_contradicts_name_the_recipe) {
  EXPECT_THAT(
      [] {
        parsed("run.id=1", {.mode = Mode::inference,
                            .recipe = {"mine.yaml", "data:\n  downsample: 1\n"},
                            .weights = [](const Situation&) { return record_of(kTrained); }});
      },
      ThrowsMessage<UserError>(HasSubstr("data.downsample=1 of mine.yaml, theirs is 2")));
}

TEST(SettingsOfWeights, without_effect_contradict_nothing) {
  EXPECT_THAT(inferred("run.id=1 network.plane_statistics=shared").notes,
              Contains(HasSubstr("network.plane_statistics=shared has no effect")));
  EXPECT_THAT(
      [] { inferred("run.id=1 network.plane_statistics=shared", kTrained, Command::train); },
      ThrowsMessage<UserError>(HasSubstr("network.plane_statistics=shared, theirs is own")));
}

TEST(SettingsOfWeights, of_noise_say_nothing_about_producers) {
  const Resolved resolved =
      inferred("run.id=1 data.image_producer=wires", "run.id=1 data=synthetic data.downsample=3");
  EXPECT_EQ(resolved.configuration.data.image_producer, "wires");
  EXPECT_EQ(resolved.configuration.data.downsample, 3);
}

TEST(SettingsOfWeights, that_cannot_be_read_are_not_guessed) {
  const auto with = [](const std::string& line) {
    return parsed(line, {.mode = Mode::inference, .weights = [](const Situation&) {
                           return WeightsRecord{"old.safetensors", "network:\n  deepness: 3\n"};
                         }});
  };
  EXPECT_THAT([&] { with("run.id=1"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("old.safetensors"), HasSubstr("deepness"),
                                             HasSubstr("mode.insist_on_settings=true"))));
  EXPECT_EQ(with("run.id=1 mode.insist_on_settings=true").configuration.network.depth, 6);
}

TEST(SettingsOfWeights, of_the_run_itself_are_left_to_the_rules_of_resuming) {
  const auto resumed = [](const std::string& line) {
    return parsed(line,
                  {.mode = Mode::train,
                   .weights =
                       [](const Situation&) { return record_of(kTrained, WeightsUse::continued); }})
        .configuration;
  };
  EXPECT_EQ(resumed("run.id=1 network=a21").data.downsample, 2);
  EXPECT_EQ(resumed("run.id=1 network=a21 data.downsample=1").data.downsample, 1);
}

TEST(SettingsOfWeights, do_not_move_a_run_out_of_the_folder_of_its_checkpoints) {
  EXPECT_EQ(inferred("run.id=1").configuration.output_dir, "output/torch/uresnet/1/");
  EXPECT_EQ(inferred("run.id=1 mode.weights_location=x").configuration.output_dir,
            "output/torch/A21/1/");
}

}  // namespace
}  // namespace cosmic::config
