#include "picture/event_picture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "picture/axis.hpp"
#include "picture/charge_scale.hpp"
#include "picture/color_map.hpp"
#include "picture/vector_font.hpp"

namespace cosmic::picture {
namespace {

using data::Label;

constexpr Color kPage{255, 255, 255};
constexpr Color kInk{30, 32, 38};
constexpr Color kFaintInk{105, 110, 120};
constexpr Color kPanel{17, 18, 26};
// Blue and orange stay apart in every kind of colour blindness, and in grey.
constexpr std::array<Color, 3> kLabelColors{{{92, 95, 104}, {64, 156, 255}, {255, 176, 32}}};
constexpr std::array<const char*, 3> kLabelNames{"background", "cosmic", "neutrino"};

constexpr std::int64_t kPanelExtent = 700;  // longest side of a panel, in pixels
constexpr std::int64_t kLeast = 200;        // so that a panel has room for its caption
constexpr std::int64_t kLeftMargin = 128;
constexpr std::int64_t kRightMargin = 236;
constexpr std::int64_t kTopMargin = 172;
constexpr std::int64_t kBottomMargin = 104;
constexpr std::int64_t kColumnGap = 48;
constexpr std::int64_t kRowGap = 78;
constexpr std::int64_t kTickLength = 8;
constexpr std::int64_t kLineWidth = 2;
constexpr std::int64_t kBarWidth = 24;
constexpr std::int64_t kBarDistance = 32;  // from the last panel
constexpr int kTicks = 5;

constexpr TextStyle kTitle{.size = 29, .color = kInk, .weight = Weight::bold};
constexpr TextStyle kSubtitle{.size = 20, .color = kFaintInk};
constexpr TextStyle kPanelTitle{.size = 20, .color = kInk, .weight = Weight::bold};
constexpr TextStyle kPanelText{.size = 18, .color = kFaintInk};
constexpr TextStyle kAxisTitle{.size = 20, .color = kInk, .align = Align::centre};
constexpr TextStyle kTickText{.size = 17, .color = kInk, .align = Align::centre};

struct Rectangle {
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  std::int64_t bottom() const { return row + rows; }
  std::int64_t right() const { return column + columns; }
};

void fill(Picture& picture, const Rectangle& area, Color color) {
  for (std::int64_t row = area.row; row < area.bottom(); ++row) {
    for (std::int64_t column = area.column; column < area.right(); ++column) {
      picture.at(row, column) = color;
    }
  }
}

/// The grid of a panel in the picture: `shrink` pixels of the event become one, or one becomes
/// `grow`.
struct Scale {
  std::uint64_t shrink = 1;
  std::uint64_t grow = 1;

  explicit Scale(const data::ImageMeta& meta) {
    const std::uint64_t longest = std::max({meta.columns(), meta.rows(), std::uint64_t{1}});
    shrink = (longest + kPanelExtent - 1) / kPanelExtent;
    grow = std::max<std::uint64_t>(kPanelExtent / longest, 1);
  }
  std::int64_t extent(std::uint64_t pixels) const {
    return static_cast<std::int64_t>((pixels + shrink - 1) / shrink * grow);
  }
};

ChargeScale scale_of(const data::SparseImage& image) {
  std::vector<float> charges;
  for (const data::SparsePlane& plane : image) {
    charges.insert(charges.end(), plane.values.begin(), plane.values.end());
  }
  return charge_scale(std::move(charges));
}

Label label_of(float value) {
  return value >= 2 ? Label::neutrino : value >= 1 ? Label::cosmic : Label::background;
}

std::array<std::int64_t, 3> count_labels(const data::SparsePlane& plane) {
  std::array<std::int64_t, 3> counts{};
  for (const float value : plane.values) {
    counts.at(static_cast<std::size_t>(label_of(value))) += 1;
  }
  return counts;
}

/// Draws the pixels of a plane; `color_of` turns the largest value of each cell into its colour.
/// The plane's grid is that of the panel, or that one halved some times: then a pixel covers a
/// square.
template <class ColorOf>
void draw_pixels(Picture& picture, const Rectangle& panel, const data::SparsePlane& plane,
                 const data::ImageMeta& grid, const Scale& scale, const ColorOf& color_of) {
  const std::uint64_t side =
      std::max<std::uint64_t>(grid.columns() / std::max<std::uint64_t>(plane.meta.columns(), 1), 1);
  const auto columns = static_cast<std::size_t>(scale.extent(grid.columns()));
  const auto rows = static_cast<std::size_t>(scale.extent(grid.rows()));
  const std::size_t cell_columns = columns / scale.grow;
  const std::size_t cell_rows = rows / scale.grow;
  std::vector<std::optional<float>> cells(cell_columns * cell_rows);
  for (std::size_t i = 0; i < plane.ids.size(); ++i) {
    const std::uint64_t first_column = plane.ids[i] / plane.meta.rows() * side;
    const std::uint64_t first_row = plane.ids[i] % plane.meta.rows() * side;
    const std::uint64_t last_column = std::min(first_column + side, grid.columns()) - 1;
    const std::uint64_t last_row = std::min(first_row + side, grid.rows()) - 1;
    for (std::uint64_t row = first_row / scale.shrink; row <= last_row / scale.shrink; ++row) {
      for (std::uint64_t column = first_column / scale.shrink; column <= last_column / scale.shrink;
           ++column) {
        std::optional<float>& cell = cells.at(row * cell_columns + column);
        cell = std::max(cell.value_or(plane.values[i]), plane.values[i]);
      }
    }
  }
  const auto grow = static_cast<std::int64_t>(scale.grow);
  for (std::size_t row = 0; row < cell_rows; ++row) {
    for (std::size_t column = 0; column < cell_columns; ++column) {
      if (const std::optional<float>& cell = cells[row * cell_columns + column]) {
        // Time runs upwards.
        fill(picture,
             {panel.bottom() - static_cast<std::int64_t>(row + 1) * grow,
              panel.column + static_cast<std::int64_t>(column) * grow, grow, grow},
             color_of(*cell));
      }
    }
  }
}

/// The ends of an axis in physical units; in pixels where the file does not say.
std::pair<double, double> axis_range(const data::ImageMeta& meta, std::size_t axis) {
  const double size = meta.size[axis] > 0 && std::isfinite(meta.size[axis])
                          ? meta.size[axis]
                          : static_cast<double>(meta.pixels[axis]);
  const double origin = std::isfinite(meta.origin[axis]) ? meta.origin[axis] : 0;
  return {origin, origin + size};
}

class EventPicture {
 public:
  EventPicture(const data::SparseEvent& event, const EventCaption& caption,
               const data::SparseImage* tags, const data::SparseImage* probabilities)
      : event_(event),
        tags_(tags),
        probabilities_(probabilities),
        meta_(largest_meta(event.image)),
        scale_(meta_),
        panel_columns_(std::max(scale_.extent(meta_.columns()), kLeast)),
        panel_rows_(std::max(scale_.extent(meta_.rows()), kLeast)),
        charge_scale_(scale_of(event.image)),
        picture_(page_rows(), page_columns(), kPage) {
    draw_header(caption);
    for (std::size_t plane = 0; plane < event_.image.size(); ++plane) {
      draw_charge_panel(plane);
      if (event_.labelled) {
        draw_label_panel(label_line(), plane, event_.labels[plane], "truth");
      }
      if (tags_ != nullptr) {
        draw_label_panel(tag_line(), plane, (*tags_)[plane], "tags");
      }
      if (probabilities_ != nullptr) {
        draw_probability_panel(plane);
      }
    }
    draw_charge_bar();
    if (event_.labelled) {
      draw_legend(label_line(), event_.labels);
    }
    if (tags_ != nullptr) {
      draw_legend(tag_line(), *tags_);
    }
    if (probabilities_ != nullptr) {
      draw_probability_bar();
    }
  }

  Picture take() { return std::move(picture_); }

 private:
  static data::ImageMeta largest_meta(const data::SparseImage& image) {
    return std::max_element(image.begin(), image.end(),
                            [](const data::SparsePlane& a, const data::SparsePlane& b) {
                              return a.meta.pixels < b.meta.pixels;
                            })
        ->meta;
  }

  std::int64_t label_line() const { return 1; }
  std::int64_t tag_line() const { return event_.labelled ? 2 : 1; }
  std::int64_t probability_line() const { return tags_ != nullptr ? tag_line() + 1 : tag_line(); }
  std::int64_t panel_lines() const {
    return probability_line() + (probabilities_ != nullptr ? 1 : 0);
  }
  std::int64_t page_columns() const {
    return kLeftMargin + data::kPlanes * (panel_columns_ + kColumnGap) - kColumnGap + kRightMargin;
  }
  std::int64_t page_rows() const {
    return kTopMargin + panel_lines() * (panel_rows_ + kRowGap) - kRowGap + kBottomMargin;
  }

  Rectangle panel(std::int64_t line, std::size_t plane) const {
    return {kTopMargin + line * (panel_rows_ + kRowGap),
            kLeftMargin + static_cast<std::int64_t>(plane) * (panel_columns_ + kColumnGap),
            panel_rows_, panel_columns_};
  }
  /// The column of what explains a line of panels, right of the last.
  std::int64_t key_column() const { return panel(0, data::kPlanes - 1).right() + kBarDistance; }

  void text(std::int64_t row, std::int64_t column, const std::string& words,
            const TextStyle& style) {
    draw_text(picture_, static_cast<double>(row), static_cast<double>(column), words, style);
  }

  void draw_header(const EventCaption& caption) {
    std::int64_t pixels = 0;
    for (const data::SparsePlane& plane : event_.image) {
      pixels += static_cast<std::int64_t>(plane.ids.size());
    }
    text(60, kLeftMargin, caption.title, kTitle);
    text(100, kLeftMargin,
         fmt::format("entry {}: run {}, subrun {}, event {}; {} pixels stored of 3 x {} x {}",
                     caption.entry, event_.id.run, event_.id.subrun, event_.id.event,
                     grouped(pixels), meta_.columns(), meta_.rows()),
         kSubtitle);
  }

  /// "pixels of 2 x 2": those of a plane that was halved cover several of the event's.
  std::string pixel_size(const data::SparsePlane& plane) const {
    const std::uint64_t side = meta_.columns() / std::max<std::uint64_t>(plane.meta.columns(), 1);
    return side <= 1 ? "" : fmt::format(" in pixels of {} x {}", side, side);
  }

  void draw_frame(const Rectangle& area, std::size_t plane, std::int64_t line,
                  const std::string& what, const std::string& caption) {
    fill(picture_, area, kPanel);
    const std::string title = what + ", plane " + std::to_string(plane);
    constexpr std::int64_t kAbove = 14;
    text(area.row - kAbove, area.column, title, kPanelTitle);
    TextStyle right = kPanelText;
    right.align = Align::right;
    text(area.row - kAbove, area.right(), caption, right);
    draw_wire_axis(area, line + 1 == panel_lines());
    draw_time_axis(area, plane == 0);
  }

  void draw_wire_axis(const Rectangle& area, bool with_text) {
    const auto [low, high] = axis_range(meta_, 0);
    for (const double tick : linear_ticks(low, high, kTicks)) {
      const auto column =
          area.column +
          std::lround((tick - low) / (high - low) *
                      static_cast<double>(scale_.extent(meta_.columns()) - kLineWidth));
      fill(picture_, {area.bottom(), column, kTickLength, kLineWidth}, kInk);
      if (with_text) {
        text(area.bottom() + kTickLength + 27, column, tick_text(tick), kTickText);
      }
    }
    if (with_text) {
      text(area.bottom() + kTickLength + 68, area.column + area.columns / 2, "wire", kAxisTitle);
    }
  }

  void draw_time_axis(const Rectangle& area, bool with_text) {
    const auto [low, high] = axis_range(meta_, 1);
    for (const double tick : linear_ticks(low, high, kTicks)) {
      const auto row = area.bottom() - kLineWidth -
                       std::lround((tick - low) / (high - low) *
                                   static_cast<double>(scale_.extent(meta_.rows()) - kLineWidth));
      fill(picture_, {row, area.column - kTickLength, kLineWidth, kTickLength}, kInk);
      if (with_text) {
        TextStyle style = kTickText;
        style.align = Align::right;
        text(row + 9, area.column - kTickLength - 8, tick_text(tick), style);
      }
    }
    if (with_text) {
      TextStyle style = kAxisTitle;
      style.direction = Direction::upwards;
      text(area.row + area.rows / 2, area.column - 84, "time tick", style);
    }
  }

  void draw_charge_panel(std::size_t number) {
    const data::SparsePlane& plane = event_.image[number];
    const Rectangle area = panel(0, number);
    draw_frame(area, number, 0, "charge",
               grouped(static_cast<std::int64_t>(plane.ids.size())) + " pixels");
    draw_pixels(picture_, area, plane, meta_, scale_,
                [&](float charge) { return heat_color(charge_scale_.share(charge)); });
  }

  void draw_label_panel(std::int64_t line, std::size_t number, const data::SparsePlane& plane,
                        const std::string& what) {
    const Rectangle area = panel(line, number);
    const auto counts = count_labels(plane);
    draw_frame(area, number, line, what + pixel_size(plane),
               grouped(counts[1]) + " cosmic, " + grouped(counts[2]) + " neutrino");
    draw_pixels(picture_, area, plane, meta_, scale_, [](float value) {
      return kLabelColors.at(static_cast<std::size_t>(label_of(value)));
    });
  }

  void draw_probability_panel(std::size_t number) {
    const data::SparsePlane& plane = (*probabilities_)[number];
    const Rectangle area = panel(probability_line(), number);
    const auto likely = std::count_if(plane.values.begin(), plane.values.end(),
                                      [](float probability) { return probability > 0.5F; });
    draw_frame(area, number, probability_line(), "neutrino probability" + pixel_size(plane),
               grouped(likely) + " above 50 %");
    draw_pixels(picture_, area, plane, meta_, scale_,
                [](float probability) { return heat_color(probability); });
  }

  void draw_probability_bar() {
    const Rectangle bar = draw_bar(probability_line());
    TextStyle style = kTickText;
    style.align = Align::left;
    for (const int percent : {0, 50, 100}) {
      const auto row = bar.bottom() - kLineWidth - percent * (bar.rows - kLineWidth) / 100;
      fill(picture_, {row, bar.right(), kLineWidth, kTickLength}, kInk);
      text(row + 9, bar.right() + kTickLength + 8, std::to_string(percent) + " %", style);
    }
  }

  Rectangle draw_bar(std::int64_t line) {
    const Rectangle bar{panel(line, 0).row, key_column(), panel_rows_, kBarWidth};
    for (std::int64_t row = 0; row < bar.rows; ++row) {
      const double share = 1 - (static_cast<double>(row) + 0.5) / static_cast<double>(bar.rows);
      fill(picture_, {bar.row + row, bar.column, 1, bar.columns}, heat_color(share));
    }
    return bar;
  }

  void draw_charge_bar() {
    const Rectangle bar = draw_bar(0);
    TextStyle style = kTickText;
    style.align = Align::left;
    for (const double tick : logarithmic_ticks(charge_scale_.low, charge_scale_.high)) {
      const auto row =
          bar.bottom() - kLineWidth -
          std::lround(charge_scale_.share(tick) * static_cast<double>(bar.rows - kLineWidth));
      fill(picture_, {row, bar.right(), kLineWidth, kTickLength}, kInk);
      text(row + 9, bar.right() + kTickLength + 8, tick_text(tick), style);
    }
    style = kAxisTitle;
    style.direction = Direction::upwards;
    text(bar.row + bar.rows / 2, bar.right() + 102, "charge", style);
  }

  void draw_legend(std::int64_t line, const data::SparseImage& labels) {
    std::array<std::int64_t, 3> counts{};
    for (const data::SparsePlane& plane : labels) {
      const auto of_plane = count_labels(plane);
      for (std::size_t label = 0; label < counts.size(); ++label) {
        counts[label] += of_plane[label];
      }
    }
    std::int64_t row = panel(line, 0).row;
    TextStyle name = kPanelText;
    name.color = kInk;
    for (const Label label : {Label::neutrino, Label::cosmic, Label::background}) {
      const auto index = static_cast<std::size_t>(label);
      fill(picture_, {row, key_column(), kBarWidth, kBarWidth}, kLabelColors[index]);
      text(row + 21, key_column() + kBarWidth + 13, kLabelNames[index], name);
      text(row + 53, key_column() + kBarWidth + 13, grouped(counts[index]), kPanelText);
      row += 84;
    }
  }

  const data::SparseEvent& event_;
  const data::SparseImage* tags_;
  const data::SparseImage* probabilities_;
  data::ImageMeta meta_;
  Scale scale_;
  std::int64_t panel_columns_;
  std::int64_t panel_rows_;
  ChargeScale charge_scale_;
  Picture picture_;
};

}  // namespace

Picture draw_event(const data::SparseEvent& event, const EventCaption& caption,
                   const data::SparseImage* tags, const data::SparseImage* probabilities) {
  return EventPicture(event, caption, tags, probabilities).take();
}

}  // namespace cosmic::picture
