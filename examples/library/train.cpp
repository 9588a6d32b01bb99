// Trains a small classifier with the session of the library: it tells bright images from dark ones.
#include <cosmictagger/session.hpp>

#include <iostream>
#include <vector>

int main() {
  using namespace cosmic;
  constexpr std::size_t batch = 16;
  constexpr std::size_t pixels = 28 * 28;
  try {
    const model::FashionMnist network;
    const model::NegativeLogLikelihoodLoss loss;
    const graph::TensorType image{graph::DType::f32, {batch, 1, 28, 28}};
    session::TrainingModel training(network, loss, compile::Sgd{.momentum = 0.9}, {.threads = 1});
    training.compile({image, {graph::DType::u8, {batch}}});

    std::vector<float> images;
    std::vector<std::uint8_t> labels;
    for (std::size_t i = 0; i < batch; ++i) {
      labels.push_back(static_cast<std::uint8_t>(i % 2));
      images.insert(images.end(), pixels, i % 2 == 0 ? -1.0F : 1.0F);
    }
    double last = 0;
    for (int step = 0; step < 50; ++step) {
      last = training(images, labels, 0.01).loss;
    }
    std::cout << "loss " << last << " after 50 steps\n";
    return last < 0.1 ? 0 : 1;
  } catch (const Error& error) {
    std::cerr << error.what() << "\n";
    return exit_status(error);
  }
}
