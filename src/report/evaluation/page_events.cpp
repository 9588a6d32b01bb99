#include "report/evaluation/page_events.hpp"

#include <fmt/core.h>

#include <array>
#include <string_view>

#include "picture/axis.hpp"
#include "picture/color_map.hpp"
#include "report/evaluation/share_text.hpp"
#include "report/page/display_link.hpp"
#include "report/page/markup.hpp"

namespace cosmic::report::evaluation {
namespace {

// One plane, in units of its drawing: a strip with the overview and the numbers, and below it the
// charge and the outcome around the neutrino.
constexpr double kWidth = 340;
constexpr double kPanelLeft = 48;
constexpr double kPanelWidth = kWidth - kPanelLeft - 1;
constexpr double kOverviewWidth = 176;
constexpr double kStripGap = 14;
constexpr double kPanelGap = 10;
constexpr double kAxisSpace = 36;
constexpr int kTicks = 4;

std::string css_color(const picture::Color& color) {
  return fmt::format("rgb({} {} {})", color.red, color.green, color.blue);
}

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::found:
      return "neutrino, found";
    case Outcome::missed:
      return "neutrino, missed";
    case Outcome::false_neutrino:
      return "false neutrino";
    case Outcome::cosmic:
      return "cosmic";
    case Outcome::background:
      return "background with charge";
    case Outcome::nothing:
      break;
  }
  return "no charge";
}

/// The box of a panel, and the part of the plane it shows.
struct Panel {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

class PlaneDrawing {
 public:
  PlaneDrawing(const EventView& event, std::size_t number, std::int64_t downsample)
      : event_(event),
        plane_(event.planes[number]),
        confusion_(event.result.planes[number]),
        number_(number),
        scale_(std::int64_t{1} << downsample),
        height_per_width_(static_cast<double>(event.shape.rows) /
                          static_cast<double>(event.shape.columns)) {
    const Panel overview{kPanelLeft, 1, kOverviewWidth, kOverviewWidth * height_per_width_};
    const Panel charge{kPanelLeft, overview.y + overview.height + kStripGap, kPanelWidth,
                       kPanelWidth * height_per_width_};
    const Panel outcome{kPanelLeft, charge.y + charge.height + kPanelGap, kPanelWidth,
                        charge.height};
    svg_ = fmt::format(
        "<svg viewBox=\"0 0 {} {:.1f}\" role=\"img\" aria-label=\"Plane {}: {} neutrino pixels "
        "found, {} missed, {} false\">",
        kWidth, outcome.y + outcome.height + kAxisSpace, number, found(), missed(), wrong());
    draw_image(overview, plane_.overview);
    draw_window(overview);
    draw_numbers(overview);
    draw_image(charge, plane_.charge);
    draw_image(outcome, plane_.outcome);
    draw_time_axis(charge);
    draw_time_axis(outcome);
    draw_wire_axis(outcome);
    svg_ += "</svg>";
  }

  std::string take() { return std::move(svg_); }

 private:
  std::int64_t found() const { return confusion_.counts[kNeutrinoClass][kNeutrinoClass]; }
  std::int64_t missed() const { return confusion_.of_class(kNeutrinoClass) - found(); }
  std::int64_t wrong() const { return confusion_.predicted_as(kNeutrinoClass) - found(); }

  void draw_image(const Panel& panel, const picture::Picture& image) {
    const std::string box =
        fmt::format("x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"", panel.x,
                    panel.y, panel.width, panel.height);
    svg_ += fmt::format(
        "<image {0} preserveAspectRatio=\"none\" href=\"data:image/png;base64,{1}\"/>"
        "<rect class=\"edge\" {0}/>",
        box, page::base64(picture::encode_png(image)));
  }

  /// What of the overview is enlarged below it.
  void draw_window(const Panel& overview) {
    const Window& window = plane_.window;
    if (window.columns == event_.shape.columns) {
      return;
    }
    const double unit = overview.width / static_cast<double>(event_.shape.columns);
    svg_ += fmt::format(
        "<rect class=\"window\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
        overview.x + unit * static_cast<double>(window.column),
        overview.y + unit * static_cast<double>(event_.shape.rows - window.row - window.rows),
        unit * static_cast<double>(window.columns), unit * static_cast<double>(window.rows));
  }

  void draw_numbers(const Panel& overview) {
    const double x = overview.x + overview.width + 14;
    double y = overview.y + 14;
    svg_ += fmt::format("<text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\">plane {}</text>", x, y,
                        number_);
    const auto row = [&](Outcome outcome, std::string_view name, std::int64_t count) {
      y += 22;
      svg_ += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"10\" height=\"10\" rx=\"2\" fill=\"{}\"/>"
          "<text x=\"{:.1f}\" y=\"{:.1f}\">{} {}</text>",
          x, y - 9, css_color(outcome_color(outcome)), x + 16, y, page::count_text(count), name);
    };
    row(Outcome::found, "found", found());
    row(Outcome::missed, "missed", missed());
    row(Outcome::false_neutrino, "false", wrong());
  }

  void draw_wire_axis(const Panel& panel) {
    const double low = static_cast<double>(plane_.window.column * scale_);
    const double high =
        static_cast<double>((plane_.window.column + plane_.window.columns) * scale_);
    const double bottom = panel.y + panel.height;
    for (const double tick : picture::linear_ticks(low, high, kTicks)) {
      const double x = panel.x + (tick - low) / (high - low) * panel.width;
      svg_ += fmt::format(
          "<line class=\"axis\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>"
          "<text class=\"tick middle\" x=\"{0:.1f}\" y=\"{3:.1f}\">{4}</text>",
          x, bottom, bottom + 4, bottom + 16, picture::tick_text(tick));
    }
    svg_ += fmt::format("<text class=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">wire</text>",
                        panel.x + panel.width / 2, bottom + 31);
  }

  void draw_time_axis(const Panel& panel) {
    const double low = static_cast<double>(plane_.window.row * scale_);
    const double high = static_cast<double>((plane_.window.row + plane_.window.rows) * scale_);
    for (const double tick : picture::linear_ticks(low, high, kTicks)) {
      const double y = panel.y + panel.height * (1 - (tick - low) / (high - low));
      svg_ += fmt::format(
          "<line class=\"axis\" x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\"/>"
          "<text class=\"tick end\" x=\"{3:.1f}\" y=\"{4:.1f}\">{5}</text>",
          panel.x - 4, panel.x, y, panel.x - 6, y + 4, picture::tick_text(tick));
    }
    if (number_ == 0) {
      svg_ += fmt::format(
          "<text class=\"middle\" transform=\"translate(11 {:.1f}) rotate(-90)\">time tick</text>",
          panel.y + panel.height / 2);
    }
  }

  const EventView& event_;
  const PlaneView& plane_;
  const infer::Confusion& confusion_;
  std::size_t number_;
  std::int64_t scale_;
  double height_per_width_;
  std::string svg_;
};

}  // namespace

std::string event_figure(const EventView& view, std::int64_t downsample) {
  const EventResult& result = view.result;
  const infer::Confusion all = result.all();
  std::string html = fmt::format(
      "<figure class=\"event\"><h4>Entry {} \xc2\xb7 neutrino IoU {}</h4><p>run {}, subrun {}, "
      "event {} \xc2\xb7 ",
      result.entry, percent_text(all.iou(kNeutrinoClass)), result.id.run, result.id.subrun,
      result.id.event);
  if (result.neutrino) {
    html += fmt::format("{}, {:.2f} GeV \xc2\xb7 ", interaction_name(result.neutrino->interaction),
                        result.neutrino->energy);
  }
  html += fmt::format(
      "{} neutrino pixels \xc2\xb7 efficiency {} \xc2\xb7 purity {} \xc2\xb7 charge {:.3g} to "
      "{:.3g} \xc2\xb7 {}</p><div class=\"planes\">",
      page::count_text(result.neutrino_pixels()), percent_text(all.efficiency(kNeutrinoClass)),
      percent_text(all.purity(kNeutrinoClass)), view.charge_scale.low, view.charge_scale.high,
      page::display_link(result.entry));
  for (std::size_t plane = 0; plane < view.planes.size(); ++plane) {
    html += PlaneDrawing(view, plane, downsample).take();
  }
  return html + "</div></figure>";
}

std::string event_legend() {
  std::string html = "<div class=\"legend\">";
  for (const Outcome outcome : {Outcome::found, Outcome::missed, Outcome::false_neutrino,
                                Outcome::cosmic, Outcome::background}) {
    html += fmt::format("<span><i class=\"swatch\" style=\"background:{}\"></i>{}</span>",
                        css_color(outcome_color(outcome)), outcome_name(outcome));
  }
  constexpr int kStops = 8;
  std::string stops;
  for (int stop = 0; stop <= kStops; ++stop) {
    stops += "," + css_color(picture::heat_color(static_cast<double>(stop) / kStops));
  }
  return html + fmt::format(
                    "<span><i class=\"swatch wide\" style=\"background:linear-gradient(90deg{})\">"
                    "</i>charge, small to large (logarithmic)</span></div>",
                    stops);
}

}  // namespace cosmic::report::evaluation
