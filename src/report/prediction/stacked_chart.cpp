#include "report/prediction/stacked_chart.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "picture/axis.hpp"
#include "report/page/facts.hpp"
#include "report/page/markup.hpp"

namespace cosmic::report::prediction {
namespace {

// In units of the drawing; a page shows it about as wide.
constexpr double kWidth = 1064;
constexpr double kHeight = 360;
constexpr double kLeft = 70;
constexpr double kRight = 1050;
constexpr double kTop = 22;
constexpr double kBottom = 306;
constexpr int kTicks = 6;
constexpr double kHeadroom = 1.06;  // of the axis, above what it shows

struct Unit {
  double bytes;
  const char* name;
};

Unit unit_for(double most) {
  return most >= 1e9 ? Unit{1e9, "GB"} : most >= 1e6 ? Unit{1e6, "MB"} : Unit{1e3, "kB"};
}

class Drawing {
 public:
  explicit Drawing(const StackedChart& chart) : chart_(chart) {
    for (const Band& band : chart.bands) {
      if (std::any_of(band.bytes.begin(), band.bytes.end(), [](double b) { return b > 0; })) {
        shown_.push_back(&band);
      }
    }
    count_ = chart.bands.empty() ? 0 : chart.bands.front().bytes.size();
    std::vector<double> sums(count_, 0);
    for (const Band* band : shown_) {
      for (std::size_t i = 0; i < count_; ++i) {
        sums[i] += band->bytes[i];
      }
    }
    most_ = sums.empty() ? 1 : *std::max_element(sums.begin(), sums.end());
    most_ = kHeadroom * std::max({most_, chart.limit.value_or(0), 1.0});
    svg_ = fmt::format(
        "<div tabindex=\"0\" class=\"scroll\"><svg class=\"wide\" viewBox=\"0 0 {} {}\" "
        "role=\"img\" aria-label=\"{}\">",
        kWidth, kHeight, page::escaped(chart.description));
    draw_axes();
    draw_bands();
    draw_limit();
    draw_mark();
    svg_ += "</svg></div>";
    draw_legend();
  }

  std::string take() { return std::move(svg_); }

 private:
  double x(double place) const {
    return kLeft + place / static_cast<double>(std::max<std::size_t>(count_, 1)) * (kRight - kLeft);
  }
  double y(double bytes) const { return kBottom - bytes / most_ * (kBottom - kTop); }

  void draw_axes() {
    const Unit unit = unit_for(most_);
    for (const double tick : picture::linear_ticks(0, most_ / unit.bytes, kTicks)) {
      const double at = y(tick * unit.bytes);
      svg_ += fmt::format(
          "<line class=\"grid\" x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\"/><text "
          "class=\"tick end\" x=\"{}\" y=\"{:.1f}\">{}</text>",
          kLeft, at, kRight, at, kLeft - 8, at + 4, picture::tick_text(tick));
    }
    for (const double tick : picture::linear_ticks(0, static_cast<double>(count_), kTicks)) {
      svg_ += fmt::format("<text class=\"tick middle\" x=\"{:.1f}\" y=\"{}\">{}</text>", x(tick),
                          kBottom + 19, picture::tick_text(tick));
    }
    svg_ += fmt::format(
        "<line class=\"axis\" x1=\"{0}\" y1=\"{1}\" x2=\"{2}\" y2=\"{1}\"/>"
        "<text class=\"axis-title middle\" x=\"{3}\" y=\"{4}\">{5}</text>"
        "<text class=\"axis-title middle\" transform=\"translate(16 {6}) rotate(-90)\">{7} "
        "(modelled)</text>",
        kLeft, kBottom, kRight, (kLeft + kRight) / 2, kBottom + 42, page::escaped(chart_.x_title),
        (kTop + kBottom) / 2, unit.name);
  }

  /// Along the top from the left, back along the bottom from the right.
  void draw_bands() {
    std::vector<double> below(count_, 0);
    for (const Band* band : shown_) {
      std::string top;
      std::string bottom;
      for (std::size_t i = 0; i < count_; ++i) {
        const auto left = static_cast<double>(i);
        top += fmt::format("{}{:.1f} {:.1f}H{:.1f}", i == 0 ? "M" : "L", x(left),
                           y(below[i] + band->bytes[i]), x(left + 1));
        const std::size_t back = count_ - 1 - i;
        bottom += fmt::format("L{:.1f} {:.1f}H{:.1f}", x(static_cast<double>(back + 1)),
                              y(below[back]), x(static_cast<double>(back)));
      }
      svg_ += fmt::format("<path class=\"stack {}\" d=\"{}{}Z\"/>", band->hue, top, bottom);
      for (std::size_t i = 0; i < count_; ++i) {
        below[i] += band->bytes[i];
      }
    }
  }

  void draw_limit() {
    if (chart_.limit) {
      const double at = y(*chart_.limit);
      // On the other side than the mark's.
      const bool on_right = chart_.mark && 2 * *chart_.mark < count_;
      svg_ += fmt::format(
          "<line class=\"limit\" x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\"/><text "
          "class=\"{6}\" x=\"{3}\" y=\"{4:.1f}\">{5}</text>",
          kLeft, at, kRight, on_right ? kRight - 8 : kLeft + 8, at - 6,
          page::escaped(chart_.limit_name), on_right ? "halo end given" : "halo given");
    }
  }

  void draw_mark() {
    if (chart_.mark) {
      const double at = x(static_cast<double>(*chart_.mark) + 0.5);
      const bool right_half = at > (kLeft + kRight) / 2;
      svg_ += fmt::format(
          "<line class=\"peak\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\"/><text "
          "class=\"{3}\" x=\"{4:.1f}\" y=\"{5}\">{6}</text>",
          at, kTop - 8, kBottom, right_half ? "halo end modelled" : "halo modelled",
          at + (right_half ? -7 : 7), kTop - 6, page::escaped(chart_.mark_name));
    }
  }

  void draw_legend() {
    svg_ += "<div class=\"legend\">";
    for (const Band* band : shown_) {
      svg_ += page::legend_entry(band->hue, page::escaped(band->name));
    }
    svg_ += "</div>";
  }

  const StackedChart& chart_;
  std::vector<const Band*> shown_;
  std::size_t count_ = 0;
  double most_ = 1;
  std::string svg_;
};

}  // namespace

std::string draw(const StackedChart& chart) {
  return Drawing(chart).take();
}

}  // namespace cosmic::report::prediction
