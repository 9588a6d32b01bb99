// Every command that takes weights, and every setting that belongs to weights: it comes from them
// where it is not given, is refused where it contradicts them, and is used by who insists.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "checkpoint/checkpoint_file.hpp"
#include "checkpoint/checkpoint_folder.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "config/schema.hpp"
#include "core/error.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/sparse_events.hpp"
#include "scratch_folder.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::cli {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

constexpr const char* kReferenceFolder = "../shared/golden/reference_run/checkpoints";

/// The network of the reference's checkpoint, which does not say.
const std::vector<std::string> kReferenceNetwork{"network=a21",
                                                 "network.n_initial_filters=4",
                                                 "network.depth=2",
                                                 "network.bottleneck_deepest=8",
                                                 "network.blocks_deepest_layer=2",
                                                 "network.blocks_final=0",
                                                 "network.residual=false",
                                                 "network.connections=sum",
                                                 "data.downsample=0",
                                                 "data.image_producer=wires",
                                                 "data.label_producer=truth"};

struct Printed {
  std::string output;
  std::string errors;

  std::string all() const { return output + errors; }
};

/// `cosmictagger WORDS...`; if it throws, what it printed is lost.
Printed run(const std::vector<std::string>& words) {
  Command app;
  for (auto add :
       {add_train, add_infer, add_evaluate, add_test, add_compile, add_export, add_run}) {
    add(app);
  }
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  try {
    app.parse(words);
  } catch (...) {
    testing::internal::GetCapturedStdout();
    testing::internal::GetCapturedStderr();
    throw;
  }
  Printed printed;
  printed.output = testing::internal::GetCapturedStdout();
  printed.errors = testing::internal::GetCapturedStderr();
  return printed;
}

/// Weights of a tiny network on the logarithm of the charge of other producers than the default,
/// in a file that has those and another pair.
class TrainedOnce {
 public:
  TrainedOnce() {
    data::larcv::EventFileWriter writer(folder_ / "train.h5");
    for (std::int64_t number = 0; number < 3; ++number) {
      const data::SparseEvent event = data::random_event(data::grid_of(16, 32), 0.2, 1, number);
      writer.begin_event(event.id);
      for (const std::string prefix : {"", "other_"}) {
        writer.write_sparse(prefix + "wires", event.image);
        writer.write_sparse(prefix + "truth", event.labels);
      }
    }
    writer.commit();
    KeptLog log;
    train::train(configuration(), "cpu", log.log());
  }

  const ScratchFolder& folder() const { return folder_; }
  std::filesystem::path weights() const {
    return folder_ / "out" / "checkpoints" / "model-1.safetensors";
  }
  config::Configuration configuration(config::Mode mode = config::Mode::train) const {
    std::vector<std::string> words{"data.img_transform=true", "data.image_producer=wires",
                                   "data.label_producer=truth"};
    if (mode == config::Mode::train) {
      words.insert(words.end(), {"data.aux_file=", "run.length=1"});
    }
    return tiny_configuration(folder_.path(), mode, words);
  }

 private:
  ScratchFolder folder_{"settings_of_weights"};
};

const TrainedOnce& trained() {
  static const TrainedOnce once;
  return once;
}

/// A value that the weights were not trained with.
std::string other_value(const config::Key& key) {
  if (key.name == "network.connections") {
    return "none";  // the one that fits
  }
  const config::Value value = key.read(trained().configuration());
  switch (key.kind) {
    case config::ValueKind::boolean:
      return std::get<bool>(value) ? "False" : "True";
    case config::ValueKind::integer:  // kernels are odd
      return std::to_string(std::get<std::int64_t>(value) +
                            (key.name.ends_with("deepest") ? 2 : 1));
    case config::ValueKind::text:
      return "other_" + std::get<std::string>(value);
    case config::ValueKind::choice:
      for (const config::Choice& choice : key.choices) {
        if (choice.name != std::get<std::string>(value)) {
          return choice.name;
        }
      }
      break;
    default:
      break;
  }
  ADD_FAILURE() << "no other value of " << key.name;
  return "";
}

std::vector<const config::Key*> settings_of_weights() {
  std::vector<const config::Key*> keys;
  for (const config::Key& key : config::schema()) {
    if (key.of_weights == config::OfWeights::belongs) {
      keys.push_back(&key);
    }
  }
  return keys;
}

/// Weights fit networks with other values of these, which compute something else with them.
constexpr std::array<std::string_view, 6> kFitAllTheSame{
    "data.downsample",     "data.img_transform",       "data.image_producer",
    "data.label_producer", "network.plane_statistics", "network.connections"};

struct Case {
  const char* name;
  config::Command command;
  config::Mode mode;
};

class CommandWithWeights : public testing::TestWithParam<Case> {
 protected:
  /// The words of the command with the weights, and no setting that belongs to them.
  std::vector<std::string> words(const std::vector<std::string>& more = {},
                                 const std::filesystem::path& weights = trained().weights()) const {
    std::vector<std::string> all{GetParam().name, "run.threads=1", "run.minibatch_size=1",
                                 "data.data_directory=" + trained().folder().path().string(),
                                 "data.file=train.h5"};
    if (GetParam().command == config::Command::export_network) {
      all = {GetParam().name, "--weights", weights.string(), "--rows",      "16",
             "--columns",     "32",        "--output",       file("x.onnx")};
    } else {
      all.push_back("mode.weights_location=" + weights.string());
    }
    switch (GetParam().command) {
      case config::Command::train:
        all.insert(all.end(), {"run.id=1", "output_dir=" + file("run"),
                               "data.aux_file=", "run.iterations=1", "run.seed=7"});
        break;
      case config::Command::infer:
      case config::Command::evaluate:
        all.insert(all.end(), {"run.id=1", "output_dir=" + file("run")});
        break;
      case config::Command::compile:
        all.insert(all.end(), {"mode=inference", "--output", file("x.cosmicx")});
        break;
      default:
        break;
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  /// A new one for each command: nothing is overwritten.
  std::string file(const std::string& name) const {
    return (folder_ / (std::to_string(count_++) + name)).string();
  }

  /// Whether the command looks at the setting at all.
  static bool has_effect(const config::Key& key) {
    const config::Configuration configuration = trained().configuration(GetParam().mode);
    return !config::no_effect(key, {configuration, GetParam().command});
  }

 private:
  ScratchFolder folder_{"command_with_weights"};
  mutable int count_ = 0;
};

TEST_P(CommandWithWeights, takes_every_setting_that_belongs_to_them_from_them) {
  EXPECT_THAT(run(words()).errors,
              HasSubstr("from the weights in " + trained().weights().string()));
}

TEST_P(CommandWithWeights, agrees_to_every_setting_that_is_theirs) {
  const config::Configuration configuration = trained().configuration();
  std::vector<std::string> theirs{"network.name=" + configuration.network.name};
  for (const config::Key* key : settings_of_weights()) {
    theirs.push_back(key->name + "=" + config::to_text(key->read(configuration)));
  }
  EXPECT_THAT(run(words(theirs)).errors, Not(HasSubstr("from the weights in")));
}

TEST_P(CommandWithWeights, refuses_every_setting_that_contradicts_them_with_both_values) {
  int refused = 0;
  for (const config::Key* key : settings_of_weights()) {
    SCOPED_TRACE(key->name);
    const std::string other = other_value(*key);
    const std::vector<std::string> contradicting = words({key->name + "=" + other});
    if (!has_effect(*key)) {
      EXPECT_NO_THROW(run(contradicting)) << "it has no effect";
      continue;
    }
    const std::string theirs = config::to_text(key->read(trained().configuration()));
    EXPECT_THAT([&] { run(contradicting); },
                ThrowsMessage<UserError>(
                    AllOf(HasSubstr("contradicts the weights in " + trained().weights().string()),
                          HasSubstr(key->name + "=" + other + ", theirs is " + theirs),
                          HasSubstr("mode.insist_on_settings=true"), Not(HasSubstr("\n")))));
    ++refused;
  }
  EXPECT_GE(refused, 18) << "nearly all have an effect everywhere";
}

TEST_P(CommandWithWeights, uses_every_setting_that_is_insisted_on_and_says_so) {
  for (const config::Key* key : settings_of_weights()) {
    SCOPED_TRACE(key->name);
    if (!has_effect(*key)) {
      continue;
    }
    const std::string setting = key->name + "=" + other_value(*key);
    const std::vector<std::string> insisting = words({setting, "mode.insist_on_settings=true"});
    const bool fits = std::find(kFitAllTheSame.begin(), kFitAllTheSame.end(), key->name) !=
                          kFitAllTheSame.end() ||
                      GetParam().command == config::Command::compile;
    try {
      EXPECT_THAT(run(insisting).all(),
                  AllOf(HasSubstr("are used all the same (mode.insist_on_settings=true)"),
                        HasSubstr(setting + ", theirs is ")));
      EXPECT_TRUE(fits);
    } catch (const DataError& error) {
      EXPECT_FALSE(fits) << error.what();
      EXPECT_THAT(error.what(), AllOf(HasSubstr("do not belong"), Not(HasSubstr("\n"))));
    }
  }
}

TEST_P(CommandWithWeights, is_an_error_that_names_them_if_they_do_not_exist) {
  const std::filesystem::path none = trained().folder() / "none.safetensors";
  EXPECT_THAT([&] { run(words({}, none)); },
              AnyOf(ThrowsMessage<UserError>(HasSubstr(none.string())),
                    ThrowsMessage<DataError>(HasSubstr(none.string()))));
}

TEST_P(CommandWithWeights, refuses_those_that_are_not_finite_with_tensor_and_count) {
  if (GetParam().command == config::Command::compile) {
    return;  // takes their settings alone
  }
  checkpoint::Checkpoint blind = checkpoint::load_checkpoint(trained().weights());
  blind.tensors.at("bottleneck.weight").as<float>()[0] = INFINITY;
  const std::filesystem::path bad = file("blind.safetensors");
  checkpoint::save_checkpoint(bad, blind, system_files(), checkpoint::Numbers::any);
  EXPECT_THAT([&] { run(words({}, bad)); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr(bad.string()), HasSubstr("'bottleneck.weight' has 1 number"))));
}

TEST_P(CommandWithWeights, of_the_reference_works_and_says_once_which_settings_are_assumed) {
  if (!std::filesystem::exists(kReferenceFolder)) {
    GTEST_SKIP() << "needs " << kReferenceFolder;
  }
  const Printed printed = run(words(kReferenceNetwork, kReferenceFolder));
  if (GetParam().command == config::Command::compile) {
    return;  // takes their settings alone, and there are none
  }
  const std::string text = printed.all();
  const std::string said = "does not say which settings its weights were trained with";
  EXPECT_THAT(text,
              AllOf(HasSubstr("model-5.ckpt: a checkpoint of the reference; the file " + said),
                    HasSubstr("network.n_initial_filters=4 ")));
  EXPECT_EQ(text.find(said), text.rfind(said)) << "said twice";
}

TEST_P(CommandWithWeights, that_keep_no_configuration_says_which_settings_are_assumed) {
  checkpoint::Checkpoint old = checkpoint::load_checkpoint(trained().weights());
  old.run.configuration = "";
  const std::filesystem::path weights = file("old.safetensors");
  checkpoint::save_checkpoint(weights, old);
  std::vector<std::string> theirs = kTinyNetwork;
  theirs.insert(theirs.end(), {"data.image_producer=wires", "data.label_producer=truth"});
  const Printed printed = run(words(theirs, weights));
  if (GetParam().command != config::Command::compile) {
    EXPECT_THAT(printed.all(), HasSubstr("old.safetensors: a checkpoint of this program; the file "
                                         "does not say which settings"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, CommandWithWeights,
    testing::Values(Case{"train", config::Command::train, config::Mode::train},
                    Case{"infer", config::Command::infer, config::Mode::inference},
                    Case{"evaluate", config::Command::evaluate, config::Mode::inference},
                    Case{"test", config::Command::test, config::Mode::train},
                    Case{"compile", config::Command::compile, config::Mode::inference},
                    Case{"export", config::Command::export_network, config::Mode::inference}),
    [](const auto& instance) { return instance.param.name; });

class WeightsOfARun : public testing::Test {
 protected:
  static std::vector<std::string> words(const std::string& command, const std::string& folder,
                                        const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{command,
                                 "run.id=tiny",
                                 "run.threads=1",
                                 "run.minibatch_size=1",
                                 "data.data_directory=" + trained().folder().path().string(),
                                 "data.file=train.h5",
                                 "output_dir=" + folder};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// The run itself, as a copy that a command may write into.
  std::string copy() const {
    const std::filesystem::path to = folder_ / "out";
    std::filesystem::copy(trained().folder() / "out", to, std::filesystem::copy_options::recursive);
    return to.string();
  }

  ScratchFolder folder_{"weights_of_a_run"};
};

TEST_F(WeightsOfARun, give_the_same_scores_whether_their_settings_are_given_or_not) {
  const std::string folder = copy();
  run(words("infer", folder));
  std::vector<std::string> given = kTinyNetwork;
  given.insert(given.end(),
               {"data.img_transform=true", "data.image_producer=wires", "data.label_producer=truth",
                "mode.output_file=" + (folder_ / "again.h5").string()});
  const auto scores = [&] {
    return nlohmann::json::parse(content_of(folder_ / "out/inference.json"));
  };
  const nlohmann::json first = scores();
  given.push_back("--overwrite");
  run(words("infer", folder, given));
  EXPECT_EQ(first.at("metrics"), scores().at("metrics"));
  EXPECT_FALSE(first.contains("insisted_on_settings"));
}

TEST_F(WeightsOfARun, leave_what_was_insisted_on_in_log_and_reports) {
  const std::string folder = copy();
  const std::vector<std::string> insisting{"data.downsample=1", "mode.insist_on_settings=true"};
  const std::string expected = "data.downsample=1, theirs is 0";
  run(words("infer", folder, insisting));
  run(words("evaluate", folder, insisting));
  EXPECT_THAT(content_of(folder_ / "out/process.log"), HasSubstr(expected));
  const auto json = [&](const std::string& name) {
    return nlohmann::json::parse(content_of(folder_ / "out" / name));
  };
  EXPECT_EQ(json("inference.json").at("insisted_on_settings").at(0), expected);
  EXPECT_EQ(json("evaluation.json").at("provenance").at("insisted_on_settings").at(0), expected);
  EXPECT_THAT(content_of(folder_ / "out/evaluation.html"), HasSubstr(expected));
}

TEST_F(WeightsOfARun, go_on_in_their_run_without_a_word_about_their_settings) {
  const std::string folder = copy();
  run(words("train", folder, {"data.aux_file=", "run.units=iteration", "run.length=2"}));
  EXPECT_EQ(checkpoint::load_newest(folder_ / "out/checkpoints").checkpoint.step, 2);
}

TEST_F(WeightsOfARun, are_not_used_in_place_of_those_that_are_named_and_missing) {
  const std::string folder = copy();
  for (const char* const command : {"train", "infer", "evaluate"}) {
    EXPECT_THAT([&] { run(words(command, folder, {"mode.weights_location=none.safetensors"})); },
                ThrowsMessage<UserError>(AllOf(HasSubstr("mode.weights_location=none.safetensors"),
                                               HasSubstr("names no weights"))))
        << command;
  }
}

TEST_F(WeightsOfARun, contradict_programs_that_were_compiled_for_other_settings) {
  const std::string artifact = (folder_ / "x.cosmicx").string();
  std::vector<std::string> compile{
      "compile",  "mode=inference", "run.minibatch_size=1", "--rows", "16", "--columns", "32",
      "--output", artifact};
  compile.insert(compile.end(), kTinyNetwork.begin(), kTinyNetwork.end());
  run(compile);
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = words("run", (folder_ / "out").string(), more);
    all.insert(all.end(),
               {"--artifact", artifact, "mode.weights_location=" + trained().weights().string()});
    return all;
  };
  EXPECT_THAT(
      [&] { run(with({})); },
      ThrowsMessage<UserError>(AllOf(
          HasSubstr("data.img_transform=False of settings in " + artifact + ", theirs is True"),
          HasSubstr("data.image_producer=sbndwire of settings in"))));
  run(with({"data.img_transform=true", "data.image_producer=wires", "data.label_producer=truth"}));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "out/predictions.h5"));
}

}  // namespace
}  // namespace cosmic::cli
