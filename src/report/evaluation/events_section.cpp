// Pictures of the best, of typical and of the worst events.
#include <fmt/core.h>

#include "report/evaluation/page_events.hpp"
#include "report/evaluation/page_sections.hpp"
#include "report/page/display_link.hpp"

namespace cosmic::report::evaluation {
namespace {

void add(std::string& html, const char* title, const std::vector<EventView>& views,
         std::int64_t downsample) {
  if (views.empty()) {
    return;
  }
  html += fmt::format("<h3>{}</h3>", title);
  for (const EventView& view : views) {
    html += event_figure(view, downsample);
  }
}

}  // namespace

std::string events_section(const Evaluation& evaluation) {
  if (evaluation.best.empty()) {
    return fmt::format("<p>No event has {} true neutrino pixels or more, so none is shown.</p>",
                       kLeastNeutrinoPixels);
  }
  std::string html = fmt::format(
      "<p>Events with at least {} true neutrino pixels, ranked by the intersection over union of "
      "true and tagged neutrino pixels, all planes together; none was picked by hand. Each plane "
      "has an overview with a frame around the enlarged part, the charge that the network saw, and "
      "the result. Where pixels of the overview are merged, mistakes take precedence.</p>",
      kLeastNeutrinoPixels);
  html += page::display_hint(evaluation.provenance.data);
  html += event_legend();
  const std::int64_t downsample = evaluation.provenance.downsample;
  add(html, "The best", evaluation.best, downsample);
  add(html, "Median", evaluation.typical, downsample);
  add(html, "The worst", evaluation.worst, downsample);
  return html;
}

}  // namespace cosmic::report::evaluation
