// What the specification says about the real sample file: sections 2.1 to 2.5 and the raw rows of
// appendix A.4.
#include "data/larcv/sample_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "data/larcv/cluster2d_reader.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/particle_reader.hpp"
#include "data/larcv/sparse2d_reader.hpp"

namespace cosmic::data::larcv {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kColumns = 2048;
constexpr std::uint64_t kRows = 1280;
constexpr std::int64_t kEvents = 5;
// Stored pixels per event and plane.
constexpr std::size_t kPixels[kEvents][3] = {{23223, 23171, 10084},
                                             {25094, 23599, 10191},
                                             {23446, 24703, 12218},
                                             {26961, 26841, 12336},
                                             {15775, 16056, 3066}};

class SampleFile : public testing::Test {
 protected:
  void SetUp() override { COSMIC_NEEDS_SAMPLE_FILE(); }

  SparseImage image(std::int64_t entry) {
    SparseImage image;
    const EventFile file(kSampleFile, warnings_);
    Sparse2dReader(file, "sbndwire", PixelMeaning::charge, warnings_).read(entry, image);
    return image;
  }
  SparseImage labels(std::int64_t entry) {
    SparseImage labels;
    const EventFile file(kSampleFile, warnings_);
    Sparse2dReader(file, "sbnd_cosmicseg", PixelMeaning::label, warnings_).read(entry, labels);
    return labels;
  }

  ReadWarnings warnings_;
};

TEST_F(SampleFile, has_five_products_and_five_events) {
  const EventFile file(kSampleFile, warnings_);
  EXPECT_EQ(file.size(), kEvents);
  EXPECT_THAT(file.products(),
              testing::UnorderedElementsAre(ProductName{"sparse2d", "sbndwire"},
                                            ProductName{"sparse2d", "sbnd_cosmicseg"},
                                            ProductName{"cluster2d", "sbndneutrino"},
                                            ProductName{"cluster2d", "sbndsegmerged"},
                                            ProductName{"particle", "sbndneutrino"}));
}

TEST_F(SampleFile, has_the_chunk_sizes_that_the_writer_uses) {
  const EventFile file(kSampleFile, warnings_);
  const ProductName image{"sparse2d", "sbndwire"};
  const ProductName particles{"particle", "sbndneutrino"};
  EXPECT_EQ(file.event_ids().chunk_rows(), kEventIdChunk);
  EXPECT_EQ(file.table<ExtentsRow>(image, kExtentsTable).chunk_rows(), kImageExtentsChunk);
  EXPECT_EQ(file.table<IdExtentsRow>(image, kVoxelExtentsTable).chunk_rows(), kPlaneExtentsChunk);
  EXPECT_EQ(file.table<ImageMetaRow>(image, kImageMetaTable).chunk_rows(), kImageMetaChunk);
  EXPECT_EQ(file.table<VoxelRow>(image, kVoxelsTable).chunk_rows(), kVoxelsChunk);
  EXPECT_EQ(file.table<ExtentsRow>(particles, kExtentsTable).chunk_rows(), kParticleExtentsChunk);
  EXPECT_EQ(file.table<ParticleRow>(particles, kParticlesTable).chunk_rows(), kParticlesChunk);
}

TEST_F(SampleFile, first_pixel_is_where_the_specification_says) {
  const SparsePlane plane = image(0)[0];
  EXPECT_THAT(plane.meta.pixels, ElementsAre(kColumns, kRows));
  EXPECT_THAT(plane.meta.size, ElementsAre(2048.0, 1280.0));
  EXPECT_THAT(plane.meta.origin, ElementsAre(0.0, 0.0));
  ASSERT_FALSE(plane.ids.empty());
  EXPECT_EQ(plane.ids[0], 40786U);
  EXPECT_EQ(plane.ids[0] / plane.meta.rows(), 31U);
  EXPECT_EQ(plane.ids[0] % plane.meta.rows(), 1106U);
  EXPECT_FLOAT_EQ(plane.values[0], 5.7113414F);
}

TEST_F(SampleFile, events_have_the_pixels_of_appendix_a4) {
  for (std::int64_t event = 0; event < kEvents; ++event) {
    const SparseImage planes = image(event);
    for (std::size_t plane = 0; plane < 3; ++plane) {
      EXPECT_EQ(planes[plane].ids.size(), kPixels[event][plane]) << event << " " << plane;
      EXPECT_EQ(planes[plane].meta.projection, plane);
    }
  }
}

TEST_F(SampleFile, event_0_has_the_sums_and_labels_of_appendix_a4) {
  constexpr double kSums[] = {498283.849, 507628.176, 463207.088};
  constexpr float kLargest[] = {366.1020F, 441.4287F, 448.7843F};
  constexpr std::ptrdiff_t kCosmic[] = {9890, 9376, 8671};
  constexpr std::ptrdiff_t kNeutrino[] = {375, 305, 360};
  const SparseImage planes = image(0);
  const SparseImage labels_of = labels(0);
  for (std::size_t plane = 0; plane < 3; ++plane) {
    const auto& values = planes[plane].values;
    EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0), kSums[plane], 0.01);
    EXPECT_NEAR(*std::max_element(values.begin(), values.end()), kLargest[plane], 1e-4);
    const auto& classes = labels_of[plane].values;
    EXPECT_EQ(std::count(classes.begin(), classes.end(), 1.0F), kCosmic[plane]);
    EXPECT_EQ(std::count(classes.begin(), classes.end(), 2.0F), kNeutrino[plane]);
  }
}

TEST_F(SampleFile, ids_ascend_and_labels_have_the_ids_of_the_image) {
  for (std::int64_t event = 0; event < kEvents; ++event) {
    const SparseImage planes = image(event);
    const SparseImage labels_of = labels(event);
    for (std::size_t plane = 0; plane < 3; ++plane) {
      const auto& ids = planes[plane].ids;
      EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()), ids.end());
      EXPECT_EQ(ids, labels_of[plane].ids);
    }
  }
  EXPECT_EQ(warnings_.total(), 0U);
}

TEST_F(SampleFile, first_particle_is_the_neutrino) {
  const EventFile file(kSampleFile, warnings_);
  ParticleReader reader(file, "sbndneutrino", warnings_);
  std::vector<Particle> particles;
  std::size_t all = 0;
  for (std::int64_t event = 0; event < kEvents; ++event) {
    reader.read(event, particles);
    all += particles.size();
    EXPECT_GE(particles.size(), 4U);
    EXPECT_LE(particles.size(), 13U);
    EXPECT_THAT(std::abs(particles[0].pdg), testing::AnyOf(12, 14));
    EXPECT_THAT(particles[0].current_type, testing::AnyOf(0, 1));
    EXPECT_EQ(particles[1].current_type, -1);
  }
  EXPECT_EQ(all, 33U);
  reader.read(0, particles);
  EXPECT_EQ(particles[0].pdg, 14);
  EXPECT_NEAR(particles[0].initial_energy, 1.39017351, 1e-8);
  EXPECT_NEAR(particles[0].vertex.z, 472.893415, 1e-6);
  EXPECT_EQ(particles[0].process, "primary");
  EXPECT_EQ(particles[1].track_id, 4U);
  EXPECT_EQ(particles[2].parent_track_id, 5U);
}

TEST_F(SampleFile, vertex_clusters_are_three_by_three_pixels) {
  const EventFile file(kSampleFile, warnings_);
  Cluster2dReader reader(file, "sbndneutrino", warnings_);
  ClusterPlanes planes;
  for (std::int64_t event = 0; event < kEvents; ++event) {
    reader.read(event, planes);
    for (const ClusterPlane& plane : planes) {
      ASSERT_EQ(plane.clusters.size(), 1U);
      EXPECT_EQ(plane.clusters[0].ids.size(), 9U);
      EXPECT_EQ(plane.clusters[0].ids[8] - plane.clusters[0].ids[0], 2 * kRows + 2);
      EXPECT_THAT(plane.clusters[0].values, testing::Each(1.0F));
    }
  }
}

TEST_F(SampleFile, particle_clusters_can_be_read) {
  const EventFile file(kSampleFile, warnings_);
  Cluster2dReader reader(file, "sbndsegmerged", warnings_);
  ClusterPlanes planes;
  reader.read(0, planes);
  ASSERT_EQ(planes[2].clusters.size(), 1357U);
  EXPECT_EQ(planes[0].clusters[1].id, 1U);
  EXPECT_EQ(planes[0].clusters[1].ids.size(), 220U);
  EXPECT_TRUE(planes[0].clusters[4].ids.empty());
  EXPECT_EQ(warnings_.total(), 0U);
}

TEST_F(SampleFile, is_a_source_of_labelled_events) {
  const LarcvSource source({.files = {kSampleFile}});
  EXPECT_EQ(source.size(), kEvents);
  EXPECT_EQ(source.meta().columns(), kColumns);
  EXPECT_EQ(source.meta().rows(), kRows);
  EXPECT_TRUE(source.labelled());
  SparseEvent event;
  source.reader()->read(2, event);
  EXPECT_EQ(event.id, (EventId{-1, -1, -1}));
  EXPECT_EQ(event.image[2].ids.size(), kPixels[2][2]);
  EXPECT_EQ(event.labels[2].ids, event.image[2].ids);
}

TEST_F(SampleFile, threads_read_the_same_as_one) {
  const LarcvSource source({.files = {kSampleFile, kSampleFile}});
  std::vector<SparseEvent> expected(static_cast<std::size_t>(source.size()));
  const auto reader = source.reader();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    reader->read(static_cast<std::int64_t>(i), expected[i]);
  }
  constexpr int kThreads = 4;
  std::array<int, kThreads> differences{};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto own = source.reader();
      SparseEvent event;
      for (std::size_t i = 0; i < 2 * expected.size(); ++i) {
        // Each thread in another order, so that they meet in the same chunks at different times.
        const std::size_t entry = (i * 3 + static_cast<std::size_t>(t)) % expected.size();
        own->read(static_cast<std::int64_t>(entry), event);
        for (std::size_t plane = 0; plane < 3; ++plane) {
          const bool same = event.image[plane].ids == expected[entry].image[plane].ids &&
                            event.image[plane].values == expected[entry].image[plane].values &&
                            event.labels[plane].values == expected[entry].labels[plane].values;
          differences[static_cast<std::size_t>(t)] += same ? 0 : 1;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_THAT(differences, testing::Each(0));
}

TEST_F(SampleFile, files_follow_one_another) {
  const LarcvSource source({.files = {kSampleFile, kSampleFile, kSampleFile}});
  EXPECT_EQ(source.size(), 3 * kEvents);
  EXPECT_EQ(source.description(), kSampleFile.string() + " and 2 more");
  const auto reader = source.reader();
  SparseEvent event;
  for (std::int64_t entry = 0; entry < source.size(); ++entry) {
    reader->read(entry, event);
    EXPECT_EQ(event.image[0].ids.size(), kPixels[entry % kEvents][0]) << entry;
  }
}

}  // namespace
}  // namespace cosmic::data::larcv
