// What the exporter refuses, and what its file says without a runtime to read it.
#include "checkpoint/onnx/onnx_export.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cmath>

#include "checkpoint/onnx/onnx_nodes.hpp"
#include "checkpoint/onnx/trained_model.hpp"
#include "core/error.hpp"
#include "scratch_folder.hpp"

namespace cosmic::checkpoint::onnx {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

class OnnxExport : public testing::Test {
 protected:
  model::UResNet network_{reduced("a21")};
  std::shared_ptr<session::ModelState> state_ = trained_model(network_).state();
  ExportOptions options_{.rows = kRows, .columns = kColumns};
};

TEST_F(OnnxExport, weights_keep_the_names_of_the_reference) {
  const std::string file = encode_onnx(network_, *state_, options_);
  EXPECT_THAT(file, AllOf(HasSubstr("net_core.down_blocks.blocks.0.conv.weight"),
                          HasSubstr("initial_convolution.norm.running_var"),
                          HasSubstr("BatchNormalization"), HasSubstr("logits_plane2")));
  EXPECT_THAT(file, Not(HasSubstr("num_batches_tracked")));
}

TEST_F(OnnxExport, metadata_travels_with_the_model) {
  options_.metadata["weights"] = "model-500.safetensors";
  EXPECT_THAT(encode_onnx(network_, *state_, options_), HasSubstr("model-500.safetensors"));
}

TEST_F(OnnxExport, refuses_an_opset_it_does_not_write) {
  for (const int opset : {10, 18}) {
    options_.opset = opset;
    EXPECT_THAT([&] { encode_onnx(network_, *state_, options_); },
                ThrowsMessage<UserError>(
                    AllOf(HasSubstr("opset " + std::to_string(opset)), HasSubstr("11 to 17"))));
  }
}

TEST_F(OnnxExport, refuses_a_batch_without_events) {
  options_.batch = 0;
  EXPECT_THAT([&] { encode_onnx(network_, *state_, options_); },
              ThrowsMessage<UserError>(HasSubstr("a batch of 0")));
}

TEST_F(OnnxExport, refuses_an_image_that_the_network_cannot_halve) {
  options_.rows = kRows + 1;
  EXPECT_THAT([&] { encode_onnx(network_, *state_, options_); },
              ThrowsMessage<UserError>(HasSubstr("17 x 24")));
}

TEST_F(OnnxExport, refuses_weights_of_another_network) {
  const model::UResNet other(reduced("uresnet"));
  EXPECT_THAT(
      [&] { encode_onnx(other, *state_, options_); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("down_blocks.blocks.0.convolution_1.conv.weight"),
                                     HasSubstr("another network"))));
}

TEST_F(OnnxExport, names_an_op_that_has_no_onnx_form_and_its_layer) {
  graph::Builder g;
  const graph::ValueId image = g.input("image", image_type(1));
  const graph::Builder::Scope scope(g, "classifier");
  const graph::ValueId logits = g.add(graph::Softmax{}, {image});
  OnnxGraph onnx("test");
  EXPECT_THAT([&] { add_nodes(g.graph(), std::array{logits}, {.constants = state_.get()}, onnx); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("'softmax'"), HasSubstr("'classifier'"))));
}

TEST_F(OnnxExport, names_a_normalisation_whose_channels_share_statistics) {
  graph::Builder g;
  const graph::ValueId image = g.input("image", image_type(1));
  const graph::ValueId statistics =
      g.add(graph::Statistics{.groups = 1, .pooled_channels = 3}, {image});
  OnnxGraph onnx("test");
  EXPECT_THAT(
      [&] { add_nodes(g.graph(), std::array{statistics}, {.constants = state_.get()}, onnx); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("'statistics'"), HasSubstr("share"))));
}

TEST_F(OnnxExport, tells_constants_apart_that_differ_in_any_digit) {
  OnnxGraph onnx("test");
  EXPECT_NE(onnx.real(1e-8F), onnx.real(0));
  EXPECT_NE(onnx.reals({0.1F}), onnx.reals({std::nextafter(0.1F, 1.0F)}));
}

TEST_F(OnnxExport, keeps_a_file_that_exists_unless_asked) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "model.onnx";
  std::ofstream(path) << "old";
  EXPECT_THROW(write_onnx(path, network_, *state_, options_), UserError);
  EXPECT_EQ(content_of(path), "old");
  write_onnx(path, network_, *state_, options_, Existing::replace);
  EXPECT_EQ(content_of(path), encode_onnx(network_, *state_, options_));
}

}  // namespace
}  // namespace cosmic::checkpoint::onnx
