#include "data/synthetic/track_generator.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/random.hpp"

namespace cosmic::data {
namespace {

/// x is the drift direction (time), y points up, z along the beam. The box is [0, 1] in each.
struct Point {
  double x = 0;
  double y = 0;
  double z = 0;
};

Point along(const Point& from, const Point& direction, double length) {
  return {from.x + length * direction.x, from.y + length * direction.y,
          from.z + length * direction.z};
}

// Wires of plane p measure z cos(angle) + y sin(angle).
constexpr double kSixtyDegrees = std::numbers::pi / 3;
constexpr std::array<double, kPlanes> kAngles{kSixtyDegrees, -kSixtyDegrees, 0.0};

/// 0 to 1 over the wires that the box reaches.
double wire(const Point& point, std::size_t plane) {
  const double along_z = std::cos(kAngles[plane]);
  const double along_y = std::sin(kAngles[plane]);
  return 0.5 +
         ((point.z - 0.5) * along_z + (point.y - 0.5) * along_y) / (along_z + std::abs(along_y));
}

/// How far from `start` inside the box a ray leaves it.
double distance_to_wall(const Point& start, const Point& direction) {
  double distance = 2;  // longer than any way through the box
  for (const auto& [at, slope] : {std::pair(start.x, direction.x), std::pair(start.y, direction.y),
                                  std::pair(start.z, direction.z)}) {
    if (slope != 0) {
      distance = std::min(distance, ((slope > 0 ? 1.0 : 0.0) - at) / slope);
    }
  }
  return std::max(distance, 0.0);
}

Point unit(const Point& p) {
  const double length = std::sqrt(p.x * p.x + p.y * p.y + p.z * p.z);
  return {p.x / length, p.y / length, p.z / length};
}

/// Draws into one event.
class Exposure {
 public:
  Exposure(std::int64_t rows, std::int64_t columns, RandomStream random)
      : rows_(rows), columns_(columns), random_(random) {
    const auto pixels = static_cast<std::size_t>(kPlanes * rows * columns);
    event_.image.resize(pixels);
    event_.label.resize(pixels);
  }

  /// Through the box, mostly downwards.
  void add_cosmic() {
    const Point entry{random_.uniform(), 1, random_.uniform()};
    const Point direction = unit({random_.uniform(-1.5, 1.5), -1, random_.uniform(-1.5, 1.5)});
    draw(entry, direction, distance_to_wall(entry, direction), Label::cosmic);
  }

  /// A vertex away from the walls, tracks mostly along the beam.
  void add_neutrino() {
    const auto inside = [&] { return random_.uniform(0.2, 0.8); };
    const Point vertex{inside(), inside(), inside()};
    const std::uint64_t tracks = 2 + random_.next() % 3;
    for (std::uint64_t track = 0; track < tracks; ++track) {
      const Point direction =
          unit({random_.uniform(-1, 1), random_.uniform(-1, 1), random_.uniform(-0.2, 1)});
      const double length = random_.uniform(0.05, 0.3);
      draw(vertex, direction, std::min(length, distance_to_wall(vertex, direction)),
           Label::neutrino);
    }
  }

  /// Single pixels of charge that belong to nothing.
  void add_noise() {
    const auto hits = static_cast<int>(kNoiseShare * static_cast<double>(event_.image.size()));
    for (int hit = 0; hit < hits; ++hit) {
      float& charge = event_.image[random_.next() % event_.image.size()];
      charge = charge == 0 ? static_cast<float>(random_.uniform(0.2, 0.8)) : charge;
    }
  }

  Event take() { return std::move(event_); }

 private:
  static constexpr double kNoiseShare = 5e-4;
  static constexpr double kStepsPerPixel = 2;
  static constexpr float kSaturation = 5;  // of the digitizer

  /// Deposits charge in steps shorter than a pixel of any plane.
  void draw(const Point& start, const Point& direction, double length, Label label) {
    const double pixels = length * static_cast<double>(std::max(rows_, columns_));
    const int steps = 1 + static_cast<int>(kStepsPerPixel * pixels);
    for (int step = 0; step < steps; ++step) {
      const Point at = along(start, direction, length * (step + 0.5) / steps);
      // Ionisation fluctuates, but no stretch of a track is without any.
      const double charge = std::max(0.3, 1 + 0.3 * random_.normal()) / kStepsPerPixel;
      const std::int64_t row = pixel_of(at.x, rows_);
      for (std::size_t plane = 0; plane < kPlanes; ++plane) {
        const std::int64_t column = pixel_of(wire(at, plane), columns_);
        const auto pixel = static_cast<std::size_t>(
            (static_cast<std::int64_t>(plane) * rows_ + row) * columns_ + column);
        event_.image[pixel] =
            std::min(event_.image[pixel] + static_cast<float>(charge), kSaturation);
        event_.label[pixel] = std::max(event_.label[pixel], static_cast<std::uint8_t>(label));
      }
    }
  }

  static std::int64_t pixel_of(double position, std::int64_t extent) {
    const auto pixel = static_cast<std::int64_t>(position * static_cast<double>(extent));
    return std::clamp(pixel, std::int64_t{0}, extent - 1);
  }

  std::int64_t rows_;
  std::int64_t columns_;
  RandomStream random_;
  Event event_;
};

}  // namespace

TrackGenerator::TrackGenerator(std::int64_t rows, std::int64_t columns, std::uint64_t seed)
    : rows_(rows), columns_(columns), seed_(seed) {
  constexpr std::int64_t kMaxExtent = 1 << 16;
  COSMIC_REQUIRE(UserError, rows > 0 && columns > 0 && rows <= kMaxExtent && columns <= kMaxExtent,
                 "events of " << rows << " x " << columns << " pixels (an image has 1 to "
                              << kMaxExtent
                              << " rows and columns); choose rows and columns in that range");
}

Event TrackGenerator::event(std::uint64_t index) const {
  Exposure exposure(rows_, columns_, RandomStream(seed_, "event " + std::to_string(index)));
  RandomStream count(seed_, "cosmics of event " + std::to_string(index));
  const std::uint64_t cosmics = 2 + count.next() % 3;
  for (std::uint64_t track = 0; track < cosmics; ++track) {
    exposure.add_cosmic();
  }
  exposure.add_neutrino();
  exposure.add_noise();
  return exposure.take();
}

}  // namespace cosmic::data
