// Pictures of an event that was tagged: where the charge is, and how the neutrino was tagged: its
// pixels that were found, those that were missed, and false ones. Each plane is shown as a whole
// and, enlarged, around the neutrino.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "infer/tagger.hpp"
#include "picture/charge_scale.hpp"
#include "picture/picture.hpp"
#include "report/evaluation/event_result.hpp"

namespace cosmic::report::evaluation {

/// What became of a pixel.
enum class Outcome : std::uint8_t { nothing, background, cosmic, found, missed, false_neutrino };
inline constexpr std::size_t kOutcomes = 6;

/// A colour that differs from the others even with red-green colour blindness and in grey; tests
/// check that.
picture::Color outcome_color(Outcome outcome);

/// A part of a plane, in pixels.
struct Window {
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  friend bool operator==(const Window&, const Window&) = default;
};

struct PlaneView {
  Window window;              ///< what the enlarged pictures show of the plane
  picture::Picture overview;  ///< outcomes on the whole plane, shrunk if it is large
  picture::Picture charge;    ///< in the window
  picture::Picture outcome;   ///< in the window
};

/// Time runs upwards in all pictures: their first row is the last of the plane.
struct EventView {
  EventResult result;
  data::DenseShape shape;
  picture::ChargeScale charge_scale;
  std::vector<PlaneView> planes;
};

EventView view_of(const infer::TaggedEvent& event, EventResult result);

/// The true neutrino of a plane with some space around it, or else what was taken for one, or the
/// whole plane; always with the plane's ratio of sides. For view_of and tests.
Window window_around(const std::vector<Outcome>& outcomes, const data::DenseShape& shape);

}  // namespace cosmic::report::evaluation
