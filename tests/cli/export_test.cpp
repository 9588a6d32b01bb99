// `cosmictagger export`, from the command line's words to the file.
#include <gmock/gmock.h>

#include "checkpoint/checkpoint_folder.hpp"
#include "cli/commands.hpp"
#include "cli/run_command.hpp"
#include "config/dump.hpp"
#include "core/error.hpp"
#include "model/uresnet.hpp"
#include "scratch_folder.hpp"
#include "session/model.hpp"
#include "session/safetensors.hpp"

namespace cosmic::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class ExportCommandTest : public testing::Test {
 protected:
  /// What `cosmictagger export WORDS... --weights ... --output ...` prints.
  std::string run(std::vector<std::string> words) const {
    words.insert(words.begin(), "export");
    words.insert(words.end(), {"--weights", weights_.string(), "--output", output_.string()});
    return printed_by([&] { run_command(add_export, words); });
  }

  /// Untrained, of the smallest preset.
  void write_weights() const {
    const model::UResNet network(model::preset("polaris"));
    session::InferenceModel inference(network, {});
    inference.compile({graph::DType::f32, {1, 3, 128, 128}});
    session::save_weights(weights_, *inference.state());
  }

  ScratchFolder folder_;
  std::filesystem::path weights_ = folder_ / "weights.safetensors";
  std::filesystem::path output_ = folder_ / "network.onnx";
};

TEST_F(ExportCommandTest, writes_the_network_and_says_what_it_is) {
  write_weights();
  EXPECT_THAT(run({"network=polaris", "--opset", "13", "--rows", "128", "--columns", "256"}),
              AllOf(HasSubstr("network.onnx"), HasSubstr("network polaris, opset 13"),
                    HasSubstr("image [any, 3, 128, 256]")));
  EXPECT_THAT(content_of(output_), AllOf(HasSubstr("weights.safetensors"),
                                         HasSubstr("bottleneck.weight"), HasSubstr("polaris")));
  EXPECT_THROW(run({"network=polaris"}), UserError) << "the file exists";
  EXPECT_THAT(run({"network=polaris", "--overwrite", "--batch", "2"}),
              HasSubstr("image [2, 3, 640, 1024]"));
}

TEST_F(ExportCommandTest, writes_a_project_for_other_software) {
  output_ = folder_ / "kit";
  const std::vector<std::string> words{"export",        "--for",          "torch",
                                       "--output",      output_.string(), "network=polaris",
                                       "data=synthetic"};
  EXPECT_THAT(printed_by([&] { run_command(add_export, words); }),
              AllOf(HasSubstr("network polaris for torch"), HasSubstr("README.md")));
  EXPECT_TRUE(std::filesystem::exists(output_ / "network.py"));
}

TEST_F(ExportCommandTest, writes_a_training_step_and_the_state_to_begin_with) {
  const std::vector<std::string> words{"export",
                                       "--step",
                                       "training",
                                       "--output",
                                       output_.string(),
                                       "--rows",
                                       "128",
                                       "--columns",
                                       "256",
                                       "network=polaris",
                                       "run.minibatch_size=3",
                                       "mode.optimizer.name=rmsprop"};
  EXPECT_THAT(printed_by([&] { run_command(add_export, words); }),
              AllOf(HasSubstr("training step of network polaris"), HasSubstr("[3, 3, 128, 256]"),
                    HasSubstr("network.safetensors")));
  EXPECT_THAT(content_of(output_), HasSubstr("optimizer/bottleneck.weight/square_avg.next"));
  const session::TensorFile state = session::load_tensors(folder_ / "network.safetensors");
  EXPECT_TRUE(state.tensors.contains("optimizer/bottleneck.weight/square_avg"));
  EXPECT_THROW(run_command(add_export, words), UserError) << "the files exist";
}

TEST_F(ExportCommandTest, writes_the_forward_pass_with_its_loss_for_who_differentiates_it) {
  write_weights();
  EXPECT_THAT(run({"--step", "loss", "--opset", "11", "--batch", "2", "--rows", "128", "--columns",
                   "128", "network=polaris", "mode.optimizer.loss_balance_scheme=light"}),
              AllOf(HasSubstr("forward pass and loss of network polaris, opset 11"),
                    HasSubstr("[2, 3, 128, 128]")));
  EXPECT_THAT(content_of(output_),
              AllOf(HasSubstr("running_mean.next"), testing::Not(HasSubstr("learning_rate"))));
}

TEST_F(ExportCommandTest, refuses_a_step_that_onnx_cannot_follow) {
  write_weights();
  EXPECT_THAT(
      [&] {
        run({"--step", "training", "network=polaris", "run.precision=bfloat16"});
      },
      ThrowsMessage<UserError>(HasSubstr("run.precision=bfloat16")));
  EXPECT_THAT(
      [&] {
        run({"--step", "training", "network=polaris", "mode.optimizer.gradient_accumulation=4"});
      },
      ThrowsMessage<UserError>(AllOf(HasSubstr("gradient_accumulation=4"), HasSubstr("--batch"))));
  EXPECT_THAT(
      [&] {
        run({"--step", "training", "--for", "torch", "network=polaris"});
      },
      ThrowsMessage<UserError>(AllOf(HasSubstr("--step training"), HasSubstr("--for"))));
}

TEST_F(ExportCommandTest, names_the_software_nearest_to_an_unknown_one) {
  write_weights();
  EXPECT_THAT(
      [&] {
        run({"--for", "torhc", "network=polaris"});
      },
      ThrowsMessage<UserError>(AllOf(HasSubstr("torhc"), HasSubstr("torch"))));
}

TEST_F(ExportCommandTest, refuses_options_of_onnx_files_for_a_project) {
  write_weights();
  for (const auto& option :
       std::vector<std::vector<std::string>>{{"--opset", "11"}, {"--batch", "4"}}) {
    EXPECT_THAT(
        [&] {
          run({"--for", "torch", "network=polaris", option[0], option[1]});
        },
        ThrowsMessage<UserError>(AllOf(HasSubstr("--opset or --batch"), HasSubstr("--for torch"))));
  }
}

TEST_F(ExportCommandTest, asks_for_the_weights_of_an_onnx_file) {
  EXPECT_THAT(
      [&] {
        run_command(add_export, {"export", "--output", output_.string(), "network=polaris"});
      },
      ThrowsMessage<UserError>(AllOf(HasSubstr("--weights"), HasSubstr("--for"))));
}

TEST_F(ExportCommandTest, refuses_weights_of_another_network) {
  write_weights();
  EXPECT_THAT([&] { run({"network=a21"}); }, ThrowsMessage<DataError>(HasSubstr("do not belong")));
  EXPECT_FALSE(std::filesystem::exists(output_));
}

TEST_F(ExportCommandTest, names_weights_that_are_not_there) {
  EXPECT_THAT([&] { run({"network=polaris"}); },
              ThrowsMessage<DataError>(HasSubstr("weights.safetensors")));
}

TEST_F(ExportCommandTest, asks_for_the_network_of_weights_that_do_not_say) {
  write_weights();
  EXPECT_THAT([&] { run({}); }, ThrowsMessage<UserError>(AllOf(HasSubstr("weights.safetensors"),
                                                               HasSubstr("network=a21"))));
}

TEST_F(ExportCommandTest, takes_the_network_from_a_checkpoint_that_remembers_it) {
  config::Configuration configuration;
  configuration.network = model::preset("polaris");
  configuration.network.depth = 2;
  const model::UResNet network(configuration.network);
  session::InferenceModel inference(network, {});
  inference.compile({graph::DType::f32, {1, 3, 4, 4}});
  checkpoint::RunRecord record;
  record.configuration = config::to_yaml(configuration);
  checkpoint::CheckpointFolder(weights_).save(checkpoint::capture(*inference.state(), 12, record));
  EXPECT_THAT(run({"--rows", "8", "--columns", "12"}), HasSubstr("image [any, 3, 8, 12]"));
}

TEST_F(ExportCommandTest, names_the_network_nearest_to_an_unknown_one) {
  write_weights();
  EXPECT_THAT([&] { run({"network=polarsi"}); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("polarsi"), HasSubstr("polaris"))));
}

}  // namespace
}  // namespace cosmic::cli
