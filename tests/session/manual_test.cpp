// The example of docs/session.md, as it stands there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "data/idx/fashion_mnist_samples.hpp"
#include "data/loader/batch_loader.hpp"
#include "model/fashion_mnist.hpp"
#include "scratch_folder.hpp"
#include "session/call_shape.hpp"
#include "session/model.hpp"
#include "session/options_file.hpp"

namespace cosmic {
namespace {

/// Stripes that differ by class, so that something can be learnt.
data::FashionMnist striped_set(std::size_t size) {
  data::FashionMnist set;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t label = i % 10;
    for (std::size_t pixel = 0; pixel < 28UL * 28; ++pixel) {
      set.images.push_back(pixel / 28 % (label + 2) == 0 ? 255 : 0);
    }
    set.labels.push_back(static_cast<std::uint8_t>(label));
  }
  return set;
}

TEST(Manual, example_trains_and_shares_its_weights) {
  const ScratchFolder folder("manual");
  std::ofstream(folder / "run.yaml") << "device_iterations: 4\nthreads: 1\n";
  const data::FashionMnistSamples samples(striped_set(320));
  std::vector<double> losses;

  // begin of the example
  const model::FashionMnist network;
  const model::NegativeLogLikelihoodLoss loss;
  session::Options options = session::load_options(folder / "run.yaml");  // device_iterations: 4

  session::TrainingModel training(network, loss, compile::Sgd{0.9}, options);
  training.compile({{graph::DType::f32, {16, 1, 28, 28}}, {graph::DType::u8, {16}}});

  data::BatchLoader loader(
      samples, {.batch = 16,
                .micro_batches = session::call_shape(options).batches(),
                .order = {.kind = data::OrderKind::shuffled, .passes = data::Passes::epochs}});
  for (int epoch = 0; epoch < 2; ++epoch) {
    while (const data::Batch* batch = loader.next()) {
      losses.push_back(training(batch->images, batch->labels, 0.001).loss);
    }
  }

  options.device_iterations = 1;
  session::InferenceModel inference(network, options, training.state());  // the same weights
  inference.compile(graph::TensorType{graph::DType::f32, {16, 1, 28, 28}});
  // end of the example

  EXPECT_EQ(losses.size(), 10U);
  EXPECT_LT(losses.back(), losses.front());
  EXPECT_EQ(inference(std::vector<float>(16UL * 28 * 28)).size(), 160U);
}

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Without the indentation.
std::string lines_between(const std::string& text, const std::string& begin, const std::string& end,
                          std::size_t indentation) {
  const std::size_t from = text.find('\n', text.find(begin)) + 1;
  std::istringstream lines(text.substr(from, text.find(end, from) - from));
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const std::string kept = line.substr(std::min(indentation, line.size()));
    result += kept.empty() ? "\n" : kept + "\n";
  }
  return result.substr(0, result.find_last_not_of(" \n") + 1);
}

TEST(Manual, example_is_the_one_that_is_printed) {
  EXPECT_EQ(lines_between(text_of("docs/session.md"), "```cpp", "```", 0),
            lines_between(text_of("tests/session/manual_test.cpp"), "// begin of the example",
                          "// end of the example", 2));
}

}  // namespace
}  // namespace cosmic
