#include "data/idx/picture_batches.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace cosmic::data {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::size_t kPixels = 28UL * 28;

/// Pictures of one brightness each, which is also the label.
FashionMnist ten_pictures() {
  FashionMnist pictures;
  for (std::uint8_t i = 0; i < 10; ++i) {
    pictures.images.insert(pictures.images.end(), kPixels, i);
    pictures.labels.push_back(i);
  }
  return pictures;
}

std::vector<int> labels_of_an_epoch(PictureBatches& batches) {
  std::vector<int> labels;
  while (const PictureBatch* batch = batches.next()) {
    labels.insert(labels.end(), batch->labels.begin(), batch->labels.end());
  }
  return labels;
}

TEST(PictureBatches, come_in_the_order_of_the_file_and_leave_out_what_fills_no_batch) {
  const FashionMnist pictures = ten_pictures();
  PictureBatches batches(pictures, 3, std::nullopt);
  EXPECT_EQ(batches.batches_per_epoch(), 3);
  EXPECT_THAT(labels_of_an_epoch(batches), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(labels_of_an_epoch(batches), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(PictureBatches, turn_bytes_into_floats_from_minus_one_to_one) {
  FashionMnist pictures = ten_pictures();
  std::fill_n(pictures.images.begin(), kPixels, std::uint8_t{255});
  PictureBatches batches(pictures, 2, std::nullopt);
  const PictureBatch* const batch = batches.next();
  EXPECT_THAT(batch->images.first(kPixels), Each(1.0F));
  EXPECT_THAT(batch->images.subspan(kPixels), Each(1 / 127.5F - 1));
}

TEST(PictureBatches, with_a_seed_keep_pictures_and_labels_together_and_lose_none) {
  const FashionMnist pictures = ten_pictures();
  PictureBatches batches(pictures, 2, 0);
  std::vector<int> seen;
  while (const PictureBatch* batch = batches.next()) {
    for (std::size_t i = 0; i < batch->labels.size(); ++i) {
      seen.push_back(batch->labels[i]);
      EXPECT_FLOAT_EQ(batch->images[i * kPixels], batch->labels[i] / 127.5F - 1);
    }
  }
  EXPECT_FALSE(std::is_sorted(seen.begin(), seen.end()));
  std::sort(seen.begin(), seen.end());
  EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(PictureBatches, have_an_order_that_depends_on_seed_and_epoch_alone) {
  const FashionMnist pictures = ten_pictures();
  const auto epochs = [&](std::uint64_t seed) {
    PictureBatches batches(pictures, 2, seed);
    const std::vector<int> first = labels_of_an_epoch(batches);
    return std::pair(first, labels_of_an_epoch(batches));
  };
  const auto [first, second] = epochs(0);
  EXPECT_NE(second, first);
  EXPECT_EQ(epochs(0), std::pair(first, second));
  EXPECT_NE(epochs(1).first, first);
}

TEST(PictureBatches, refuse_a_batch_of_more_pictures_than_there_are) {
  const FashionMnist pictures = ten_pictures();
  EXPECT_THAT([&] { PictureBatches(pictures, 11, 0); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("11"), HasSubstr("10 pictures"))));
}

}  // namespace
}  // namespace cosmic::data
