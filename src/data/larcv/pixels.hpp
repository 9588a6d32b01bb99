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
  charge,
  label,  ///< 0, 1 or 2; anything else is an error, most likely the name of another product
};

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
