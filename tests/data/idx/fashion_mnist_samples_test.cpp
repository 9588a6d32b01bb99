#include "data/idx/fashion_mnist_samples.hpp"

#include <gmock/gmock.h>

#include "data/loader/batch_loader.hpp"

namespace cosmic::data {
namespace {

constexpr std::size_t kImageBytes = 28UL * 28;

/// Image n is all n; its label is n.
FashionMnist counting_set(std::uint8_t size) {
  FashionMnist set;
  for (std::uint8_t i = 0; i < size; ++i) {
    set.images.insert(set.images.end(), kImageBytes, i);
    set.labels.push_back(i);
  }
  return set;
}

TEST(FashionMnistSamples, scales_bytes_as_the_tutorial_does) {
  FashionMnist set = counting_set(2);
  set.images[0] = 255;
  set.images[kImageBytes - 1] = 51;
  const FashionMnistSamples samples(set);
  std::vector<float> image(samples.image_elements());
  std::uint8_t label = 99;
  samples.reader()->read({.entry = 0}, image, {&label, 1});
  EXPECT_FLOAT_EQ(image.front(), 1);
  EXPECT_FLOAT_EQ(image[1], -1);
  EXPECT_FLOAT_EQ(image.back(), -0.6F);
  EXPECT_EQ(label, 0);
}

TEST(FashionMnistSamples, fill_the_calls_of_a_model) {
  const FashionMnistSamples samples(counting_set(9), {.mean = 0, .deviation = 1 / 255.0F});
  BatchLoader loader(samples,
                     {.batch = 2,
                      .micro_batches = 2,
                      .order = {.kind = OrderKind::shuffled, .passes = Passes::epochs, .seed = 3}});
  int batches = 0;
  while (const Batch* batch = loader.next()) {
    ++batches;
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(batch->labels[i], batch->entries[i]);
      EXPECT_THAT(batch->images.subspan(i * kImageBytes, kImageBytes),
                  testing::Each(testing::FloatNear(batch->labels[i], 1e-5F)));
    }
  }
  EXPECT_EQ(batches, 2);
}

}  // namespace
}  // namespace cosmic::data
