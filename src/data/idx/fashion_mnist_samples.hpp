// Fashion-MNIST as samples: bytes become floats around zero, as the tutorial has them.
#pragma once

#include "data/idx/fashion_mnist.hpp"
#include "data/sample_source.hpp"

namespace cosmic::data {

/// A byte becomes (byte / 255 - mean) / deviation.
struct ByteScale {
  float mean = 0.5F;
  float deviation = 0.5F;
};

class FashionMnistSamples final : public SampleSource {
 public:
  explicit FashionMnistSamples(FashionMnist set, ByteScale scale = {});

  std::int64_t size() const override { return set_.size(); }
  std::size_t image_elements() const override {
    return static_cast<std::size_t>(FashionMnist::kRows * FashionMnist::kColumns);
  }
  std::size_t label_elements() const override { return 1; }
  std::string description() const override { return "Fashion-MNIST"; }
  std::unique_ptr<SampleReader> reader() const override;

 private:
  FashionMnist set_;
  ByteScale scale_;
};

}  // namespace cosmic::data
