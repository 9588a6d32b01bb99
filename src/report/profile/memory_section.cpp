// Memory while the step runs: a map of the arena, and the tensors alive when most are.
#include <fmt/core.h>

#include <algorithm>

#include "picture/axis.hpp"
#include "report/page/facts.hpp"
#include "report/page/layer_text.hpp"
#include "report/page/markup.hpp"
#include "report/page/quantity_text.hpp"
#include "report/profile/hues.hpp"
#include "report/profile/page_sections.hpp"

namespace cosmic::report::profile {
namespace {

using session::MemoryUse;
using session::StoredTensor;

// In units of the drawing; a page shows it about as wide.
constexpr double kWidth = 1064;
constexpr double kHeight = 420;
constexpr double kLeft = 70;
constexpr double kRight = 1050;
constexpr double kTop = 16;
constexpr double kBottom = 366;

// Smaller ones are less than a line high; together they matter little.
constexpr double kLeastShownShare = 1.0 / 2000;

constexpr std::size_t kShownTensors = 20;
constexpr double kMega = 1e6;

/// Kinds of ops by what they keep, so that the largest get colours of their own.
std::vector<OpProfile> kinds_by_bytes(const MemoryUse& memory) {
  std::vector<OpProfile> writers;
  for (const StoredTensor& tensor : memory.tensors) {
    OpProfile writer;
    writer.op = memory.nodes[tensor.node].op;
    // Bytes times life: the area on the map.
    writer.seconds =
        static_cast<double>(tensor.bytes) * static_cast<double>(tensor.last - tensor.first + 1);
    writers.push_back(writer);
  }
  return by_op(writers);
}

class ArenaMap {
 public:
  ArenaMap(const MemoryUse& memory, const Hues& hues)
      : memory_(memory),
        hues_(hues),
        nodes_(static_cast<double>(std::max<std::size_t>(memory.nodes.size(), 1))),
        bytes_(static_cast<double>(std::max<std::int64_t>(memory.arena_bytes, 1))) {
    svg_ = fmt::format(
        "<div tabindex=\"0\" class=\"scroll\"><svg class=\"wide\" viewBox=\"0 0 {} {}\" "
        "role=\"img\" aria-label=\"Tensors in the arena while the step "
        "runs\">",
        kWidth, kHeight);
    draw_axes();
    for (const StoredTensor& tensor : memory_.tensors) {
      draw_tensor(tensor);
    }
    draw_live();
    draw_peak();
    svg_ += "</svg></div>";
  }

  std::string take() { return std::move(svg_); }

 private:
  double x(double node) const { return kLeft + node / nodes_ * (kRight - kLeft); }
  double y(double bytes) const { return kBottom - bytes / bytes_ * (kBottom - kTop); }

  void draw_axes() {
    constexpr int kTicks = 6;
    for (const double tick : picture::linear_ticks(0, bytes_ / kMega, kTicks)) {
      const double at = y(tick * kMega);
      svg_ += fmt::format(
          "<line class=\"grid\" x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\"/><text "
          "class=\"tick "
          "end\" x=\"{}\" y=\"{:.1f}\">{}</text>",
          kLeft, at, kRight, at, kLeft - 8, at + 4, picture::tick_text(tick));
    }
    for (const double tick : picture::linear_ticks(0, nodes_, kTicks)) {
      svg_ += fmt::format("<text class=\"tick middle\" x=\"{:.1f}\" y=\"{}\">{}</text>", x(tick),
                          kBottom + 19, picture::tick_text(tick));
    }
    svg_ += fmt::format(
        "<line class=\"axis\" x1=\"{0}\" y1=\"{1}\" x2=\"{2}\" y2=\"{1}\"/>"
        "<text class=\"axis-title middle\" x=\"{3}\" y=\"{4}\">node of the program, in the order "
        "of "
        "execution</text>"
        "<text class=\"axis-title middle\" transform=\"translate(16 {5}) rotate(-90)\">offset in "
        "the "
        "arena (MB)</text>",
        kLeft, kBottom, kRight, (kLeft + kRight) / 2, kBottom + 42, (kTop + kBottom) / 2);
  }

  void draw_tensor(const StoredTensor& tensor) {
    if (static_cast<double>(tensor.bytes) < kLeastShownShare * bytes_) {
      return;
    }
    const session::NodeLabel& writer = memory_.nodes[tensor.node];
    const double begin = x(static_cast<double>(tensor.first));
    const double end = x(std::min(static_cast<double>(tensor.last + 1), nodes_));
    const double top = y(static_cast<double>(tensor.offset + tensor.bytes));
    svg_ += fmt::format(
        "<rect class=\"tensor {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">"
        "<title>{} ({}), {}, {}, nodes {} to {}</title></rect>",
        hues_.of(writer.op), begin, top, std::max(end - begin, 0.6),
        y(static_cast<double>(tensor.offset)) - top, page::escaped(writer.layer),
        page::escaped(writer.op), page::escaped(graph::to_string(tensor.type)),
        page::quantity_text(static_cast<double>(tensor.bytes), "B"), tensor.first, tensor.last);
  }

  void draw_live() {
    std::string path;
    for (std::size_t node = 0; node < memory_.live_bytes.size(); ++node) {
      const double at = y(static_cast<double>(memory_.live_bytes[node]));
      path += fmt::format("{}{:.1f} {:.1f}H{:.1f}", path.empty() ? "M" : "L",
                          x(static_cast<double>(node)), at, x(static_cast<double>(node + 1)));
    }
    svg_ += fmt::format("<path class=\"live\" d=\"{}\"/>", path);
  }

  void draw_peak() {
    const double at = x(static_cast<double>(memory_.peak_node) + 0.5);
    const bool right_half = at > (kLeft + kRight) / 2;
    svg_ += fmt::format(
        "<line class=\"peak\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\"/><text "
        "class=\"{3}\" x=\"{4:.1f}\" y=\"{5}\">peak: {6} alive</text>",
        at, kTop, kBottom, right_half ? "halo end" : "halo", at + (right_half ? -7 : 7), kTop + 4,
        page::quantity_text(static_cast<double>(memory_.peak_live_bytes), "B"));
  }

  const MemoryUse& memory_;
  const Hues& hues_;
  double nodes_;
  double bytes_;
  std::string svg_;
};

std::string legend(const std::vector<OpProfile>& kinds, const Hues& hues) {
  std::string html = "<div class=\"legend\">";
  for (std::size_t i = 0; i < std::min(kinds.size(), Hues::kHues - 1); ++i) {
    html += page::legend_entry(hues.of(kinds[i].op), page::escaped(kinds[i].op));
  }
  if (kinds.size() >= Hues::kHues) {
    html += page::legend_entry(Hues::name(Hues::kHues - 1), "others");
  }
  return html + "</div>";
}

std::string tensor_rows(const MemoryUse& memory, std::size_t count, const Hues& hues) {
  const double peak = static_cast<double>(std::max<std::int64_t>(memory.peak_live_bytes, 1));
  std::string html =
      "<div tabindex=\"0\" class=\"scroll figures\"><table><thead><tr><th "
      "scope=\"col\">layer</th><th "
      "scope=\"col\" class=\"words\">written by</th><th scope=\"col\" class=\"words\">tensor</th>"
      "<th scope=\"col\">size</th><th scope=\"col\">share</th><th scope=\"col\">from node</th><th "
      "scope=\"col\">to node</th></tr></thead><tbody>";
  std::int64_t rest = memory.peak_live_bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const StoredTensor& tensor = memory.tensors[memory.at_peak[i]];
    const session::NodeLabel& writer = memory.nodes[tensor.node];
    rest -= tensor.bytes;
    html += fmt::format(
        "<tr><th scope=\"row\"><span class=\"dot {}\"></span>{}</th><td class=\"words\">{}</td><td "
        "class=\"words\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
        hues.of(writer.op), page::layer_text(writer.layer), page::escaped(writer.op),
        page::escaped(graph::to_string(tensor.type)),
        page::quantity_text(static_cast<double>(tensor.bytes), "B"),
        page::percent_text(static_cast<double>(tensor.bytes) / peak), tensor.first,
        tensor.last < memory.nodes.size() ? std::to_string(tensor.last) : "end");
  }
  const std::size_t others = memory.at_peak.size() - count;
  if (others > 0) {
    html += fmt::format(
        "<tr><th scope=\"row\">{} smaller "
        "ones</th><td></td><td></td><td>{}</td><td>{}</td><td></td>"
        "<td></td></tr>",
        others, page::quantity_text(static_cast<double>(rest), "B"),
        page::percent_text(static_cast<double>(rest) / peak));
  }
  return html + "</tbody></table></div>";
}

}  // namespace

std::string memory_section(const RunProfile& profile) {
  const MemoryUse& memory = profile.memory;
  if (memory.tensors.empty()) {
    return "";
  }
  const std::vector<OpProfile> kinds = kinds_by_bytes(memory);
  const Hues hues(kinds);
  const session::NodeLabel& at_peak = memory.nodes[memory.peak_node];
  std::string html = "<figure>" + ArenaMap(memory, hues).take() +
                     "<figcaption><b>The arena.</b> Each rectangle is a stored tensor: its width "
                     "is its lifetime, its height its size. The dark line is the sum of live "
                     "tensors; no layout can need less than its highest point. Values that are "
                     "recomputed where they are read take no space.</figcaption></figure>" +
                     legend(kinds, hues);
  html += fmt::format(
      "<h3>Alive at the peak</h3><p>The peak is reached while node {}, <code>{}</code> of "
      "<b>{}</b>, runs.</p>",
      memory.peak_node, page::escaped(at_peak.op), page::escaped(at_peak.layer));
  html += tensor_rows(memory, std::min(memory.at_peak.size(), kShownTensors), hues);
  if (memory.at_peak.size() > kShownTensors) {
    html += fmt::format("<details><summary>All {} tensors alive at the peak</summary>{}</details>",
                        memory.at_peak.size(), tensor_rows(memory, memory.at_peak.size(), hues));
  }
  return html;
}

}  // namespace cosmic::report::profile
