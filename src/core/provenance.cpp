#include "core/provenance.hpp"

namespace cosmic {

std::string to_string(Provenance provenance) {
  return provenance == Provenance::measured ? "measured" : "modelled";
}

std::string marked(std::string text, Provenance provenance) {
  return provenance == Provenance::measured ? std::move(text)
                                            : std::move(text) + " " + std::string(kHostClockMark);
}

}  // namespace cosmic
