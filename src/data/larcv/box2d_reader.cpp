#include "data/larcv/box2d_reader.hpp"

#include <algorithm>
#include <cmath>

#include "data/larcv/plane_index.hpp"

namespace cosmic::data::larcv {
namespace {

bool is_finite(const BoxRow& box) {
  const auto finite = [](const auto& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  };
  return finite(box.centroid) && finite(box.half_length) && finite(box.rotation);
}

}  // namespace

struct Box2dReader::State {
  State(const EventFile& event_file, const ProductName& product, ReadWarnings& read_warnings)
      : file(event_file),
        warnings(read_warnings),
        place{.file = file.name(), .product = product.type + "_" + product.producer},
        boxes(file.table<BoxRow>(product, kBoxesTable), workspace),
        index(file, product, kBoxExtentsTable, boxes.table(), workspace, warnings) {}

  void read_boxes(const PlaneRows& found, BoxPlane& plane) {
    plane.meta = found.meta;
    boxes.each_piece(found.rows.first, found.rows.count, [&](std::span<const BoxRow> piece) {
      for (const BoxRow& box : piece) {
        if (is_finite(box)) {
          plane.boxes.push_back({box.centroid, box.half_length, box.rotation});
        } else {
          warnings.add(WarningKind::value_not_finite, 1, place,
                       [&] { return place.text() + ": a box"; });
        }
      }
    });
  }

  const EventFile& file;
  ReadWarnings& warnings;
  ReadPlace place;
  ChunkWorkspace workspace;
  TableReader<BoxRow> boxes;
  PlaneIndex index;
};

Box2dReader::Box2dReader(const EventFile& file, const std::string& producer, ReadWarnings& warnings)
    : state_(std::make_unique<State>(file, ProductName{std::string(kBox2d), producer}, warnings)) {}

Box2dReader::~Box2dReader() = default;

void Box2dReader::read(std::int64_t entry, BoxPlanes& planes) {
  for (BoxPlane& plane : planes) {
    plane.meta = {};
    plane.boxes.clear();
  }
  each_plane(state_->file, entry, state_->index, state_->place,
             [&](const PlaneRows& found) { state_->read_boxes(found, planes[found.plane]); });
}

}  // namespace cosmic::data::larcv
