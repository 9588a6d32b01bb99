#include "data/idx/picture_batches.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/error.hpp"
#include "core/random.hpp"

namespace cosmic::data {
namespace {

constexpr std::int64_t kPixels = FashionMnist::kRows * FashionMnist::kColumns;

}  // namespace

PictureBatches::PictureBatches(const FashionMnist& pictures, std::int64_t batch,
                               std::optional<std::uint64_t> seed)
    : pictures_(pictures), batch_(batch), seed_(seed) {
  COSMIC_REQUIRE(UserError, batch >= 1 && batch <= pictures.size(),
                 "the batch is " << batch << " (there are " << pictures.size()
                                 << " pictures); choose one from 1 to that number");
  order_.resize(static_cast<std::size_t>(pictures.size()));
  images_.resize(static_cast<std::size_t>(batch * kPixels));
  labels_.resize(static_cast<std::size_t>(batch));
  handed_out_ = {images_, labels_};
  begin_epoch();
}

void PictureBatches::begin_epoch() {
  next_ = 0;
  std::iota(order_.begin(), order_.end(), std::int64_t{0});
  if (!seed_) {
    return;
  }
  RandomStream random(*seed_, "order of epoch " + std::to_string(epoch_++));
  for (std::size_t i = order_.size(); i > 1; --i) {
    std::swap(order_[i - 1], order_[static_cast<std::size_t>(random.next() % i)]);
  }
}

const PictureBatch* PictureBatches::next() {
  if (next_ == batches_per_epoch()) {
    begin_epoch();
    return nullptr;
  }
  for (std::int64_t i = 0; i < batch_; ++i) {
    const std::int64_t picture = order_[static_cast<std::size_t>(next_ * batch_ + i)];
    const std::uint8_t* const bytes = pictures_.images.data() + picture * kPixels;
    std::transform(bytes, bytes + kPixels, images_.data() + i * kPixels,
                   [](std::uint8_t byte) { return static_cast<float>(byte) / 127.5F - 1; });
    labels_[static_cast<std::size_t>(i)] = pictures_.labels[static_cast<std::size_t>(picture)];
  }
  ++next_;
  return &handed_out_;
}

}  // namespace cosmic::data
