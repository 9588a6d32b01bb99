// Weights of ours, restored the way the reference restores its own: an index, an archive, a network
// of the same names. The network is the PyTorch one that the golden files come from.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "checkpoint/checkpoint_folder.hpp"
#include "checkpoint/reference_file.hpp"
#include "checkpoint/scratch_folder.hpp"
#include "model/uresnet.hpp"
#include "run_command.hpp"
#include "session/model.hpp"

namespace cosmic::checkpoint {
namespace {

using testing::StartsWith;

constexpr std::int64_t kRows = 64;
constexpr std::int64_t kColumns = 96;

/// The network of weights/fast.safetensors.
model::UResNetOptions fast_network() {
  model::UResNetOptions options;
  options.n_initial_filters = 8;
  options.depth = 5;
  options.growth_rate = model::GrowthRate::multiplicative;
  options.blocks_per_layer = 1;
  options.blocks_deepest_layer = 2;
  options.bottleneck_deepest = 64;
  options.blocks_final = 0;
  options.residual = false;
  options.connections = model::Connections::sum;
  return options;
}

/// A few bright pixels in an image that is nearly empty, as events are.
std::vector<float> some_image() {
  std::vector<float> image(3 * kRows * kColumns, 0);
  for (std::size_t i = 0; i < image.size(); i += 7) {
    image[i] = 0.1F * static_cast<float>(i % 31);
  }
  return image;
}

void write_raw(const std::filesystem::path& path, const std::vector<float>& numbers) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(numbers.data()),  // NOLINT: floats as their bytes
             static_cast<std::streamsize>(numbers.size() * sizeof(float)));
}

std::vector<float> read_raw(const std::filesystem::path& path) {
  std::vector<float> numbers(std::filesystem::file_size(path) / sizeof(float));
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(numbers.data()),  // NOLINT: likewise
            static_cast<std::streamsize>(numbers.size() * sizeof(float)));
  return numbers;
}

using ReferenceRestores = ScratchFolder;

TEST_F(ReferenceRestores, converted_weights_and_computes_what_we_compute) {
  if (run_command("/usr/bin/python3 -c 'import torch'").status != 0) {
    GTEST_SKIP() << "needs PyTorch (package python3-torch)";
  }
  const Checkpoint ours = load_newest("weights/fast.safetensors").checkpoint;
  save_for_reference(folder_ / "model-16000.ckpt", ours, Existing::refuse);
  std::ofstream(folder_ / "checkpoint") << "latest: model-16000.ckpt\n16000: model-16000.ckpt\n";
  const std::vector<float> image = some_image();
  write_raw(folder_ / "image", image);

  const CommandResult restored = run_command(
      "/usr/bin/python3 tests/checkpoint/restore_as_the_reference.py " + folder_.string() + "/ " +
      (folder_ / "image").string() + " 64 96 " + (folder_ / "logits").string() +
      " n_initial_filters=8 depth=5 growth_rate=multiplicative blocks_per_layer=1"
      " blocks_deepest_layer=2 bottleneck_deepest=64 blocks_final=0 residual=false "
      "connections=sum");
  ASSERT_EQ(restored.status, 0) << restored.output;
  EXPECT_THAT(restored.output, StartsWith(std::to_string(ours.step)));

  const model::UResNet network(fast_network());
  session::InferenceModel inference(network, {});
  inference.compile({graph::DType::f32, {1, 3, kRows, kColumns}});
  restore_weights(ours, *inference.state());
  const std::span<const float> logits = inference(image);
  const std::vector<float> theirs = read_raw(folder_ / "logits");
  ASSERT_EQ(logits.size(), theirs.size());
  double largest = 0;
  double worst = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    largest = std::max(largest, static_cast<double>(std::abs(theirs[i])));
    worst = std::max(worst, static_cast<double>(std::abs(logits[i] - theirs[i])));
  }
  EXPECT_GT(largest, 1);
  EXPECT_LE(worst, 1e-5 * largest);  // sums in another order
}

}  // namespace
}  // namespace cosmic::checkpoint
