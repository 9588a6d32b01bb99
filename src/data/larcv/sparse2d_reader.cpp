#include "data/larcv/sparse2d_reader.hpp"

#include "data/larcv/plane_index.hpp"

namespace cosmic::data::larcv {

struct Sparse2dReader::State {
  State(const EventFile& event_file, const ProductName& product, PixelMeaning meaning,
        ReadWarnings& warnings)
      : file(event_file),
        place{.file = file.name(), .product = product.type + "_" + product.producer},
        pixels(file.table<VoxelRow>(product, kVoxelsTable), meaning, workspace, warnings),
        index(file, product, kVoxelExtentsTable, pixels.table(), workspace, warnings) {}

  const EventFile& file;
  ReadPlace place;
  ChunkWorkspace workspace;
  PixelReader pixels;
  PlaneIndex index;
};

Sparse2dReader::Sparse2dReader(const EventFile& file, const std::string& producer,
                               PixelMeaning meaning, ReadWarnings& warnings)
    : state_(std::make_unique<State>(file, ProductName{std::string(kSparse2d), producer}, meaning,
                                     warnings)) {}

Sparse2dReader::~Sparse2dReader() = default;

void Sparse2dReader::read(std::int64_t entry, SparseImage& image) {
  for (SparsePlane& plane : image) {
    plane.clear();
  }
  each_plane(state_->file, entry, state_->index, state_->place, [&](const PlaneRows& found) {
    SparsePlane& plane = image[found.plane];
    plane.meta = found.meta;
    state_->pixels.read(found.rows, found.meta, state_->place, plane.ids, plane.values);
  });
}

ImageMeta Sparse2dReader::first_meta() {
  ReadPlace& place = state_->place;
  return at_place(place, [&] { return state_->index.first_meta(place); });
}

}  // namespace cosmic::data::larcv
