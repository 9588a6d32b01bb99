// Plots as SVG that stands inside a page and takes its colours from the page's style sheet, so that
// they follow it into the dark and onto paper.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace cosmic::page {

enum class AxisScale { linear, logarithmic };
enum class AxisUnit { number, percent };

struct PlotAxis {
  std::string title;
  double low = 0;
  double high = 1;
  AxisScale scale = AxisScale::linear;
  AxisUnit unit = AxisUnit::number;
};

struct PlotPoint {
  double x = 0;
  double y = 0;
  /// Ends of the error bars; those of y make a band around a line.
  std::optional<double> y_low = {};
  std::optional<double> y_high = {};
  std::optional<double> x_low = {};
  std::optional<double> x_high = {};
};

enum class SeriesLook { circles, diamonds, line, faint_line, dashed_line };
/// The style sheet gives each a colour.
enum class SeriesTone { first, second, plain };

struct PlotSeries {
  std::string name;  ///< for the legend; none if empty
  SeriesLook look = SeriesLook::line;
  SeriesTone tone = SeriesTone::first;
  std::vector<PlotPoint> points;  ///< those with a NaN are left out
};

/// How many events are behind the points, as grey columns at the foot of the plot.
struct PlotColumn {
  double low = 0;
  double high = 0;
  double count = 0;
};

struct Plot {
  std::string description;  ///< for readers who do not see it
  PlotAxis x;
  PlotAxis y;
  std::vector<PlotSeries> series;
  std::vector<PlotColumn> columns = {};
  std::string columns_name = {};
};

/// An <svg> element.
std::string draw(const Plot& plot);

}  // namespace cosmic::page
