#include "report/evaluation/event_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace cosmic::report::evaluation {
namespace {

constexpr data::DenseShape kShape{100, 160};

std::vector<Outcome> plane_with(Outcome outcome, std::int64_t row, std::int64_t column,
                                std::int64_t extent) {
  std::vector<Outcome> outcomes(kShape.plane_pixels(), Outcome::nothing);
  for (std::int64_t i = 0; i < extent; ++i) {
    outcomes[static_cast<std::size_t>((row + i) * kShape.columns + column + i)] = outcome;
  }
  return outcomes;
}

TEST(Window, is_around_the_neutrino_and_inside_the_plane) {
  const Window middle = window_around(plane_with(Outcome::found, 40, 70, 20), kShape);
  EXPECT_LE(middle.row, 40);
  EXPECT_GE(middle.row + middle.rows, 60);
  EXPECT_LE(middle.column, 70);
  EXPECT_GE(middle.column + middle.columns, 90);
  EXPECT_LT(middle.columns, kShape.columns);
  for (const std::int64_t corner : {0, 95}) {
    const Window window = window_around(plane_with(Outcome::missed, corner, corner, 5), kShape);
    EXPECT_GE(window.row, 0);
    EXPECT_GE(window.column, 0);
    EXPECT_LE(window.row + window.rows, kShape.rows);
    EXPECT_LE(window.column + window.columns, kShape.columns);
    EXPECT_NEAR(static_cast<double>(window.columns) / static_cast<double>(window.rows), 1.6, 0.05);
  }
}

TEST(Window, follows_false_pixels_only_where_there_is_no_neutrino) {
  std::vector<Outcome> both = plane_with(Outcome::found, 10, 10, 5);
  both[static_cast<std::size_t>(90 * kShape.columns + 150)] = Outcome::false_neutrino;
  EXPECT_EQ(window_around(both, kShape),
            window_around(plane_with(Outcome::found, 10, 10, 5), kShape));
  EXPECT_GT(window_around(plane_with(Outcome::false_neutrino, 80, 140, 3), kShape).column, 80);
  EXPECT_EQ(window_around(plane_with(Outcome::cosmic, 0, 0, 50), kShape),
            (Window{0, 0, kShape.rows, kShape.columns}));
}

TEST(EventView, colours_each_outcome_and_turns_time_upwards) {
  constexpr data::DenseShape shape{4, 4};
  std::vector<float> charge(3 * 16, 0);
  std::vector<std::uint8_t> labels(3 * 16, 0);
  std::vector<std::uint8_t> classes(3 * 16, 0);
  const auto put = [&](std::size_t at, std::uint8_t label, std::uint8_t tagged) {
    charge[at] = 10 + static_cast<float>(at);
    labels[at] = label;
    classes[at] = tagged;
  };
  put(0, 2, 2);  // row 0: the last of the picture
  put(5, 2, 1);
  put(10, 1, 2);
  put(15, 1, 1);
  infer::TaggedEvent event;
  event.shape = shape;
  event.charge = charge;
  event.labels = labels;
  event.classes = classes;
  const EventView view = view_of(event, {});
  ASSERT_EQ(view.planes.size(), 3U);
  const PlaneView& plane = view.planes[0];
  ASSERT_EQ(plane.outcome.rows, 4);
  ASSERT_EQ(plane.outcome.columns, 4);
  EXPECT_EQ(plane.outcome.at(3, 0), outcome_color(Outcome::found));
  EXPECT_EQ(plane.outcome.at(2, 1), outcome_color(Outcome::missed));
  EXPECT_EQ(plane.outcome.at(1, 2), outcome_color(Outcome::false_neutrino));
  EXPECT_EQ(plane.outcome.at(0, 3), outcome_color(Outcome::cosmic));
  EXPECT_EQ(plane.outcome.at(0, 0), outcome_color(Outcome::nothing));
  EXPECT_NE(plane.charge.at(3, 0), outcome_color(Outcome::nothing));
  EXPECT_EQ(plane.charge.at(0, 0), outcome_color(Outcome::nothing));
  EXPECT_EQ(view.planes[1].outcome.at(3, 0), outcome_color(Outcome::nothing));
}

TEST(EventView, keeps_mistakes_visible_when_the_overview_is_shrunk) {
  constexpr data::DenseShape shape{1024, 2048};
  std::vector<float> charge(shape.event_pixels(), 1);
  std::vector<std::uint8_t> labels(shape.event_pixels(), 1);
  std::vector<std::uint8_t> classes(shape.event_pixels(), 1);
  labels[500 * 2048 + 1000] = 2;  // one missed pixel among two million
  infer::TaggedEvent event;
  event.shape = shape;
  event.charge = charge;
  event.labels = labels;
  event.classes = classes;
  const picture::Picture overview = view_of(event, {}).planes[0].overview;
  EXPECT_LE(overview.columns, 512);
  EXPECT_EQ(
      std::count(overview.pixels.begin(), overview.pixels.end(), outcome_color(Outcome::missed)),
      1);
}

using Linear = std::array<double, 3>;

Linear linear_of(const picture::Color& color) {
  const auto channel = [](std::uint8_t byte) {
    const double value = byte / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return {channel(color.red), channel(color.green), channel(color.blue)};
}

/// OKLab, in which distances are about what eyes see.
Linear lab_of(const Linear& rgb) {
  const auto root = [](double value) { return std::cbrt(std::max(value, 0.0)); };
  const double l = root(0.4122214708 * rgb[0] + 0.5363325363 * rgb[1] + 0.0514459929 * rgb[2]);
  const double m = root(0.2119034982 * rgb[0] + 0.6806995451 * rgb[1] + 0.1073969566 * rgb[2]);
  const double s = root(0.0883024619 * rgb[0] + 0.2817188376 * rgb[1] + 0.6299787005 * rgb[2]);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

TEST(OutcomeColors, differ_for_every_kind_of_eyes_and_in_grey) {
  // Machado, Oliveira and Fernandes 2009, severity 1; the last is the luminance.
  const std::array<std::array<Linear, 3>, 5> eyes{{
      {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
      {{{0.152286, 1.052583, -0.204868},
        {0.114503, 0.786281, 0.099216},
        {-0.003882, -0.048116, 1.051998}}},
      {{{0.367322, 0.860646, -0.227968},
        {0.280085, 0.672501, 0.047413},
        {-0.011820, 0.042940, 0.968881}}},
      {{{1.255528, -0.076749, -0.178779},
        {-0.078411, 0.930809, 0.147602},
        {0.004733, 0.691367, 0.303900}}},
      {{{0.2126, 0.7152, 0.0722}, {0.2126, 0.7152, 0.0722}, {0.2126, 0.7152, 0.0722}}},
  }};
  const std::array<Outcome, 5> outcomes{Outcome::nothing, Outcome::cosmic, Outcome::found,
                                        Outcome::missed, Outcome::false_neutrino};
  constexpr double kClearlyDifferent = 0.08;
  for (std::size_t kind = 0; kind < eyes.size(); ++kind) {
    const auto seen = [&](Outcome outcome) {
      const Linear rgb = linear_of(outcome_color(outcome));
      Linear result{};
      for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t column = 0; column < 3; ++column) {
          result[row] += eyes[kind][row][column] * rgb[column];
        }
      }
      return lab_of(result);
    };
    for (const Outcome a : outcomes) {
      for (const Outcome b : outcomes) {
        if (a < b) {
          const Linear x = seen(a);
          const Linear y = seen(b);
          const double distance = std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
          EXPECT_GT(distance, kClearlyDifferent)
              << "eyes " << kind << ", outcomes " << static_cast<int>(a) << " and "
              << static_cast<int>(b);
        }
      }
    }
  }
}

}  // namespace
}  // namespace cosmic::report::evaluation
