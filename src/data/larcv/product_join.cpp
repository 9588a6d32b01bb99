#include "data/larcv/product_join.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "core/error.hpp"
#include "data/larcv/box2d_reader.hpp"
#include "data/larcv/cluster2d_reader.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/particle_reader.hpp"
#include "data/larcv/sparse2d_reader.hpp"

namespace cosmic::data::larcv {
namespace {

bool contains(std::span<const ProductName> products, const ProductName& product) {
  return std::find(products.begin(), products.end(), product) != products.end();
}

bool is_readable(const ProductName& product) {
  const std::array types{kSparse2d, kCluster2d, kParticle, kBox2d};
  return std::find(types.begin(), types.end(), product.type) != types.end();
}

/// Without planes that the event does not have, which a reader leaves empty.
template <class Planes>
auto stored_planes(const Planes& planes) {
  std::vector<typename Planes::value_type> stored;
  std::copy_if(planes.begin(), planes.end(), std::back_inserter(stored),
               [](const auto& plane) { return plane.meta.pixels != ImageMeta{}.pixels; });
  return stored;
}

void require_product(const EventFile& file, const ProductName& product, const EventFile& like) {
  COSMIC_REQUIRE(DataError, file.has(product),
                 file.name() << ": has no product '" << product.type << "_" << product.producer
                             << "', which " << like.name()
                             << " has (every event of one file has the same products); leave the "
                                "file out, or write one file for each");
}

}  // namespace

class ProductJoin::Readers {
 public:
  Readers(const std::filesystem::path& path, const std::vector<ProductName>& products)
      : file_(path, warnings_) {
    for (const ProductName& product : products) {
      copies_.push_back(copy_of(product));
    }
  }

  void copy(std::int64_t entry, EventFileWriter& writer) {
    for (const Copy& copy : copies_) {
      copy(entry, writer);
    }
  }

 private:
  using Copy = std::function<void(std::int64_t, EventFileWriter&)>;

  // Functions are copied, readers are not: the function shares its reader with no one else.
  Copy copy_of(const ProductName& product) {
    const std::string& producer = product.producer;
    if (product.type == kSparse2d) {
      auto reader = std::make_shared<Sparse2dReader>(file_, producer, PixelMeaning::any, warnings_);
      return [reader, producer](std::int64_t entry, EventFileWriter& writer) {
        SparseImage image;
        reader->read(entry, image);
        writer.write_sparse(producer, image);
      };
    }
    if (product.type == kCluster2d) {
      auto reader = std::make_shared<Cluster2dReader>(file_, producer, warnings_);
      return [reader, producer](std::int64_t entry, EventFileWriter& writer) {
        ClusterPlanes planes;
        reader->read(entry, planes);
        writer.write_clusters(producer, stored_planes(planes));
      };
    }
    if (product.type == kParticle) {
      auto reader = std::make_shared<ParticleReader>(file_, producer, warnings_);
      return [reader, producer](std::int64_t entry, EventFileWriter& writer) {
        std::vector<Particle> particles;
        reader->read(entry, particles);
        writer.write_particles(producer, particles);
      };
    }
    auto reader = std::make_shared<Box2dReader>(file_, producer, warnings_);
    return [reader, producer](std::int64_t entry, EventFileWriter& writer) {
      BoxPlanes planes;
      reader->read(entry, planes);
      writer.write_boxes(producer, stored_planes(planes));
    };
  }

  ReadWarnings warnings_;  // whoever reads the events for the network counts what was mended
  EventFile file_;
  std::vector<Copy> copies_;
};

ProductJoin::ProductJoin(std::vector<std::filesystem::path> files,
                         std::span<const ProductName> except)
    : files_(std::move(files)) {
  ReadWarnings warnings;
  const auto has_events = [&](const std::filesystem::path& file) {
    return EventFile(file, warnings).size() > 0;
  };
  const auto like = std::find_if(files_.begin(), files_.end(), has_events);
  const EventFile first(like == files_.end() ? files_.front() : *like, warnings);
  for (const ProductName& product : first.products()) {
    if (!contains(except, product)) {
      (is_readable(product) ? products_ : left_out_).push_back(product);
    }
  }
  for (const std::filesystem::path& path : files_) {
    const EventFile file(path, warnings);
    if (file.size() == 0) {
      continue;  // nothing will be copied
    }
    for (const ProductName& product : products_) {
      require_product(file, product, first);
    }
    for (const ProductName& product : file.products()) {
      if (is_readable(product) && !contains(except, product)) {
        require_product(first, product, file);
      }
    }
  }
}

ProductJoin::~ProductJoin() = default;

void ProductJoin::copy(std::size_t file, std::int64_t entry, EventFileWriter& writer) {
  if (readers_ == nullptr || open_file_ != file) {
    readers_ = std::make_unique<Readers>(files_.at(file), products_);
    open_file_ = file;
  }
  readers_->copy(entry, writer);
}

}  // namespace cosmic::data::larcv
