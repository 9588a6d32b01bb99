#include "data/larcv/pixels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/error.hpp"

namespace cosmic::data::larcv {
namespace {

// larcv3 fills unused places of a batch with it.
constexpr float kSentinel = -999.0F;

std::string pixel_text(const ReadPlace& place, std::uint64_t id, float value) {
  std::ostringstream text;
  text << place.text() << ": id " << id << ", value " << value;
  return text.str();
}

}  // namespace

void PixelReader::read(const RowRange& rows, const ImageMeta& meta, const ReadPlace& place,
                       std::vector<std::uint64_t>& ids, std::vector<float>& values) {
  const std::uint64_t pixels = meta.columns() * meta.rows();
  COSMIC_REQUIRE(DataError, rows.count <= pixels,
                 "has " << rows.count << " stored pixels on a grid of " << meta.columns() << "x"
                        << meta.rows() << " (no pixel comes twice); " << hdf5::kDamaged);
  ids.resize(static_cast<std::size_t>(rows.count));
  values.resize(ids.size());
  std::size_t at = 0;
  std::uint64_t least = 0;  // that the next id may be
  // Infinity is above both and NaN is below neither, so one comparison finds all that is not sound.
  const float most =
      meaning_ == PixelMeaning::charge ? kMostCharge : std::numeric_limits<float>::max();
  bool sound = true;
  bool sentinel = false;
  voxels_.each_piece(rows.first, rows.count, [&](std::span<const VoxelRow> piece) {
    for (const VoxelRow& voxel : piece) {
      ids[at] = voxel.id;
      values[at] = voxel.value;
      sound &= voxel.id >= least && voxel.id < pixels && std::abs(voxel.value) <= most;
      sentinel |= voxel.value == kSentinel;
      least = voxel.id + 1;
      ++at;
    }
  });
  if (!sound) {
    mend(pixels, place, ids, values);
  }
  if (!sound && meaning_ == PixelMeaning::charge) {
    require_charges(meta, ids, values);
  }
  if (meaning_ == PixelMeaning::label) {
    require_labels(ids, values);
  } else if (sentinel) {
    count_sentinels(place, ids, values);
  }
}

void PixelReader::mend(std::uint64_t pixels, const ReadPlace& place,
                       std::vector<std::uint64_t>& ids, std::vector<float>& values) {
  mended_.clear();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    mended_.push_back({ids[i], values[i]});
  }
  drop_unusable(pixels, place);
  sort(place);
  drop_duplicates(place);
  ids.resize(mended_.size());
  values.resize(mended_.size());
  for (std::size_t i = 0; i < mended_.size(); ++i) {
    ids[i] = mended_[i].id;
    values[i] = mended_[i].value;
  }
}

void PixelReader::drop_unusable(std::uint64_t pixels, const ReadPlace& place) {
  const auto drop = [&](WarningKind kind, const auto& unusable) {
    const auto kept = std::stable_partition(mended_.begin(), mended_.end(),
                                            [&](const Pixel& pixel) { return !unusable(pixel); });
    if (kept != mended_.end()) {
      warnings_.add(kind, static_cast<std::uint64_t>(mended_.end() - kept), place,
                    [&] { return pixel_text(place, kept->id, kept->value); });
      mended_.erase(kept, mended_.end());
    }
  };
  drop(WarningKind::id_out_of_range, [&](const Pixel& pixel) { return pixel.id >= pixels; });
  drop(WarningKind::value_not_finite,
       [](const Pixel& pixel) { return !std::isfinite(pixel.value); });
}

void PixelReader::sort(const ReadPlace& place) {
  const auto before = [](const Pixel& a, const Pixel& b) { return a.id < b.id; };
  const auto wrong = std::is_sorted_until(mended_.begin(), mended_.end(), before);
  if (wrong != mended_.end()) {
    warnings_.add(WarningKind::ids_not_ascending, 1, place,
                  [&] { return pixel_text(place, wrong->id, wrong->value); });
    // Stable: among pixels with the same id, the last one in the file stays the last.
    std::stable_sort(mended_.begin(), mended_.end(), before);
  }
}

void PixelReader::drop_duplicates(const ReadPlace& place) {
  const auto same_id = [](const Pixel& a, const Pixel& b) { return a.id == b.id; };
  const auto first = std::adjacent_find(mended_.begin(), mended_.end(), same_id);
  if (first == mended_.end()) {
    return;
  }
  const Pixel example = *first;
  // From the back, so that the last of equals is the one that stays.
  const auto kept = std::unique(mended_.rbegin(), mended_.rend(), same_id).base();
  warnings_.add(WarningKind::duplicate_id, static_cast<std::uint64_t>(kept - mended_.begin()),
                place, [&] { return pixel_text(place, example.id, example.value); });
  mended_.erase(mended_.begin(), kept);
}

void PixelReader::require_charges(const ImageMeta& meta, const std::vector<std::uint64_t>& ids,
                                  const std::vector<float>& values) const {
  const auto wrong = std::find_if(values.begin(), values.end(),
                                  [](float value) { return std::abs(value) > kMostCharge; });
  const auto id = [&] { return ids[static_cast<std::size_t>(wrong - values.begin())]; };
  COSMIC_REQUIRE(DataError, wrong == values.end(),
                 "id " << id() << " (wire " << id() / meta.rows() << ", tick " << id() % meta.rows()
                       << ") has the charge " << *wrong << " (at most " << kMostCharge
                       << " of either sign is read, what half precision can hold; larger ones "
                          "make batch statistics infinite); is this the producer of the images, "
                          "and are its units right?");
}

void PixelReader::require_labels(const std::vector<std::uint64_t>& ids,
                                 const std::vector<float>& values) const {
  const auto wrong = std::find_if(values.begin(), values.end(), [](float value) {
    return value != 0.0F && value != 1.0F && value != 2.0F;
  });
  COSMIC_REQUIRE(DataError, wrong == values.end(),
                 "id " << ids[static_cast<std::size_t>(wrong - values.begin())] << " has the label "
                       << *wrong << " (0 is background, 1 cosmic and 2 neutrino); is this the "
                       << "producer of labels?");
}

void PixelReader::count_sentinels(const ReadPlace& place, const std::vector<std::uint64_t>& ids,
                                  const std::vector<float>& values) {
  const auto first = std::find(values.begin(), values.end(), kSentinel);
  if (first != values.end()) {
    warnings_.add(
        WarningKind::sentinel_value,
        static_cast<std::uint64_t>(std::count(first, values.end(), kSentinel)), place, [&] {
          return pixel_text(place, ids[static_cast<std::size_t>(first - values.begin())], *first);
        });
  }
}

}  // namespace cosmic::data::larcv
