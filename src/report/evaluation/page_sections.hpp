// The parts of a report's page, as HTML. A section with nothing to say is empty.
#pragma once

#include <string>
#include <vector>

#include "report/evaluation/evaluation.hpp"

namespace cosmic::report::evaluation {

/// What was found, in a sentence.
std::string headline(const Evaluation& evaluation);
/// What a reader must know before the numbers: events that were trained on, few events.
std::vector<std::string> notices(const Evaluation& evaluation);

std::string summary_section(const Evaluation& evaluation);
std::string planes_section(const Evaluation& evaluation);
std::string confusion_section(const Evaluation& evaluation);
std::string efficiency_section(const Evaluation& evaluation);
std::string selection_section(const Evaluation& evaluation);
std::string probabilities_section(const Evaluation& evaluation);
std::string events_section(const Evaluation& evaluation);
std::string training_section(const Evaluation& evaluation);
std::string provenance_section(const Evaluation& evaluation);

}  // namespace cosmic::report::evaluation
