// What a user of weights has to know about them, on one page of Markdown.
#pragma once

#include <string>

#include "config/configuration.hpp"
#include "tagger/publish.hpp"

namespace cosmic::tagger {

/// What a card says beside what publish() measured.
struct CardSource {
  std::string name;           ///< "best"
  std::string fingerprint;    ///< of the file
  std::string trained_by;     ///< program and revision
  std::string trained_on;     ///< fingerprint of the events
  std::string configuration;  ///< of the training, as YAML
  config::Configuration tagging;
  std::string evaluation;  ///< JSON of `evaluate`, or empty
};

/// Throws DataError if the evaluation is no JSON of `evaluate`.
std::string model_card(const Published& published, const CardSource& source);

}  // namespace cosmic::tagger
