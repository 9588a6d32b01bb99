// Exported networks as ONNX Runtime runs them, against ours. Needs node and the npm package
// onnxruntime-node in $COSMIC_ONNXRUNTIME_DIR/node_modules, or in build/onnxruntime/node_modules,
// where bench/compare puts it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "checkpoint/onnx/onnx_export.hpp"
#include "checkpoint/onnx/trained_model.hpp"
#include "run_command.hpp"
#include "scratch_folder.hpp"

namespace cosmic::checkpoint::onnx {
namespace {

constexpr double kTolerance = 1e-4;  // of the largest logit

std::filesystem::path node_modules() {
  const char* chosen = std::getenv("COSMIC_ONNXRUNTIME_DIR");
  return std::filesystem::path(chosen == nullptr ? "build/onnxruntime" : chosen) / "node_modules";
}

std::vector<float> some_image(std::int64_t batch) {
  RandomStream random(11, "image");
  std::vector<float> image(static_cast<std::size_t>(image_type(batch).elements()));
  for (float& pixel : image) {
    pixel = static_cast<float>(random.uniform(-1, 3));
  }
  return image;
}

void write_floats(const std::filesystem::path& path, std::span<const float> values) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size_bytes()));
}

std::vector<float> read_floats(const std::filesystem::path& path) {
  const std::string bytes = content_of(path);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

class OnnxRuntime : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("node")) {
      GTEST_SKIP() << "needs node (package nodejs)";
    }
    if (!std::filesystem::is_directory(node_modules() / "onnxruntime-node")) {
      GTEST_SKIP() << "needs onnxruntime-node (npm install it into " << node_modules()
                   << ", or set COSMIC_ONNXRUNTIME_DIR)";
    }
  }

  std::vector<float> run(const std::filesystem::path& model, std::int64_t batch) {
    write_floats(folder_ / "image", some_image(batch));
    const CommandResult result =
        run_command("NODE_PATH='" + std::filesystem::absolute(node_modules()).string() +
                    "' node tests/checkpoint/onnx/run_onnx.js '" + model.string() + "' '" +
                    (folder_ / "image").string() + "' " + std::to_string(batch) + ",3," +
                    std::to_string(kRows) + "," + std::to_string(kColumns) + " '" +
                    (folder_ / "logits").string() + "'");
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.output, "image logits_plane0,logits_plane1,logits_plane2\n");
    return result.status == 0 ? read_floats(folder_ / "logits") : std::vector<float>{};
  }

  static void expect_close(std::span<const float> theirs, std::span<const float> ours) {
    ASSERT_EQ(theirs.size(), ours.size());
    double largest = 0;
    double difference = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      largest = std::max(largest, std::abs(double{ours[i]}));
      difference = std::max(difference, std::abs(double{ours[i]} - double{theirs[i]}));
    }
    EXPECT_GT(largest, 0.01) << "logits of nothing agree with anything";
    EXPECT_LT(difference, kTolerance * largest);
  }

  ScratchFolder folder_;
  std::filesystem::path model_ = folder_ / "model.onnx";
};

struct NetworkCase {
  std::string name;
  model::UResNetOptions options;

  friend std::ostream& operator<<(std::ostream& out, const NetworkCase& one) {
    return out << one.name;
  }
};

std::vector<NetworkCase> network_cases() {
  std::vector<NetworkCase> cases;
  for (const std::string& name : model::preset_names()) {
    cases.push_back({name, reduced(name)});
  }
  const auto add = [&](const std::string& name, const std::string& preset, const auto& change) {
    cases.push_back({name, reduced(preset)});
    change(cases.back().options);
  };
  using Options = model::UResNetOptions;
  add("convolutional", "a21", [](Options& o) {
    o.downsampling = model::Downsampling::convolutional;
    o.upsampling = model::Upsampling::convolutional;
  });
  add("multiplicative", "uresnet",
      [](Options& o) { o.growth_rate = model::GrowthRate::multiplicative; });
  add("planes_apart", "a21", [](Options& o) { o.block_concat = true; });
  add("no_bias", "uresnet", [](Options& o) { o.bias = false; });
  add("no_bias_no_norm", "scc21", [](Options& o) { o.bias = false; });
  add("no_connections", "polaris", [](Options& o) { o.connections = model::Connections::none; });
  add("no_blocks", "a21", [](Options& o) {
    o.blocks_per_layer = 0;
    o.blocks_deepest_layer = 0;
  });
  add("convolutional_3d", "uresnet3d", [](Options& o) {
    o.downsampling = model::Downsampling::convolutional;
    o.upsampling = model::Upsampling::convolutional;
    o.connections = model::Connections::sum;
  });
  add("plain_3d", "uresnet3d", [](Options& o) {
    o.residual = false;
    o.normalization = model::Normalization::none;
  });
  return cases;
}

class OnnxNetwork : public OnnxRuntime, public testing::WithParamInterface<NetworkCase> {};

TEST_P(OnnxNetwork, gives_our_logits) {
  const model::UResNet network(GetParam().options);
  session::InferenceModel ours = trained_model(network, 2);
  write_onnx(model_, network, *ours.state(), {.rows = kRows, .columns = kColumns, .batch = 2});
  expect_close(run(model_, 2), ours(some_image(2)));
}

INSTANTIATE_TEST_SUITE_P(Networks, OnnxNetwork, testing::ValuesIn(network_cases()),
                         [](const auto& one) { return one.param.name; });

class OnnxOpset : public OnnxRuntime, public testing::WithParamInterface<int> {};

TEST_P(OnnxOpset, gives_our_logits) {
  // All kinds of nodes: pooling, a transposed convolution, concatenation; then interpolation.
  model::UResNetOptions transposed = reduced("uresnet");
  transposed.upsampling = model::Upsampling::convolutional;
  for (const model::UResNetOptions& options : {transposed, reduced("uresnet")}) {
    const model::UResNet network(options);
    session::InferenceModel ours = trained_model(network);
    write_onnx(model_, network, *ours.state(),
               {.opset = GetParam(), .rows = kRows, .columns = kColumns}, Existing::replace);
    expect_close(run(model_, 1), ours(some_image(1)));
  }
}

INSTANTIATE_TEST_SUITE_P(Opsets, OnnxOpset, testing::Range(kOldestOpset, kNewestOpset + 1),
                         testing::PrintToStringParamName());

class OnnxOpenBatch : public OnnxRuntime, public testing::WithParamInterface<std::string> {};

TEST_P(OnnxOpenBatch, takes_batches_of_any_size) {
  const model::UResNet network(reduced(GetParam()));
  write_onnx(model_, network, *trained_model(network).state(),
             {.rows = kRows, .columns = kColumns});
  for (const std::int64_t batch : {1, 3}) {
    session::InferenceModel ours = trained_model(network, batch);
    expect_close(run(model_, batch), ours(some_image(batch)));
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, OnnxOpenBatch, testing::Values("a21", "uresnet3d"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace cosmic::checkpoint::onnx
