#include "report/page.hpp"

#include <fmt/core.h>

#include "report/markup.hpp"
#include "report/page_sections.hpp"
#include "report/page_style.hpp"

namespace cosmic::report {
namespace {

struct Section {
  const char* id;
  const char* name;  ///< in the list of contents
  const char* title;
  std::string content;  ///< left out with its heading if empty
};

std::string header(const Evaluation& evaluation, const std::vector<Section>& sections) {
  const Provenance& from = evaluation.provenance;
  std::string html = "<header><p class=\"overline\">CosmicTagger \xc2\xb7 evaluation</p>";
  html += "<h1>Neutrino pixels among cosmic rays</h1>";
  html += "<p class=\"lead\">" + headline(evaluation) + "</p>";
  html += fmt::format(
      "<p class=\"byline\">{} \xc2\xb7 run {} \xc2\xb7 weights of step {} \xc2\xb7 {}</p>",
      escaped(from.data), escaped(from.run_id), count_text(from.step), escaped(from.date));
  for (const std::string& notice : notices(evaluation)) {
    html += "<p class=\"notice\">" + notice + "</p>";
  }
  html += "<nav aria-label=\"Contents\">";
  for (const Section& section : sections) {
    html += fmt::format("<a href=\"#{}\">{}</a>", section.id, section.name);
  }
  return html + "</nav></header>";
}

}  // namespace

std::string page(const Evaluation& evaluation) {
  std::vector<Section> sections{
      {"summary", "Summary", "Summary", summary_section(evaluation)},
      {"planes", "Planes", "Planes and classes", planes_section(evaluation)},
      {"confusion", "Confusion", "Confusion", confusion_section(evaluation)},
      {"efficiency", "Efficiency", "Efficiency and purity", efficiency_section(evaluation)},
      {"selection", "Event selection", "Rejecting cosmic-only events",
       selection_section(evaluation)},
      {"probabilities", "Probabilities", "Probabilities", probabilities_section(evaluation)},
      {"events", "Events", "Best and worst events", events_section(evaluation)},
      {"training", "Training", "Training", training_section(evaluation)},
      {"provenance", "Provenance", "Provenance", provenance_section(evaluation)},
  };
  std::erase_if(sections, [](const Section& section) { return section.content.empty(); });

  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"
      "<meta name=\"generator\" content=\"{}\"/><title>{} \xc2\xb7 CosmicTagger evaluation</title>"
      "<style>{}</style></head>\n<body>",
      escaped(evaluation.provenance.program), escaped(evaluation.provenance.data), page_style());
  html += header(evaluation, sections) + "\n<main>";
  for (const Section& section : sections) {
    html += fmt::format("\n<section id=\"{}\"><h2>{}</h2>{}</section>", section.id, section.title,
                        section.content);
  }
  return html + fmt::format(
                    "</main>\n<footer>Written by {} (revision {}) on {}. This page is one file; it "
                    "asks nothing of a network. The same numbers are in the JSON file beside "
                    "it.</footer></body></html>\n",
                    escaped(evaluation.provenance.program), escaped(evaluation.provenance.revision),
                    escaped(evaluation.provenance.date));
}

}  // namespace cosmic::report
