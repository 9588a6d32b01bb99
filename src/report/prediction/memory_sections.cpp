// Where tensors lie, and how much is alive while the program runs.
#include <fmt/core.h>

#include <algorithm>

#include "report/page/facts.hpp"
#include "report/page/layer_text.hpp"
#include "report/page/markup.hpp"
#include "report/page/quantity_text.hpp"
#include "report/prediction/marked.hpp"
#include "report/prediction/page_sections.hpp"
#include "report/prediction/stacked_chart.hpp"

namespace cosmic::report::prediction {
namespace {

using machine::LargeTensor;
using machine::MemoryMap;
using machine::MemoryPlace;
using machine::MemoryVerdict;
using machine::ModelledBytes;
using machine::ProgramMemory;

constexpr std::size_t kShownTensors = 12;
constexpr std::size_t kShownSections = 12;

struct Part {
  const char* name;
  const char* hue;
  ModelledBytes MemoryPlace::*bytes;
};

constexpr Part kParts[] = {
    {"code and other overhead", "hue11", &MemoryPlace::overhead},
    {"always live: weights and other states", "hue0", &MemoryPlace::always_live},
    {"not always live: activations, gradients", "hue1", &MemoryPlace::transient},
    {"temporaries of an op", "hue4", &MemoryPlace::temporary},
    {"reserve for uneven layouts", "hue6", &MemoryPlace::reserve},
};

std::string given_bytes(ModelledBytes bytes) {
  return page::quantity_text(bytes.modelled_bytes(), "B");
}

/// Largest first, of a whole.
std::string tensor_table(const std::vector<LargeTensor>& tensors, ModelledBytes whole,
                         std::size_t shown) {
  std::string html =
      "<div tabindex=\"0\" class=\"scroll figures\"><table><thead><tr><th "
      "scope=\"col\">layer</th><th "
      "scope=\"col\" class=\"words\">written by</th><th scope=\"col\">size</th><th "
      "scope=\"col\">share</th></tr></thead><tbody>";
  const double most = tensors.empty() ? 1 : tensors.front().bytes.modelled_bytes();
  double rest = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const LargeTensor& tensor = tensors[i];
    if (i >= shown) {
      rest += tensor.bytes.modelled_bytes();
      continue;
    }
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"words\">{}</td><td class=\"bar\">{}<i "
        "style=\"width:{:.1f}%\"></i></td><td>{}</td></tr>",
        page::layer_text(tensor.layer), page::escaped(tensor.op), modelled(tensor.bytes),
        100 * tensor.bytes.modelled_bytes() / most,
        modelled_share(tensor.bytes.modelled_bytes() / whole.modelled_bytes(), 1));
  }
  if (tensors.size() > shown) {
    html += fmt::format(
        "<tr><th scope=\"row\">{} smaller ones</th><td></td><td>{}</td><td>{}</td></tr>",
        page::count_text(static_cast<std::int64_t>(tensors.size() - shown)),
        modelled(ModelledBytes(rest)), modelled_share(rest / whole.modelled_bytes(), 1));
  }
  return html + "</tbody></table></div>";
}

/// One bar as long as the memory, or as what it would have to hold.
std::string place_bar(const MemoryPlace& place, ModelledBytes available) {
  const double whole = std::max(place.needed().modelled_bytes(), available.modelled_bytes());
  std::string bar =
      "<div class=\"parts outlined\" role=\"img\" aria-label=\"Parts of the memory\">";
  std::string legend = "<div class=\"legend\">";
  for (const Part& part : kParts) {
    const double bytes = (place.*part.bytes).modelled_bytes();
    if (bytes > 0) {
      bar += fmt::format("<span class=\"{}\" style=\"width:{:.3f}%\"></span>", part.hue,
                         100 * bytes / whole);
      legend += page::legend_entry(part.hue,
                                   fmt::format("{}: {}", part.name, modelled(place.*part.bytes)));
    }
  }
  return bar + "</div>" + legend +
         fmt::format("<span>of {}</span></div>", given(given_bytes(available)));
}

std::string places_chart(const MemoryMap& map) {
  StackedChart chart;
  chart.description = "What each " + map.kind + " holds at its peak";
  chart.x_title = map.kind + (map.kind == "section" ? ", in the order of execution" : "");
  for (const Part& part : kParts) {
    Band band{part.name, part.hue, {}};
    for (const MemoryPlace& place : map.places) {
      band.bytes.push_back((place.*part.bytes).modelled_bytes());
    }
    chart.bands.push_back(std::move(band));
  }
  chart.limit = map.available.modelled_bytes();
  chart.limit_name = given_bytes(map.available) + " in each " + map.kind;
  chart.mark = map.fullest;
  chart.mark_name = fmt::format("fullest: {} {}, {}", map.kind, map.fullest,
                                signed_text(map.places[map.fullest].needed()));
  if (map.kind == "section") {
    chart.limit_name = given_bytes(map.available) + " on the chip";
  }
  return "<figure>" + draw(chart) + "<figcaption><b>Memory by " + map.kind + ".</b> " +
         page::escaped(map.rule) + "</figcaption></figure>";
}

/// A drawing of places that all hold the same would say nothing.
bool worth_drawing(const MemoryMap& map) {
  constexpr double kAlike = 0.05;
  double least = map.places.front().needed().modelled_bytes();
  for (const MemoryPlace& place : map.places) {
    least = std::min(least, place.needed().modelled_bytes());
  }
  return least < (1 - kAlike) * map.places[map.fullest].needed().modelled_bytes();
}

std::string rule_text(const MemoryMap& map) {
  return "<p>" + page::escaped(map.rule) + " Here every " + map.kind +
         " holds nearly the same, so there is nothing to draw.</p>";
}

/// How evenly the places are filled.
std::string evenness(const MemoryMap& map) {
  double sum = 0;
  double least = map.places.front().needed().modelled_bytes();
  for (const MemoryPlace& place : map.places) {
    sum += place.needed().modelled_bytes();
    least = std::min(least, place.needed().modelled_bytes());
  }
  const auto places = static_cast<double>(map.places.size());
  std::string html =
      fmt::format("<p>The fullest {} holds {}, the mean is {} and the emptiest holds {}.", map.kind,
                  modelled(map.places[map.fullest].needed()), modelled(ModelledBytes(sum / places)),
                  modelled(ModelledBytes(least)));
  const bool at_once = !map.places.front().time.has_value();  // not parts of the program
  if (at_once) {
    html += fmt::format(" All {} together hold {} of {}.",
                        page::count_text(static_cast<std::int64_t>(places)),
                        modelled(ModelledBytes(sum)),
                        given(given_bytes(ModelledBytes(map.available.modelled_bytes() * places))));
  }
  return html + "</p>";
}

std::string longest_sections(const MemoryMap& map) {
  std::vector<const MemoryPlace*> longest;
  for (const MemoryPlace& place : map.places) {
    longest.push_back(&place);
  }
  std::stable_sort(longest.begin(), longest.end(), [](const MemoryPlace* a, const MemoryPlace* b) {
    return a->time.value_or(machine::ModelledTime()) > b->time.value_or(machine::ModelledTime());
  });
  longest.resize(std::min(longest.size(), kShownSections));
  std::string html =
      "<h3>The longest sections</h3><div tabindex=\"0\" class=\"scroll "
      "figures\"><table><thead><tr><th "
      "scope=\"col\">section</th><th scope=\"col\">time</th><th scope=\"col\">on the chip</th>"
      "</tr></thead><tbody>";
  for (const MemoryPlace* place : longest) {
    const machine::ModelledTime time = place->time.value_or(machine::ModelledTime());
    html += fmt::format(
        "<tr><th scope=\"row\" class=\"wrapped\">{}</th><td class=\"bar\">{}<i "
        "style=\"width:{:.1f}%\"></i></td><td>{}</td></tr>",
        page::escaped(place->name), modelled(time),
        100 * time.modelled_seconds() /
            longest.front()->time.value_or(machine::ModelledTime(1)).modelled_seconds(),
        modelled(place->needed()));
  }
  return html + "</tbody></table></div>";
}

}  // namespace

std::string memory_section(const PredictionReport& report) {
  const MemoryVerdict& verdict = report.prediction.memory;
  const MemoryMap& map = report.prediction.memory_map;
  const MemoryPlace fullest{.name = verdict.place,
                            .always_live = verdict.always_live,
                            .transient = verdict.transient,
                            .temporary = verdict.temporary,
                            .overhead = verdict.overhead};
  std::string html = fmt::format(
      "<p>It <b>{}</b> (modelled): {} needs {} of {}. {}</p>", machine::to_string(verdict.fits),
      page::escaped(verdict.place), modelled(verdict.needed), given(given_bytes(verdict.available)),
      error_bar(given_bytes(verdict.needed_low), given_bytes(verdict.needed_high)));
  html += place_bar(fullest, verdict.available);
  if (map.places.size() > 1) {
    html += (worth_drawing(map) ? places_chart(map) : rule_text(map)) + evenness(map);
  }
  if (map.kind == "section") {
    html += longest_sections(map);
  }
  const MemoryPlace& place = map.places[map.fullest];
  html += map.places.size() > 1
              ? fmt::format("<h3>In the fullest {0}</h3><p>What {0} {1} holds of each tensor.</p>",
                            map.kind, map.fullest)
              : "<h3>Largest tensors</h3>";
  return html + tensor_table(map.in_fullest, place.needed(), kShownTensors);
}

std::string liveness_section(const PredictionReport& report) {
  const ProgramMemory& memory = report.prediction.program_memory;
  if (memory.over_program.empty()) {
    return "";
  }
  StackedChart chart;
  chart.description = "Bytes alive as each node of the program runs";
  chart.x_title = "node of the program, in the order of execution";
  const std::size_t nodes = memory.over_program.size();
  Band always{"always live: weights and other states", "hue0",
              std::vector<double>(nodes, memory.always_live.modelled_bytes())};
  Band transient{"not always live: activations, gradients", "hue1", {}};
  for (const ModelledBytes bytes : memory.over_program) {
    transient.bytes.push_back(bytes.modelled_bytes());
  }
  chart.bands = {std::move(always), std::move(transient)};
  const ModelledBytes peak(memory.over_program[memory.peak_at].modelled_bytes() +
                           memory.always_live.modelled_bytes());
  chart.mark = memory.peak_at;
  chart.mark_name = "peak: " + signed_text(peak);
  std::string html =
      "<figure>" + draw(chart) +
      "<figcaption><b>Liveness over the program.</b> A value lives from the node that writes it to "
      "the last that reads it; values that readers recompute take nothing. This is for one run of "
      "the whole program, without what a pipeline keeps in addition.</figcaption></figure>";
  html += fmt::format(
      "<h3>Alive at the peak</h3><p>The peak is reached while node {}, <code>{}</code> of "
      "<b>{}</b>, runs.</p>",
      memory.peak_at, page::escaped(memory.peak_op), page::layer_text(memory.peak_layer));
  html += tensor_table(memory.at_peak, memory.over_program[memory.peak_at], kShownTensors);
  if (!memory.states.empty()) {
    html += "<details><summary>Largest states</summary>" +
            tensor_table(memory.states, memory.always_live, kShownTensors) + "</details>";
  }
  return html;
}

}  // namespace cosmic::report::prediction
