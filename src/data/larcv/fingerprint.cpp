#include "data/larcv/fingerprint.hpp"

#include "core/content_hash.hpp"
#include "core/error.hpp"

namespace cosmic::data::larcv {
namespace {

// Fingerprints of another kind cannot be compared with these. Those before had no prefix and stood
// for the images of three events.
constexpr const char* kKind = "v2-";

void add_table(ContentHash& hash, const Table& table) {
  hash.add(table.rows());
  hash.add(static_cast<std::uint64_t>(table.content_sum()));
}

void add_product(ContentHash& hash, const EventFile& file, const ProductName& product) {
  hash.add(std::string_view(product.type));
  hash.add(std::string_view(product.producer));
  add_table(hash, file.table<ExtentsRow>(product, kExtentsTable));
  if (product.type == kParticle) {
    add_table(hash, file.table<ParticleRow>(product, kParticlesTable));
    return;
  }
  add_table(hash, file.table<ImageMetaRow>(product, kImageMetaTable));
  if (product.type == kSparse2d) {
    add_table(hash, file.table<IdExtentsRow>(product, kVoxelExtentsTable));
    add_table(hash, file.table<VoxelRow>(product, kVoxelsTable));
  } else if (product.type == kCluster2d) {
    add_table(hash, file.table<IdExtentsRow>(product, kProjectionExtentsTable));
    add_table(hash, file.table<IdExtentsRow>(product, kClusterExtentsTable));
    add_table(hash, file.table<VoxelRow>(product, kVoxelsTable));
  } else {
    COSMIC_ASSERT(product.type == kBox2d);
    add_table(hash, file.table<IdExtentsRow>(product, kBoxExtentsTable));
    add_table(hash, file.table<BoxRow>(product, kBoxesTable));
  }
}

/// A file without events may lack anything, as nothing is read of it.
void add_file(ContentHash& hash, const EventFile& file, std::span<const ProductName> products) {
  add_table(hash, file.event_ids());
  for (const ProductName& product : products) {
    if (file.size() > 0) {
      add_product(hash, file, product);
    }
  }
}

}  // namespace

std::string fingerprint_of(const EventFile& file, std::span<const ProductName> products) {
  ContentHash hash;
  add_file(hash, file, products);
  return kKind + hash.text();
}

std::string fingerprint_of(std::span<const std::unique_ptr<EventFile>> files,
                           std::span<const ProductName> products) {
  ContentHash hash;
  for (const std::unique_ptr<EventFile>& file : files) {
    add_file(hash, *file, products);
  }
  return kKind + hash.text();
}

}  // namespace cosmic::data::larcv
