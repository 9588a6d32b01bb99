#include "data/detector/geometry.hpp"

#include <gtest/gtest.h>

#include <array>

namespace cosmic::data::detector {
namespace {

struct KnownVertex {
  Vec3 vertex;
  std::array<std::array<std::int64_t, 2>, 3> pixels;  // column and row on planes 0, 1, 2
};

// The five events of the real sample: `vtx` of the first row of particle_sbndneutrino, and the
// middle pixel of cluster2d_sbndneutrino.
constexpr std::array<KnownVertex, 5> kSampleVertices{{
    {{0.879671, -43.832416, 472.893415}, {{{1522, 640}, {1269, 641}, {1766, 640}}}},
    {{-59.371384, 132.300561, 250.181128}, {{{642, 449}, {1406, 450}, {1024, 450}}}},
    {{-45.808711, -157.752434, 252.352799}, {{{1483, 492}, {573, 493}, {1031, 494}}}},
    {{155.263418, 84.985414, 77.656046}, {{{491, 1134}, {982, 1135}, {449, 1134}}}},
    {{123.273306, 171.499088, 397.792084}, {{{775, 1032}, {1765, 1033}, {1516, 1031}}}},
}};

TEST(DetectorGeometry, puts_the_true_vertices_of_the_real_sample_into_their_pixels) {
  for (const KnownVertex& known : kSampleVertices) {
    for (std::size_t plane = 0; plane < kPlanes; ++plane) {
      const ImagePoint place = project(plane, known.vertex, 0, volume_of(known.vertex.x));
      EXPECT_EQ(static_cast<std::int64_t>(place.column), known.pixels[plane][0]) << plane;
      EXPECT_EQ(static_cast<std::int64_t>(place.row), known.pixels[plane][1]) << plane;
    }
  }
}

TEST(DetectorGeometry, corners_of_the_active_volume_are_on_the_outermost_wires) {
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    double least = kColumns;
    double most = 0;
    for (const double y : {-kHalfHeight, kHalfHeight}) {
      for (const double z : {0.0, kLength}) {
        const double column = project(plane, {50, y, z}, 0, DriftVolume::positive_x).column;
        least = std::min(least, column);
        most = std::max(most, column);
      }
    }
    EXPECT_NEAR(least, static_cast<double>(wires_of(plane).first), 3) << plane;
    EXPECT_NEAR(most, static_cast<double>(wires_of(plane).last), 3) << plane;
  }
}

TEST(DetectorGeometry,
     charge_of_the_cathode_arrives_in_the_middle_rows_and_that_of_the_walls_outside) {
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    EXPECT_NEAR(project(plane, {-0.1, 0, 250}, 0, DriftVolume::negative_x).row, 640, 4);
    EXPECT_NEAR(project(plane, {0.1, 0, 250}, 0, DriftVolume::positive_x).row, 640, 4);
    EXPECT_NEAR(project(plane, {-kHalfWidth, 0, 250}, 0, DriftVolume::negative_x).row, 0, 4);
    EXPECT_NEAR(project(plane, {kHalfWidth, 0, 250}, 0, DriftVolume::positive_x).row, 1280, 4);
  }
}

TEST(DetectorGeometry, late_charge_moves_towards_the_cathode_in_both_volumes) {
  const Vec3 left{-100, 0, 250};
  const Vec3 right{100, 0, 250};
  constexpr double kLate = 20;  // us, ten rows
  EXPECT_NEAR(project(2, left, kLate, DriftVolume::negative_x).row -
                  project(2, left, 0, DriftVolume::negative_x).row,
              10, 1e-9);
  EXPECT_NEAR(project(2, right, kLate, DriftVolume::positive_x).row -
                  project(2, right, 0, DriftVolume::positive_x).row,
              -10, 1e-9);
}

}  // namespace
}  // namespace cosmic::data::detector
