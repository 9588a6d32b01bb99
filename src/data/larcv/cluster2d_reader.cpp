#include "data/larcv/cluster2d_reader.hpp"

#include "data/larcv/pixels.hpp"
#include "data/larcv/plane_index.hpp"

namespace cosmic::data::larcv {

struct Cluster2dReader::State {
  State(const EventFile& event_file, const ProductName& product, ReadWarnings& read_warnings)
      : file(event_file),
        warnings(read_warnings),
        place{.file = file.name(), .product = product.type + "_" + product.producer},
        pixels(file.table<VoxelRow>(product, kVoxelsTable), PixelMeaning::any, workspace, warnings),
        clusters(file.table<IdExtentsRow>(product, kClusterExtentsTable), workspace),
        index(file, product, kProjectionExtentsTable, clusters.table(), workspace, warnings) {}

  void read_clusters(const PlaneRows& found, ClusterPlane& plane) {
    plane.meta = found.meta;
    for (std::uint64_t row = found.rows.first; row < found.rows.end(); ++row) {
      const RowRange rows = read_range(clusters, row, pixels.table(), place, warnings);
      // Not all at once before the loop: the number of clusters is a number from the file.
      Cluster& cluster = plane.clusters.emplace_back();
      cluster.id = clusters.row(row).id;
      pixels.read(rows, found.meta, place, cluster.ids, cluster.values);
    }
  }

  const EventFile& file;
  ReadWarnings& warnings;
  ReadPlace place;
  ChunkWorkspace workspace;
  PixelReader pixels;
  TableReader<IdExtentsRow> clusters;
  PlaneIndex index;
};

Cluster2dReader::Cluster2dReader(const EventFile& file, const std::string& producer,
                                 ReadWarnings& warnings)
    : state_(std::make_unique<State>(file, ProductName{std::string(kCluster2d), producer},
                                     warnings)) {}

Cluster2dReader::~Cluster2dReader() = default;

void Cluster2dReader::read(std::int64_t entry, ClusterPlanes& planes) {
  for (ClusterPlane& plane : planes) {
    plane.meta = {};
    plane.clusters.clear();
  }
  each_plane(state_->file, entry, state_->index, state_->place,
             [&](const PlaneRows& found) { state_->read_clusters(found, planes[found.plane]); });
}

}  // namespace cosmic::data::larcv
