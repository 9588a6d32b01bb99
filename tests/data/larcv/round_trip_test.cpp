// What the writer writes, the reader reads.
#include <gmock/gmock.h>

#include <limits>

#include "data/larcv/box2d_reader.hpp"
#include "data/larcv/cluster2d_reader.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/particle_reader.hpp"
#include "data/larcv/sparse2d_reader.hpp"
#include "data/larcv/written_content.hpp"
#include "scratch_folder.hpp"

namespace cosmic::data::larcv {
namespace {

class RoundTrip : public testing::Test {
 protected:
  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "events.h5";
  ReadWarnings warnings_;
};

void expect_equal(const SparseImage& read, const SparseImage& written) {
  for (std::size_t plane = 0; plane < written.size(); ++plane) {
    EXPECT_EQ(read[plane].meta, written[plane].meta);
    EXPECT_EQ(read[plane].ids, written[plane].ids);
    EXPECT_EQ(read[plane].values, written[plane].values);
  }
}

void expect_equal(const SpaceTime& a, const SpaceTime& b) {
  EXPECT_EQ(std::tie(a.x, a.y, a.z, a.t), std::tie(b.x, b.y, b.z, b.t));
}

/// A value of its own in every member, so that no two can be confused.
Particle distinct_particle() {
  Particle particle;
  particle.id = 1;
  particle.mcst_index = 2;
  particle.mct_index = 3;
  particle.shape = -4;
  particle.current_type = 5;
  particle.interaction_type = -6;
  particle.track_id = 7;
  particle.pdg = -8;
  particle.momentum = {9, 10, 11};
  particle.vertex = {12, 13, 14, 15};
  particle.end_point = {16, 17, 18, 19};
  particle.first_step = {20, 21, 22, 23};
  particle.last_step = {24, 25, 26, 27};
  particle.distance_travelled = 28;
  particle.initial_energy = 29;
  particle.deposited_energy = 30;
  particle.process = "muIoni";
  particle.parent_track_id = 31;
  particle.parent_pdg = -32;
  particle.parent_vertex = {33, 34, 35, 36};
  particle.ancestor_track_id = 37;
  particle.ancestor_pdg = -38;
  particle.ancestor_vertex = {39, 40, 41, 42};
  return particle;
}

TEST_F(RoundTrip, keeps_every_pixel_cluster_and_box) {
  constexpr std::int64_t kEvents = 25;  // more than one chunk of every table
  EventFileWriter writer(path_);
  for (std::int64_t number = 0; number < kEvents; ++number) {
    write(writer, some_event(number));
  }
  writer.commit();

  const LarcvSource source({.files = {path_}, .labels = LabelUse::required});
  ASSERT_EQ(source.size(), kEvents);
  const EventFile file(path_, warnings_);
  Cluster2dReader cluster_reader(file, "sbndsegmerged", warnings_);
  ParticleReader particle_reader(file, "sbndneutrino", warnings_);
  Box2dReader box_reader(file, "bbox_neutrino", warnings_);
  const auto reader = source.reader();
  SparseEvent event;
  ClusterPlanes clusters;
  std::vector<Particle> particles;
  BoxPlanes boxes;
  for (std::int64_t number = 0; number < kEvents; ++number) {
    const WrittenEvent written = some_event(number);
    reader->read(number, event);
    EXPECT_EQ(event.id, written.pixels.id);
    expect_equal(event.image, written.pixels.image);
    expect_equal(event.labels, written.pixels.labels);
    cluster_reader.read(number, clusters);
    particle_reader.read(number, particles);
    box_reader.read(number, boxes);
    EXPECT_EQ(particles.size(), written.particles.size());
    for (std::size_t plane = 0; plane < clusters.size(); ++plane) {
      const auto& expected = written.clusters[plane].clusters;
      ASSERT_EQ(clusters[plane].clusters.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(clusters[plane].clusters[i].id, expected[i].id);
        EXPECT_EQ(clusters[plane].clusters[i].ids, expected[i].ids);
        EXPECT_EQ(clusters[plane].clusters[i].values, expected[i].values);
      }
      ASSERT_EQ(boxes[plane].boxes.size(), 1U);
      EXPECT_EQ(boxes[plane].meta, written.boxes[plane].meta);
      EXPECT_EQ(boxes[plane].boxes[0].centroid, written.boxes[plane].boxes[0].centroid);
      EXPECT_EQ(boxes[plane].boxes[0].half_length, written.boxes[plane].boxes[0].half_length);
      EXPECT_EQ(boxes[plane].boxes[0].rotation, written.boxes[plane].boxes[0].rotation);
    }
  }
  EXPECT_EQ(warnings_.total(), 0U);
  EXPECT_EQ(source.warnings().total(), 0U);
}

TEST_F(RoundTrip, keeps_every_member_of_a_particle) {
  const std::vector<Particle> written{distinct_particle()};
  EventFileWriter writer(path_);
  writer.begin_event({});
  writer.write_particles("mc", written);
  writer.commit();

  const EventFile file(path_, warnings_);
  std::vector<Particle> read;
  ParticleReader(file, "mc", warnings_).read(0, read);
  ASSERT_EQ(read.size(), 1U);
  const Particle& a = read[0];
  const Particle& b = written[0];
  EXPECT_EQ(std::tie(a.id, a.mcst_index, a.mct_index, a.shape, a.current_type, a.interaction_type,
                     a.track_id, a.pdg, a.momentum, a.distance_travelled, a.initial_energy,
                     a.deposited_energy, a.process, a.parent_track_id, a.parent_pdg,
                     a.ancestor_track_id, a.ancestor_pdg),
            std::tie(b.id, b.mcst_index, b.mct_index, b.shape, b.current_type, b.interaction_type,
                     b.track_id, b.pdg, b.momentum, b.distance_travelled, b.initial_energy,
                     b.deposited_energy, b.process, b.parent_track_id, b.parent_pdg,
                     b.ancestor_track_id, b.ancestor_pdg));
  expect_equal(a.vertex, b.vertex);
  expect_equal(a.end_point, b.end_point);
  expect_equal(a.first_step, b.first_step);
  expect_equal(a.last_step, b.last_step);
  expect_equal(a.parent_vertex, b.parent_vertex);
  expect_equal(a.ancestor_vertex, b.ancestor_vertex);
}

TEST_F(RoundTrip, cuts_the_name_of_a_process_to_what_larcv3_keeps) {
  std::vector<Particle> particles(1);
  particles[0].process = std::string(100, 'x');
  EventFileWriter writer(path_);
  writer.begin_event({});
  writer.write_particles("mc", particles);
  writer.commit();
  const EventFile file(path_, warnings_);
  ParticleReader(file, "mc", warnings_).read(0, particles);
  EXPECT_EQ(particles[0].process, std::string(63, 'x'));
  EXPECT_EQ(warnings_.total(), 0U);
}

// Empty events come between full ones: rows must stay in step, and nothing of the event before may
// show.
TEST_F(RoundTrip, keeps_events_without_planes_pixels_or_particles) {
  WrittenEvent full = some_event(1);
  WrittenEvent no_pixels = some_event(2);
  for (std::size_t plane = 0; plane < no_pixels.pixels.image.size(); ++plane) {
    for (SparsePlane* empty : {&no_pixels.pixels.image[plane], &no_pixels.pixels.labels[plane]}) {
      empty->ids.clear();
      empty->values.clear();
    }
  }
  WrittenEvent nothing;
  EventFileWriter writer(path_);
  for (const WrittenEvent* event : {&full, &nothing, &no_pixels, &full}) {
    write(writer, *event);
  }
  writer.commit();

  const EventFile file(path_, warnings_);
  Sparse2dReader reader(file, "sbndwire", PixelMeaning::charge, warnings_);
  SparseImage image;
  const WrittenEvent* expected[] = {&full, &nothing, &no_pixels, &full};
  for (std::int64_t entry = 0; entry < 4; ++entry) {
    reader.read(entry, image);
    for (std::size_t plane = 0; plane < image.size(); ++plane) {
      EXPECT_EQ(image[plane].ids, expected[entry]->pixels.image[plane].ids) << "event " << entry;
    }
  }
  EXPECT_EQ(warnings_.total(), 0U);
}

TEST_F(RoundTrip, keeps_extreme_values) {
  SparseImage image;
  image[1].meta = {1, {65536, 65536}, {1e300, 1e-300}, {-1.5, 2.5}};
  image[1].ids = {0, 65536ULL * 65536 - 1};
  image[1].values = {std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()};
  EventFileWriter writer(path_);
  constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
  writer.begin_event({kLowest, 0, std::numeric_limits<std::int64_t>::max()});
  writer.write_sparse("wire", image);
  writer.commit();
  const EventFile file(path_, warnings_);
  SparseImage read;
  Sparse2dReader(file, "wire", PixelMeaning::any, warnings_).read(0, read);
  expect_equal(read, image);
}

TEST_F(RoundTrip, adds_predictions_to_what_was_copied) {
  const std::filesystem::path input = folder_ / "input.h5";
  {
    EventFileWriter writer(input);
    for (std::int64_t number = 0; number < 15; ++number) {
      write(writer, some_event(number));
    }
    writer.commit();
  }
  EventFileWriter writer(path_);
  writer.copy_products(input);
  for (std::int64_t number = 0; number < 15; ++number) {
    const WrittenEvent event = some_event(number);
    writer.begin_event(event.pixels.id);
    writer.write_sparse("cosmic_prediction", event.pixels.image);
    writer.write_sparse("neutrino_prediction", event.pixels.labels);
  }
  writer.commit();

  const LarcvSource copied({.files = {path_}, .labels = LabelUse::required});
  const LarcvSource added({.files = {path_},
                           .image_producer = "cosmic_prediction",
                           .label_producer = "neutrino_prediction"});
  SparseEvent event;
  for (std::int64_t number = 0; number < 15; ++number) {
    for (const LarcvSource* source : {&copied, &added}) {
      source->reader()->read(number, event);
      EXPECT_EQ(event.id, some_event(number).pixels.id);
      expect_equal(event.image, some_event(number).pixels.image);
      expect_equal(event.labels, some_event(number).pixels.labels);
    }
  }
}

}  // namespace
}  // namespace cosmic::data::larcv
