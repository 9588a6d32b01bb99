#include "data/idx/fashion_mnist_samples.hpp"

#include <array>
#include <utility>

namespace cosmic::data {
namespace {

constexpr std::size_t kByteValues = 256;
constexpr float kLargestByte = 255;

class Reader final : public SampleReader {
 public:
  Reader(const FashionMnist& set, const ByteScale& scale) : set_(set) {
    for (std::size_t byte = 0; byte < kByteValues; ++byte) {
      scaled_[byte] = (static_cast<float>(byte) / kLargestByte - scale.mean) / scale.deviation;
    }
  }

  // Shuffled samples lie anywhere in memory. Waiting for all of them at once takes about as long as
  // waiting for one.
  void expect(std::span<const std::int64_t> entries) override {
    constexpr std::size_t kLine = 64;  // bytes of a cache line
    const std::size_t bytes = FashionMnist::kRows * FashionMnist::kColumns;
    for (const std::int64_t entry : entries) {
      const auto at = static_cast<std::size_t>(entry);
      const std::uint8_t* const image = set_.images.data() + at * bytes;
      for (std::size_t byte = 0; byte < bytes; byte += kLine) {
        __builtin_prefetch(image + byte);
      }
      __builtin_prefetch(set_.labels.data() + at);
    }
  }

  SampleFacts read(const SampleRequest& request, std::span<float> image,
                   std::span<std::uint8_t> label) override {
    const auto at = static_cast<std::size_t>(request.entry);
    const std::uint8_t* const bytes = set_.images.data() + at * image.size();
    for (std::size_t i = 0; i < image.size(); ++i) {
      image[i] = scaled_[bytes[i]];
    }
    label[0] = set_.labels[at];
    return {};
  }

 private:
  const FashionMnist& set_;
  std::array<float, kByteValues> scaled_;
};

}  // namespace

FashionMnistSamples::FashionMnistSamples(FashionMnist set, ByteScale scale)
    : set_(std::move(set)), scale_(scale) {}

std::unique_ptr<SampleReader> FashionMnistSamples::reader() const {
  return std::make_unique<Reader>(set_, scale_);
}

}  // namespace cosmic::data
