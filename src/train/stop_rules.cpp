#include "train/stop_rules.hpp"

#include <sstream>

#include "core/error.hpp"

namespace cosmic::train {

std::string BestValidation::to_text() const {
  std::ostringstream text;
  text << std::hexfloat << best_ << ' ' << std::dec << since_;
  return text.str();
}

BestValidation BestValidation::from_text(const std::string& text) {
  BestValidation result;
  const std::size_t space = text.find(' ');
  char* end = nullptr;
  // strtod, because streams cannot read what they write as hexfloat.
  result.best_ = std::strtod(text.c_str(), &end);
  const bool number = end == text.c_str() + std::min(space, text.size());
  std::istringstream rest(space == std::string::npos ? "" : text.substr(space));
  COSMIC_REQUIRE(DataError, number && space != std::string::npos && (rest >> result.since_),
                 "the checkpoint says '"
                     << text
                     << "' about the best validation (a number and a count were "
                        "expected); it was not written by this program");
  return result;
}

}  // namespace cosmic::train
