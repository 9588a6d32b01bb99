#include "data/detector/detector.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "core/error.hpp"
#include "data/detector/species.hpp"

namespace cosmic::data::detector {
namespace {

constexpr std::uint64_t kSeed = 11;
constexpr std::int64_t kEvents = 20;

SimulatedEvent event_of(std::uint64_t seed, std::int64_t index, const Conditions& conditions = {}) {
  const Detector detector(conditions);
  SimulatedEvent result;
  Simulator(detector, seed).simulate(index, result);
  return result;
}

/// The first events of a seed, one after the other from one simulator.
const std::vector<SimulatedEvent>& some_events() {
  static const std::vector<SimulatedEvent> events = [] {
    const Detector detector;
    Simulator simulator(detector, kSeed);
    std::vector<SimulatedEvent> all(kEvents);
    for (std::int64_t index = 0; index < kEvents; ++index) {
      simulator.simulate(index, all[static_cast<std::size_t>(index)]);
    }
    return all;
  }();
  return events;
}

std::set<std::uint64_t> rows_with(const SimulatedEvent& event, std::size_t plane, Label label) {
  std::set<std::uint64_t> rows;
  const SparsePlane& labels = event.event.labels[plane];
  for (std::size_t i = 0; i < labels.ids.size(); ++i) {
    if (labels.values[i] == static_cast<float>(label)) {
      rows.insert(labels.ids[i] % kRows);
    }
  }
  return rows;
}

std::int64_t count(const SimulatedEvent& event, std::size_t plane, Label label) {
  const std::vector<float>& values = event.event.labels[plane].values;
  return std::count(values.begin(), values.end(), static_cast<float>(label));
}

void expect_same(const SimulatedEvent& a, const SimulatedEvent& b) {
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    EXPECT_EQ(a.event.image[plane].ids, b.event.image[plane].ids);
    EXPECT_EQ(a.event.image[plane].values, b.event.image[plane].values);
    EXPECT_EQ(a.event.labels[plane].values, b.event.labels[plane].values);
    EXPECT_EQ(a.vertex[plane].clusters.front().ids, b.vertex[plane].clusters.front().ids);
  }
  ASSERT_EQ(a.particles.size(), b.particles.size());
  for (std::size_t i = 0; i < a.particles.size(); ++i) {
    EXPECT_EQ(a.particles[i].pdg, b.particles[i].pdg);
    EXPECT_EQ(a.particles[i].deposited_energy, b.particles[i].deposited_energy);
  }
}

TEST(Detector, same_seed_and_number_give_the_same_event_in_any_order) {
  const Detector detector;
  Simulator simulator(detector, kSeed);
  SimulatedEvent event;
  for (const std::int64_t index : {3, 0, 7, 3}) {
    simulator.simulate(index, event);
    expect_same(event, some_events()[static_cast<std::size_t>(index)]);
  }
}

TEST(Detector, other_seed_or_number_gives_another_event) {
  EXPECT_NE(event_of(1, 0).event.image[0].ids, event_of(1, 1).event.image[0].ids);
  EXPECT_NE(event_of(1, 0).event.image[0].ids, event_of(2, 0).event.image[0].ids);
}

TEST(Detector, ids_are_sorted_unique_and_on_wires) {
  for (const SimulatedEvent& event : some_events()) {
    for (std::size_t plane = 0; plane < kPlanes; ++plane) {
      const SparsePlane& image = event.event.image[plane];
      ASSERT_EQ(image.meta, meta_of(plane));
      ASSERT_EQ(image.values.size(), image.ids.size());
      ASSERT_EQ(std::adjacent_find(image.ids.begin(), image.ids.end(), std::greater_equal<>()),
                image.ids.end());
      ASSERT_GE(image.ids.front() / kRows, static_cast<std::uint64_t>(wires_of(plane).first));
      ASSERT_LE(image.ids.back() / kRows, static_cast<std::uint64_t>(wires_of(plane).last));
    }
  }
}

TEST(Detector, labels_have_the_ids_of_the_image_and_are_0_1_or_2) {
  for (const SimulatedEvent& event : some_events()) {
    ASSERT_TRUE(event.event.labelled);
    for (std::size_t plane = 0; plane < kPlanes; ++plane) {
      ASSERT_EQ(event.event.labels[plane].ids, event.event.image[plane].ids);
      ASSERT_EQ(event.event.labels[plane].meta, event.event.image[plane].meta);
      for (const float label : event.event.labels[plane].values) {
        ASSERT_TRUE(label == 0 || label == 1 || label == 2) << label;
      }
    }
  }
}

TEST(Detector, no_value_is_below_the_threshold) {
  for (const SimulatedEvent& event : some_events()) {
    for (const SparsePlane& plane : event.event.image) {
      ASSERT_GE(*std::min_element(plane.values.begin(), plane.values.end()), 5);
    }
  }
}

TEST(Detector, nearly_all_events_have_both_classes_on_all_planes) {
  int complete = 0;
  for (const SimulatedEvent& event : some_events()) {
    bool all = true;
    for (std::size_t plane = 0; plane < kPlanes; ++plane) {
      all = all && count(event, plane, Label::cosmic) >= 50 &&
            count(event, plane, Label::neutrino) >= 20;
    }
    complete += all ? 1 : 0;
  }
  EXPECT_GE(complete, kEvents - 2);
}

TEST(Detector, planes_see_a_neutrino_at_the_same_times) {
  for (const SimulatedEvent& event : some_events()) {
    const std::set<std::uint64_t> rows = rows_with(event, 2, Label::neutrino);
    if (rows.size() < 20) {
      continue;  // a few pixels may be hidden on another plane
    }
    for (const std::size_t plane : {0, 1}) {
      const std::set<std::uint64_t> others = rows_with(event, plane, Label::neutrino);
      std::size_t shared = 0;
      for (const std::uint64_t row : rows) {
        // The planes lie behind one another, so charge is up to two rows later on the next.
        shared += others.lower_bound(row - 2) != others.upper_bound(row + 2) ? 1 : 0;
      }
      EXPECT_GT(static_cast<double>(shared), 0.85 * static_cast<double>(rows.size()))
          << "plane " << plane;
    }
  }
}

TEST(Detector, the_vertex_cluster_is_the_3_by_3_pixels_around_the_projected_vertex) {
  for (const SimulatedEvent& event : some_events()) {
    const SpaceTime vertex = event.particles.front().vertex;
    const Vec3 place{vertex.x, vertex.y, vertex.z};
    ASSERT_TRUE(in_active_volume(place));
    for (std::size_t plane = 0; plane < kPlanes; ++plane) {
      ASSERT_EQ(event.vertex[plane].clusters.size(), 1U);
      const Cluster& cluster = event.vertex[plane].clusters.front();
      ASSERT_EQ(cluster.ids.size(), 9U);
      EXPECT_THAT(cluster.values, testing::Each(1.0F));
      EXPECT_TRUE(std::is_sorted(cluster.ids.begin(), cluster.ids.end()));
      const ImagePoint point = project(plane, place, 0, volume_of(place.x));
      EXPECT_EQ(cluster.ids[4], Canvas::id_of(static_cast<std::int64_t>(point.column),
                                              static_cast<std::int64_t>(point.row)));
      ASSERT_EQ(event.neutrino_boxes[plane].boxes.size(), 1U);
      EXPECT_EQ(event.neutrino_boxes[plane].boxes.front().centroid[0], point.column);
      EXPECT_EQ(event.neutrino_boxes[plane].boxes.front().centroid[1], point.row);
    }
  }
}

TEST(Detector, charge_of_the_neutrino_begins_at_its_vertex) {
  int near = 0;
  int visible = 0;
  for (const SimulatedEvent& event : some_events()) {
    if (event.particles[1].pdg != pdg::kMuon && event.particles[1].pdg != pdg::kElectron) {
      continue;  // neutral currents may leave a gap
    }
    ++visible;
    const std::uint64_t vertex = event.vertex[2].clusters.front().ids[4];
    const SparsePlane& labels = event.event.labels[2];
    for (std::size_t i = 0; i < labels.ids.size(); ++i) {
      const auto columns = static_cast<std::int64_t>(labels.ids[i] / kRows) -
                           static_cast<std::int64_t>(vertex / kRows);
      const auto rows = static_cast<std::int64_t>(labels.ids[i] % kRows) -
                        static_cast<std::int64_t>(vertex % kRows);
      if (labels.values[i] == 2 && std::abs(columns) <= 2 && std::abs(rows) <= 2) {
        ++near;
        break;
      }
    }
  }
  EXPECT_GT(visible, 5);
  EXPECT_GE(near, visible - 1);  // the vertex may be on a dead wire
}

TEST(Detector, particles_begin_with_the_neutrino_and_have_its_vertex) {
  for (const SimulatedEvent& event : some_events()) {
    ASSERT_GE(event.particles.size(), 2U);
    const Particle& neutrino = event.particles.front();
    EXPECT_TRUE(neutrino.pdg == 12 || neutrino.pdg == 14);
    EXPECT_TRUE(neutrino.current_type == 0 || neutrino.current_type == 1);
    EXPECT_GT(neutrino.initial_energy, 0.2);
    double deposited = 0;
    for (std::size_t i = 1; i < event.particles.size(); ++i) {
      EXPECT_EQ(event.particles[i].current_type, -1);
      EXPECT_EQ(event.particles[i].vertex.x, neutrino.vertex.x);
      EXPECT_EQ(event.particles[i].id, i);
      constexpr double kRounding = 1e-9;
      EXPECT_LE(event.particles[i].deposited_energy, event.particles[i].initial_energy + kRounding);
      deposited += event.particles[i].deposited_energy;
    }
    EXPECT_GT(deposited, 0.04);
  }
}

TEST(Detector, dead_wires_are_empty_in_every_event) {
  const Conditions conditions{.dead_wires = 0.05};
  const Detector detector(conditions);
  Simulator simulator(detector, 1);
  SimulatedEvent event;
  std::int64_t dead = 0;
  std::int64_t wires = 0;
  for (std::int64_t index = 0; index < 3; ++index) {
    simulator.simulate(index, event);
    for (std::size_t plane = 0; plane < kPlanes; ++plane) {
      for (const std::uint64_t id : event.event.image[plane].ids) {
        const auto row = static_cast<std::int64_t>(id % kRows);
        ASSERT_FALSE(detector.readout().is_dead(plane, volume_of_row(row),
                                                static_cast<std::int64_t>(id / kRows)));
      }
    }
  }
  for (std::int64_t column = 0; column < kColumns; ++column) {
    dead += detector.readout().is_dead(0, DriftVolume::negative_x, column) ? 1 : 0;
    ++wires;
  }
  EXPECT_NEAR(static_cast<double>(dead) / static_cast<double>(wires), 0.05, 0.02);
}

TEST(Detector, without_cosmic_rays_only_the_neutrino_and_noise_are_left) {
  const SimulatedEvent event = event_of(1, 0, {.cosmic_flux = 0});
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    EXPECT_EQ(count(event, plane, Label::cosmic), 0);
    EXPECT_GT(count(event, plane, Label::neutrino), 0);
  }
}

TEST(Detector, impurities_take_charge_that_drifts_far) {
  const auto sum = [](const SimulatedEvent& event) {
    double all = 0;
    for (std::size_t i = 0; i < event.event.image[2].values.size(); ++i) {
      all += event.event.labels[2].values[i] > 0 ? event.event.image[2].values[i] : 0.0;
    }
    return all;
  };
  const double pure = sum(event_of(1, 1, {.electron_lifetime = 1e9}));
  const double dirty = sum(event_of(1, 1, {.electron_lifetime = 1000}));
  EXPECT_LT(dirty, 0.8 * pure);
}

TEST(Detector, conditions_that_cannot_be_are_refused) {
  using testing::HasSubstr;
  using testing::ThrowsMessage;
  EXPECT_THAT([] { Detector({.cosmic_flux = -1}); },
              ThrowsMessage<UserError>(HasSubstr("cosmic flux is -1")));
  EXPECT_THAT([] { Detector({.electron_lifetime = 0}); },
              ThrowsMessage<UserError>(HasSubstr("electron lifetime is 0")));
  EXPECT_THAT([] { Detector({.dead_wires = 2}); },
              ThrowsMessage<UserError>(HasSubstr("dead wires is 2")));
  EXPECT_THAT([] { Detector({.threshold = 1}); },
              ThrowsMessage<UserError>(HasSubstr("threshold is 1")));
}

}  // namespace
}  // namespace cosmic::data::detector
