// How well an event was tagged, by counting pixels: confusion matrices of each plane, and the
// reference's metrics from them. Counts add up over events whatever the batch size, which averages
// of averages do not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "output/metrics.hpp"

namespace cosmic::infer {

inline constexpr std::size_t kPlanes = 3;
inline constexpr std::size_t kClasses = 3;

/// Pixels of one plane, by [true class][predicted class].
struct Confusion {
  std::array<std::array<std::int64_t, kClasses>, kClasses> counts{};

  void add(std::span<const std::uint8_t> truth, std::span<const std::uint8_t> predicted);
  Confusion& operator+=(const Confusion& other);

  std::int64_t pixels() const;
  std::int64_t of_class(std::size_t truth) const;
  std::int64_t predicted_as(std::size_t predicted) const;

  double accuracy() const;
  /// Counts pixels that are not background; NaN if there are none.
  double accuracy_without_background() const;
  /// Intersection over union; 1 where both are empty, as in the reference.
  double iou(std::size_t which) const;
  /// Share of the true pixels that were found, and of the found ones that are true; NaN of none.
  double efficiency(std::size_t which) const;
  double purity(std::size_t which) const;
};

using EventConfusion = std::array<Confusion, kPlanes>;

/// The mean over events of each event's metrics, as the reference reports them, with its keys in
/// its order. An event without foreground in a plane has no accuracy there and is left out of that
/// mean.
class MeanScores {
 public:
  void add(const EventConfusion& event);
  std::int64_t events() const { return events_; }
  output::Metrics metrics() const;

 private:
  struct Mean {
    double sum = 0;
    std::int64_t count = 0;
    void add(double value);
    double value() const;
  };
  static constexpr std::size_t kScores = 5;

  std::array<std::array<Mean, kScores>, kPlanes> means_;
  std::int64_t events_ = 0;
};

}  // namespace cosmic::infer
