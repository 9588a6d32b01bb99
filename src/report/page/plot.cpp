#include "report/page/plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "picture/axis.hpp"
#include "report/page/markup.hpp"

namespace cosmic::report::page {
namespace {

// In units of the drawing; a page shows it about as wide.
constexpr double kHeight = 330;
constexpr double kLeft = 62;
constexpr double kRightMargin = 15;
constexpr double kTop = 34;
constexpr double kBottom = 278;
constexpr double kTickLength = 5;
constexpr double kMarkerRadius = 4;
constexpr double kDotRadius = 3.2;
constexpr double kCapHalf = 3;
constexpr double kColumnShare = 0.24;  // of the height, for the highest grey column
constexpr double kLetterWidth = 7.3;   // of the legend, on average
constexpr int kTicks = 5;

std::string_view tone_class(SeriesTone tone) {
  switch (tone) {
    case SeriesTone::first:
      return "first";
    case SeriesTone::second:
      return "second";
    case SeriesTone::third:
      return "third";
    case SeriesTone::fourth:
      return "fourth";
    case SeriesTone::fifth:
      return "fifth";
    case SeriesTone::sixth:
      return "sixth";
    case SeriesTone::plain:
      break;
  }
  return "plain";
}

bool has_markers(SeriesLook look) {
  return look == SeriesLook::circles || look == SeriesLook::diamonds || look == SeriesLook::dots;
}

class Drawing {
 public:
  explicit Drawing(const Plot& plot) : plot_(plot) {
    svg_ = fmt::format("<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">",
                       plot.width, kHeight, escaped(plot.description));
    draw_grid();
    draw_columns();
    for (const PlotSeries& series : plot.series) {
      draw_series(series);
    }
    draw_frame();
    draw_legend();
    svg_ += "</svg>";
  }

  std::string take() { return std::move(svg_); }

 private:
  static double position(const PlotAxis& axis, double value, double begin, double end) {
    const auto on_scale = [&](double v) {
      return axis.scale == AxisScale::logarithmic ? std::log10(std::max(v, axis.low)) : v;
    };
    const double low = on_scale(axis.low);
    const double share = (on_scale(value) - low) / (on_scale(axis.high) - low);
    return begin + std::clamp(share, 0.0, 1.0) * (end - begin);
  }
  double x(double value) const { return position(plot_.x, value, kLeft, right()); }
  double right() const { return plot_.width - kRightMargin; }
  double y(double value) const { return position(plot_.y, value, kBottom, kTop); }

  static std::vector<double> ticks(const PlotAxis& axis) {
    if (axis.scale == AxisScale::linear) {
      return picture::linear_ticks(axis.low, axis.high, kTicks);
    }
    std::vector<double> all = picture::logarithmic_ticks(axis.low, axis.high);
    constexpr std::size_t kCrowded = 9;
    if (all.size() > kCrowded) {
      std::erase_if(all, [](double tick) {
        const double power = std::log10(tick);
        return std::abs(power - std::round(power)) > 1e-9;
      });
    }
    return all;
  }
  static std::string tick_text(const PlotAxis& axis, double tick) {
    return axis.unit == AxisUnit::percent ? picture::tick_text(std::round(1e4 * tick) / 100)
                                          : picture::tick_text(tick);
  }
  static std::string title(const PlotAxis& axis) {
    return escaped(axis.title) + (axis.unit == AxisUnit::percent ? " (%)" : "");
  }

  void line(std::string_view look, double x1, double y1, double x2, double y2) {
    svg_ +=
        fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>",
                    look, x1, y1, x2, y2);
  }
  void text(std::string_view look, double at_x, double at_y, const std::string& words) {
    svg_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", look, at_x, at_y,
                        words);
  }

  void draw_grid() {
    for (const double tick : ticks(plot_.y)) {
      line("grid", kLeft, y(tick), right(), y(tick));
    }
  }

  void draw_columns() {
    double most = 0;
    for (const PlotColumn& column : plot_.columns) {
      most = std::max(most, column.count);
    }
    for (const PlotColumn& column : plot_.columns) {
      if (column.count > 0) {
        const double height = kColumnShare * (kBottom - kTop) * column.count / most;
        svg_ += fmt::format(
            "<rect class=\"column\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">"
            "<title>{:g} {}</title></rect>",
            x(column.low), kBottom - height, std::max(x(column.high) - x(column.low), 0.5), height,
            column.count, escaped(plot_.columns_name));
      }
    }
  }

  void draw_series(const PlotSeries& series) {
    svg_ += fmt::format("<g class=\"{}\">", tone_class(series.tone));
    std::vector<PlotPoint> points;
    std::copy_if(
        series.points.begin(), series.points.end(), std::back_inserter(points),
        [](const PlotPoint& point) { return std::isfinite(point.x) && std::isfinite(point.y); });
    if (series.look == SeriesLook::dots) {
      for (const PlotPoint& point : points) {
        draw_dot(x(point.x), y(point.y), point.title);
      }
    } else if (has_markers(series.look)) {
      for (const PlotPoint& point : points) {
        draw_error_bars(series, point);
        draw_marker(series.look, x(point.x) + shift(series), y(point.y));
      }
    } else if (!points.empty()) {
      draw_band(points);
      std::string path;
      for (const PlotPoint& point : points) {
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(point.x), y(point.y));
      }
      svg_ += fmt::format("<path class=\"{}\" d=\"{}\"/>",
                          series.look == SeriesLook::dashed_line  ? "dashed"
                          : series.look == SeriesLook::faint_line ? "faint"
                                                                  : "curve",
                          path);
    }
    svg_ += "</g>";
  }

  /// Two series of points share their x; a little apart, neither hides the other.
  static double shift(const PlotSeries& series) {
    constexpr double kApart = 3;
    return series.look == SeriesLook::circles ? -kApart : kApart;
  }

  void draw_band(const std::vector<PlotPoint>& points) {
    if (!std::all_of(points.begin(), points.end(), [](const PlotPoint& point) {
          return point.y_low.has_value() && point.y_high.has_value();
        })) {
      return;
    }
    std::string path;
    for (const PlotPoint& point : points) {
      path +=
          fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(point.x), y(*point.y_high));
    }
    for (auto point = points.rbegin(); point != points.rend(); ++point) {
      path += fmt::format("L{:.1f} {:.1f}", x(point->x), y(*point->y_low));
    }
    svg_ += fmt::format("<path class=\"band\" d=\"{}Z\"/>", path);
  }

  void draw_error_bars(const PlotSeries& series, const PlotPoint& point) {
    const double at_x = x(point.x) + shift(series);
    if (point.y_low && point.y_high) {
      line("bar", at_x, y(*point.y_low), at_x, y(*point.y_high));
      for (const double end : {*point.y_low, *point.y_high}) {
        line("bar", at_x - kCapHalf, y(end), at_x + kCapHalf, y(end));
      }
    }
    if (point.x_low && point.x_high) {
      line("extent", x(*point.x_low), y(point.y), x(*point.x_high), y(point.y));
    }
  }

  void draw_dot(double at_x, double at_y, const std::string& title) {
    svg_ += fmt::format("<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\">", at_x, at_y,
                        kDotRadius);
    svg_ += (title.empty() ? "" : "<title>" + escaped(title) + "</title>") + "</circle>";
  }

  void draw_marker(SeriesLook look, double at_x, double at_y) {
    if (look == SeriesLook::dots) {
      draw_dot(at_x, at_y, "");
    } else if (look == SeriesLook::circles) {
      svg_ += fmt::format("<circle class=\"marker\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>", at_x,
                          at_y, kMarkerRadius);
    } else {
      constexpr double kReach = 1.3 * kMarkerRadius;
      svg_ += fmt::format(
          "<path class=\"marker\" d=\"M{0:.1f} {1:.1f}L{2:.1f} {3:.1f}L{0:.1f} {4:.1f}L{5:.1f} "
          "{3:.1f}Z\"/>",
          at_x, at_y - kReach, at_x + kReach, at_y, at_y + kReach, at_x - kReach);
    }
  }

  void draw_frame() {
    line("axis", kLeft, kBottom, right(), kBottom);
    line("axis", kLeft, kTop, kLeft, kBottom);
    for (const double tick : ticks(plot_.x)) {
      line("axis", x(tick), kBottom, x(tick), kBottom + kTickLength);
      text("tick middle", x(tick), kBottom + 19, tick_text(plot_.x, tick));
    }
    for (const double tick : ticks(plot_.y)) {
      line("axis", kLeft - kTickLength, y(tick), kLeft, y(tick));
      text("tick end", kLeft - 9, y(tick) + 4, tick_text(plot_.y, tick));
    }
    text("axis-title middle", (kLeft + right()) / 2, kBottom + 42, title(plot_.x));
    svg_ += fmt::format(
        "<text class=\"axis-title middle\" transform=\"translate({:.1f} {:.1f}) rotate(-90)\">{}"
        "</text>",
        16.0, (kTop + kBottom) / 2, title(plot_.y));
  }

  void draw_legend() {
    double at = kLeft;
    constexpr double kRow = 14;
    constexpr double kSymbol = 22;
    constexpr double kGap = 20;
    const auto label = [&](const std::string& name) {
      text("legend", at + kSymbol + 6, kRow + 4, escaped(name));
      at += kSymbol + 6 + kLetterWidth * static_cast<double>(name.size()) + kGap;
    };
    for (const PlotSeries& series : plot_.series) {
      if (series.name.empty()) {
        continue;
      }
      svg_ += fmt::format("<g class=\"{}\">", tone_class(series.tone));
      if (has_markers(series.look)) {
        if (series.look != SeriesLook::dots) {
          line("bar", at + kSymbol / 2, kRow - 7, at + kSymbol / 2, kRow + 7);
        }
        draw_marker(series.look, at + kSymbol / 2, kRow);
      } else {
        line(series.look == SeriesLook::dashed_line  ? "dashed"
             : series.look == SeriesLook::faint_line ? "faint"
                                                     : "curve",
             at, kRow, at + kSymbol, kRow);
      }
      svg_ += "</g>";
      label(series.name);
    }
    if (!plot_.columns.empty()) {
      svg_ += fmt::format(
          "<rect class=\"column\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"10\"/>", at + 6,
          kRow - 5);
      label(plot_.columns_name);
    }
  }

  const Plot& plot_;
  std::string svg_;
};

}  // namespace

std::string draw(const Plot& plot) {
  return Drawing(plot).take();
}

}  // namespace cosmic::report::page
