#include "report/evaluation/page.hpp"

#include <fmt/core.h>

#include "report/evaluation/evaluation_style.hpp"
#include "report/evaluation/page_sections.hpp"
#include "report/page/document.hpp"
#include "report/page/markup.hpp"

namespace cosmic::report::evaluation {
std::string page(const Evaluation& evaluation) {
  const Provenance& from = evaluation.provenance;
  page::Document document;
  document.title = from.data + " \xc2\xb7 CosmicTagger evaluation";
  document.program = from.program;
  document.style = evaluation_style();
  document.overline = "CosmicTagger \xc2\xb7 evaluation";
  document.heading = "Neutrino pixels among cosmic rays";
  document.lead = headline(evaluation);
  document.byline = fmt::format("{} \xc2\xb7 run {} \xc2\xb7 weights of step {} \xc2\xb7 {}",
                                page::escaped(from.data), page::escaped(from.run_id),
                                page::count_text(from.step), page::escaped(from.date));
  document.notices = notices(evaluation);
  document.sections = {
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
  document.footer = page::written_by(from.program, from.revision, from.date);
  return page::to_html(document);
}

}  // namespace cosmic::report::evaluation
