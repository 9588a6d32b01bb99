// Pixels of a plane or a cluster, from the file into the arrays of an event.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "data/event.hpp"
#include "data/larcv/extents.hpp"
#include "data/larcv/read_place.hpp"
#include "data/larcv/read_warnings.hpp"
#include "data/larcv/table.hpp"

namespace cosmic::data::larcv {

/// What the value of a pixel is.
enum class PixelMeaning : std::uint8_t {
  charge,  ///< of a wire signal; beyond kMostCharge it is an error
  label,   ///< 0, 1 or 2; anything else is an error, most likely the name of another product
  any,     ///< a number of a product that no network sees
};

/// The most charge, of either sign, that a pixel of an image may have: the largest number of half
/// precision, so that every number format can hold the image. Real charges stay below 3,000. The
/// squares of a whole plane of 1280 x 2048 such pixels add up to 1.1e16, which leaves float32 and
/// bfloat16 (up to 3e38) room for weights and for further layers; without a ceiling, three pixels
/// of 3e38 make the variance of a batch infinite, and the network blind for ever.
inline constexpr float kMostCharge = 65504.0F;

/// Belongs to one thread.
class PixelReader {
 public:
  PixelReader(const Table& voxels, PixelMeaning meaning, ChunkWorkspace& workspace,
              ReadWarnings& warnings)
      : voxels_(voxels, workspace), meaning_(meaning), warnings_(warnings) {}

  const Table& table() const { return voxels_.table(); }

  /// Replaces `ids` and `values` by the pixels of `rows`, ids strictly ascending and inside the
  /// grid of `meta`. What had to be mended for that is counted.
  void read(const RowRange& rows, const ImageMeta& meta, const ReadPlace& place,
            std::vector<std::uint64_t>& ids, std::vector<float>& values);

 private:
  struct Pixel {
    std::uint64_t id = 0;
    float value = 0;
  };

  void mend(std::uint64_t pixels, const ReadPlace& place, std::vector<std::uint64_t>& ids,
            std::vector<float>& values);
  void drop_unusable(std::uint64_t pixels, const ReadPlace& place);
  void sort(const ReadPlace& place);
  void drop_duplicates(const ReadPlace& place);
  void require_charges(const ImageMeta& meta, const std::vector<std::uint64_t>& ids,
                       const std::vector<float>& values) const;
  void require_labels(const std::vector<std::uint64_t>& ids,
                      const std::vector<float>& values) const;
  void count_sentinels(const ReadPlace& place, const std::vector<std::uint64_t>& ids,
                       const std::vector<float>& values);

  TableReader<VoxelRow> voxels_;
  PixelMeaning meaning_;
  ReadWarnings& warnings_;
  std::vector<Pixel> mended_;
};

}  // namespace cosmic::data::larcv
