// Settings that cannot have any effect: none may be silent about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "config/parsed.hpp"
#include "config/schema.hpp"
#include "core/error.hpp"

namespace cosmic::config {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ThrowsMessage;

Mode mode_of(Command command) {
  switch (command) {
    case Command::infer:
    case Command::evaluate:
    case Command::export_network:
      return Mode::inference;
    case Command::iotest:
      return Mode::iotest;
    default:
      return Mode::train;
  }
}

ParseOptions in(Command command) {
  return {.mode = mode_of(command), .command = command, .missing = MissingKeys::leave};
}

std::vector<Command> all_commands() {
  std::vector<Command> commands;
  for (const std::string_view name : model::EnumText<Command>::names) {
    commands.push_back(model::parse_enum<Command>(std::string(name)));
  }
  return commands;
}

/// A value that a key does not have by itself.
std::string other_value(const Key& key) {
  const std::map<std::string, std::string> special{{"run.max_time", "1h"},
                                                   {"run.max_wait", "1h"},
                                                   {"run.log_every", "1m"},
                                                   {"network.normalization", "none"},
                                                   {"network.filter_size_deepest", "3"},
                                                   {"mode.optimizer.weight_decay", "0.2"},
                                                   {"mode.optimizer.loss_balance_scheme", "light"},
                                                   {"run.precision", "bfloat16"}};
  if (const auto found = special.find(key.name); found != special.end()) {
    return found->second;
  }
  const Value value = key.read(Configuration());
  switch (key.kind) {
    case ValueKind::boolean:
      return std::get<bool>(value) ? "false" : "true";
    case ValueKind::integer:
      return std::to_string(std::get<std::int64_t>(value) + 1);
    case ValueKind::real:
      return to_text(std::get<double>(value) * 0.5 + 0.01);
    case ValueKind::choice:
      return key.choices[0].name == std::get<std::string>(value) ? key.choices[1].name
                                                                 : key.choices[0].name;
    default:
      return "other";
  }
}

/// What has to be said besides, so that a key has the effect it is there for.
std::string what_it_needs(const Key& key) {
  const std::map<std::string, std::string> needs{
      {"run.units", "run.length=3"},
      {"run.iterations", ""},
      {"run.lazy_mode", "run.compute_mode=HPU"},
      {"run.stages", "run.compute_mode=IPU"},
      {"run.section_plan", "run.compute_mode=RDU"},
      {"run.master_weights", "run.precision=bfloat16"},
      {"run.rounding", "run.precision=bfloat16"},
      {"run.executable_cache_gigabytes", "run.executable_cache=programs"},
      {"mode.start_index", "data.order=serial_access"},
      {"data.epoch_events", "data=detector"},
      {"mode.optimizer.minimum_learning_rate", "mode.optimizer.schedule=one_cycle"},
      {"mode.optimizer.floor_learning_rate", "mode.optimizer.schedule=one_cycle"},
      {"mode.optimizer.warmup_iterations", "mode.optimizer.schedule=cosine"},
      {"mode.optimizer.decay_epochs", "mode.optimizer.schedule=warmup_flat_decay"},
      {"mode.optimizer.accumulation_reduction", "mode.optimizer.gradient_accumulation=2"},
      {"mode.optimizer.alpha", "mode.optimizer.name=rmsprop"},
      {"mode.optimizer.momentum", "mode.optimizer.name=sgd"},
      {"mode.optimizer.weight_decay", "mode.optimizer.name=adamw"}};
  const auto found = needs.find(key.name);
  return found == needs.end() ? "" : found->second;
}

/// Keys that are one group's, or that this program refuses with any value but one.
bool is_no_setting(const Key& key) {
  const std::set<std::string> refused{"framework.sparse", "mode.quantization_aware"};
  return !key.group.empty() || refused.contains(key.name);
}

std::string setting(const Key& key) {
  return key.name + "=" + other_value(key);
}

TEST(EveryKey, says_which_commands_look_at_it) {
  for (const Key& key : schema()) {
    EXPECT_NE(key.used_by.empty(), key.without_effect.empty()) << key.name;
  }
}

TEST(EveryKey, is_taken_without_a_word_where_it_has_an_effect) {
  for (const Key& key : schema()) {
    for (const Command command : key.used_by) {
      const bool of_mode = key.modes.empty() || std::find(key.modes.begin(), key.modes.end(),
                                                          mode_of(command)) != key.modes.end();
      if (is_no_setting(key) || !of_mode) {
        continue;
      }
      const bool serial = mode_of(command) == Mode::inference && key.name == "mode.start_index";
      const bool inference_has_none =
          mode_of(command) == Mode::inference &&
          (key.name == "run.rounding" || key.name == "run.recompute" ||
           key.name == "network.plane_statistics" || key.name == "run.stages");
      if (inference_has_none) {
        continue;  // the next test's
      }
      const std::string line = setting(key) + " " + (serial ? "" : what_it_needs(key));
      EXPECT_THAT(parsed(line, in(command)).notes,
                  Not(Contains(HasSubstr(key.name + "=" + other_value(key)))))
          << line << " in " << model::to_string(command);
      EXPECT_THAT(parsed(line, in(command)).notes,
                  Not(Contains(AllOf(HasSubstr("does not use"), HasSubstr(key.name)))))
          << line << " in " << model::to_string(command);
    }
  }
}

TEST(EveryKey, is_refused_or_noted_by_a_command_that_does_not_look_at_it) {
  int silent_ones = 0;
  for (const Key& key : schema()) {
    for (const Command command : all_commands()) {
      const bool used =
          std::find(key.used_by.begin(), key.used_by.end(), command) != key.used_by.end();
      if (is_no_setting(key) || used) {
        continue;
      }
      try {
        const Resolved resolved = parsed(setting(key), in(command));
        EXPECT_THAT(resolved.notes, Contains(HasSubstr(key.name)))
            << setting(key) << " in " << model::to_string(command);
      } catch (const UserError& refusal) {
        EXPECT_THAT(refusal.what(), HasSubstr(key.name)) << model::to_string(command);
      }
      ++silent_ones;
    }
  }
  EXPECT_GT(silent_ones, 100);  // the walk went somewhere
}

TEST(IdleSettings, statistics_of_all_processes_are_refused_where_there_can_be_none) {
  EXPECT_THAT(
      ([] {
        parsed("run.id=1 network.synchronized_statistics=true run.replicas=2", in(Command::train));
      }),
      ThrowsMessage<UserError>(
          AllOf(HasSubstr("network.synchronized_statistics = 'true' has no effect in `train`"),
                HasSubstr("run one after the other"), HasSubstr("only processes can"))));
  EXPECT_THAT(([] {
                parsed("run.id=1 network.synchronized_statistics=true network.normalization=none",
                       in(Command::train));
              }),
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("synchronized_statistics"), HasSubstr("no batch statistics"))));
}

TEST(IdleSettings, stages_with_infer_were_silently_ignored) {
  EXPECT_THAT(
      ([] { parsed("run.id=1 run.stages=2", in(Command::infer)); }),
      ThrowsMessage<UserError>(AllOf(HasSubstr("run.stages = '2' has no effect in `infer`"),
                                     HasSubstr("one batch at a time"), HasSubstr("leave it out"))));
  EXPECT_THAT(parsed("run.id=1 run.stages=1", in(Command::infer)).notes,
              ElementsAre(HasSubstr("run.stages=1 has no effect")));
  EXPECT_THAT(parsed("mode=inference run.compute_mode=IPU run.stages=2",
                     {.command = Command::explain, .missing = MissingKeys::leave})
                  .notes,
              IsEmpty());
}

TEST(IdleSettings, lazy_mode_on_the_cpu_was_silently_ignored) {
  for (const std::string value : {"true", "false"}) {
    EXPECT_THAT(parsed("run.id=1 run.compute_mode=CPU run.lazy_mode=" + value).notes,
                ElementsAre(AllOf(HasSubstr("run.lazy_mode=" + value + " has no effect"),
                                  HasSubstr("whole programs"))));
  }
  EXPECT_THAT(parsed("run.id=1 run.compute_mode=HPU run.lazy_mode=false").notes, IsEmpty());
}

TEST(IdleSettings, of_another_machine_are_refused_or_noted) {
  EXPECT_THAT([] { parsed("run.id=1 run.section_plan=plan.yaml run.compute_mode=IPU"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("run.section_plan"), HasSubstr("RDU"))));
  EXPECT_THAT(
      parsed("run.id=1 run.stages=2 mode.optimizer.gradient_accumulation=3").notes,
      ElementsAre(AllOf(HasSubstr("run.stages=2"), HasSubstr("one stage after the other"))));
}

TEST(IdleSettings, of_another_optimizer_or_schedule_are_refused) {
  EXPECT_THAT(
      [] { parsed("run.id=1 mode.optimizer.name=sgd mode.optimizer.beta1=0.8"); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("mode.optimizer.beta1"), HasSubstr("adam"))));
  EXPECT_THAT([] { parsed("run.id=1 mode.optimizer.alpha=0.8"); },
              ThrowsMessage<UserError>(HasSubstr("only rmsprop has it")));
  EXPECT_THAT([] { parsed("run.id=1 mode.optimizer.name=sgd mode.optimizer.epsilon=0.1"); },
              ThrowsMessage<UserError>(HasSubstr("sgd divides by nothing")));
  EXPECT_THAT([] { parsed("run.id=1 mode.optimizer.decay_epochs=2"); },
              ThrowsMessage<UserError>(HasSubstr("warmup_flat_decay")));
}

TEST(IdleSettings, that_another_setting_makes_idle_are_noted) {
  const auto notes = [](const std::string& line) { return parsed("run.id=1 " + line).notes; };
  EXPECT_THAT(notes("run.length=3 run.iterations=7"),
              ElementsAre(AllOf(HasSubstr("run.iterations=7"), HasSubstr("run.length"))));
  EXPECT_THAT(notes("run.units=iteration"), ElementsAre(HasSubstr("run.length")));
  EXPECT_THAT(notes("mode.start_index=4"), ElementsAre(HasSubstr("serial_access")));
  EXPECT_THAT(notes("data.seed=4 data.order=serial_access"), ElementsAre(HasSubstr("at random")));
  EXPECT_THAT(notes("mode.optimizer.accumulation_reduction=mean"),
              ElementsAre(HasSubstr("gradient_accumulation")));
  EXPECT_THAT(notes("run.saver=false mode.summary_iteration=5"), ElementsAre(HasSubstr("saver")));
  EXPECT_THAT(notes("data=synthetic run.aux_iterations=5"), ElementsAre(HasSubstr("noise")));
  EXPECT_THAT(notes("network=uresnet3d network.block_concat=true"),
              ElementsAre(HasSubstr("conv_3D")));
}

TEST(IdleSettings, of_one_command_are_noted_in_one_line) {
  EXPECT_THAT(
      parsed("run.iterations=7 output_dir=out data.order=shuffled run.minibatch_size=3",
             {.command = Command::measure_performance, .missing = MissingKeys::leave})
          .notes,
      ElementsAre(AllOf(HasSubstr("`measure-performance` does not use"), HasSubstr("output_dir"),
                        HasSubstr("run.iterations"), HasSubstr("data.order"))));
}

TEST(IdleSettings, of_a_recipe_serve_other_runs_and_are_left_alone) {
  const RecipeText recipe{"mine", "run:\n  stages: 2\n  lazy_mode: false\n  max_time: 1h\n"};
  EXPECT_THAT(parsed("run.id=1", {.mode = Mode::inference, .recipe = recipe}).notes, IsEmpty());
}

TEST(IdleSettings, that_training_with_noise_cannot_follow_are_refused) {
  EXPECT_THAT([] { parsed("run.id=1 data=synthetic mode.early_stopping_patience=3"); },
              ThrowsMessage<UserError>(HasSubstr("no validation on noise")));
  EXPECT_THAT([] { parsed("run.id=1 mode=inference run.max_time=1h"); },
              ThrowsMessage<UserError>(HasSubstr("only training ends in time")));
}

}  // namespace
}  // namespace cosmic::config
