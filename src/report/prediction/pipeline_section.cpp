// What the machines of a pipeline do in each slot of an update: the ramps, and the forward and
// backward stages between them.
#include <fmt/core.h>

#include <algorithm>

#include "report/page/facts.hpp"
#include "report/page/markup.hpp"
#include "report/prediction/marked.hpp"
#include "report/prediction/page_sections.hpp"

namespace cosmic::report::prediction {
namespace {

using machine::ModelledTime;
using machine::PipelineTimes;

constexpr double kWidth = 1064;
constexpr double kLeft = 92;
constexpr double kRowHeight = 46;
constexpr double kTop = 8;
constexpr double kGap = 4;
// More slots are drawn as their beginning and their end: those between look alike.
constexpr int kMostSlots = 48;
constexpr double kLeastLabelled = 22;  // width of a cell that has room for its number

bool trains(const PipelineTimes& pipeline) {
  return pipeline.stages > pipeline.machines;
}

class Timeline {
 public:
  explicit Timeline(const PipelineTimes& pipeline) : pipeline_(pipeline) {
    const int slots = pipeline.micro_batches + pipeline.stages - 1;
    for (int slot = 0; slot < slots; ++slot) {
      const bool in_middle = slot >= kMostSlots / 2 && slot < slots - kMostSlots / 2;
      if (slots <= kMostSlots || !in_middle) {
        shown_.push_back(slot);
      } else if (shown_.back() != kLeftOut) {
        shown_.push_back(kLeftOut);
      }
    }
    cell_ = (kWidth - kLeft) / static_cast<double>(shown_.size());
    const double height = kTop + kRowHeight * pipeline.machines + 40;
    svg_ = fmt::format(
        "<div tabindex=\"0\" class=\"scroll\"><svg class=\"wide\" viewBox=\"0 0 {} {}\" "
        "role=\"img\" aria-label=\"Stages of the pipeline over time\">",
        kWidth, height);
    for (int machine = 0; machine < pipeline.machines; ++machine) {
      draw_machine(machine);
    }
    draw_axis(height - 40);
    svg_ += "</svg></div>";
  }

  std::string take() { return std::move(svg_); }

 private:
  static constexpr int kLeftOut = -1;

  void draw_machine(int machine) {
    const double y = kTop + kRowHeight * machine;
    svg_ += fmt::format("<text class=\"end\" x=\"{}\" y=\"{:.1f}\">machine {}</text>", kLeft - 12,
                        y + kRowHeight / 2, machine);
    for (std::size_t column = 0; column < shown_.size(); ++column) {
      const double x = kLeft + cell_ * static_cast<double>(column);
      if (shown_[column] == kLeftOut) {
        svg_ += fmt::format("<text class=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">\xe2\x80\xa6</text>",
                            x + cell_ / 2, y + kRowHeight / 2);
        continue;
      }
      draw_slot(machine, shown_[column], x, y);
    }
  }

  /// The last machine has one stage, forward and backward in one; the others have two.
  void draw_slot(int machine, int slot, double x, double y) {
    const bool last = machine == pipeline_.machines - 1;
    const bool two_stages = trains(pipeline_) && !last;
    const double height = kRowHeight - kGap;
    const auto draw = [&](int stage, double top, double high, const char* hue) {
      const int micro_batch = slot - stage;
      const bool works = micro_batch >= 0 && micro_batch < pipeline_.micro_batches;
      svg_ += fmt::format(
          "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
          works ? fmt::format("slot {}", hue) : "idle", x, top, std::max(cell_ - 1, 0.5), high);
      if (works && cell_ >= kLeastLabelled) {
        svg_ +=
            fmt::format("<text class=\"slot-number middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                        x + cell_ / 2, top + high / 2 + 4, micro_batch);
      }
    };
    if (two_stages) {
      draw(machine, y, height / 2 - 0.5, "hue0");
      draw(pipeline_.stages - 1 - machine, y + height / 2 + 0.5, height / 2 - 0.5, "hue1");
    } else {
      draw(machine, y, height, trains(pipeline_) ? "hue3" : "hue0");
    }
  }

  void draw_axis(double y) {
    const int slots = pipeline_.micro_batches + pipeline_.stages - 1;
    svg_ += fmt::format(
        "<text class=\"tick\" x=\"{}\" y=\"{:.1f}\">0</text><text class=\"tick end modelled\" "
        "x=\"{}\" y=\"{:.1f}\">{}</text><text class=\"axis-title middle\" x=\"{}\" y=\"{:.1f}\">"
        "time (modelled), {} slots for one update</text>",
        kLeft, y + 14, kWidth, y + 14,
        signed_text(ModelledTime(pipeline_.slot.modelled_seconds() * slots)), (kLeft + kWidth) / 2,
        y + 32, slots);
  }

  const PipelineTimes& pipeline_;
  std::vector<int> shown_;
  double cell_ = 1;
  std::string svg_;
};

std::string legend(const PipelineTimes& pipeline) {
  return "<div class=\"legend\">" + page::legend_entry("hue0", "forward") +
         (trains(pipeline) ? page::legend_entry("hue1", "backward") +
                                 page::legend_entry("hue3", "both, on the last machine")
                           : "") +
         "<span><i class=\"swatch idle\"></i>idle</span></div>";
}

}  // namespace

std::string pipeline_section(const PredictionReport& report) {
  if (!report.prediction.pipeline) {
    return "";
  }
  const PipelineTimes& pipeline = *report.prediction.pipeline;
  const int slots = pipeline.micro_batches + pipeline.stages - 1;
  const double busy = static_cast<double>(pipeline.micro_batches) / slots;
  std::string html = fmt::format(
      "<p>{} machines, {} stages, {} micro-batches per update. A slot takes {}, assuming balanced "
      "stages, which was not checked on the machine. Ramp-up and ramp-down leave a machine idle "
      "for {} of its slots; more micro-batches per update would reduce that.</p>",
      given(page::count_text(pipeline.machines)), given(page::count_text(pipeline.stages)),
      given(page::count_text(pipeline.micro_batches)), modelled(pipeline.slot),
      modelled_share(1 - busy, 1));
  return html + "<figure>" + Timeline(pipeline).take() + legend(pipeline) +
         "<figcaption><b>Slots of an update.</b> Numbers are micro-batches. In each slot a machine "
         "runs its forward stage on one and its backward stage on an earlier one.</figcaption>"
         "</figure>";
}

}  // namespace cosmic::report::prediction
