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
