// Plots as SVG that stands inside a page and takes its colours from the page's style sheet, so that
// they follow it into the dark and onto paper.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace cosmic::report::page {

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
  std::string title = {};  ///< shown to who points at it; for dots only
};

/// Circles and diamonds are few and have error bars; dots are many.
enum class SeriesLook { circles, diamonds, dots, line, faint_line, dashed_line };
/// The style sheet gives each a colour.
enum class SeriesTone { first, second, third, fourth, fifth, sixth, plain };

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

/// Widths of a plot in units of the drawing: beside another one, or alone in its row.
inline constexpr double kHalfPlot = 520;
inline constexpr double kWidePlot = 1064;

struct Plot {
  std::string description;  ///< for readers who do not see it
  double width = kHalfPlot;
  PlotAxis x;
  PlotAxis y;
  std::vector<PlotSeries> series;
  std::vector<PlotColumn> columns = {};
  std::string columns_name = {};
};

/// An <svg> element.
std::string draw(const Plot& plot);

}  // namespace cosmic::report::page
