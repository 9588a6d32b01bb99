#include "machine/description.hpp"

#include <array>

#include "core/error.hpp"
#include "machine/family.hpp"

namespace cosmic::machine {

std::string to_string(Status status) {
  constexpr std::array<std::string_view, 4> names{"published", "derived", "calibrated", "assumed"};
  return std::string(names.at(static_cast<std::size_t>(status)));
}

double Description::operator[](std::string_view figure) const {
  for (const Figure& known : figures) {
    if (known.name == figure) {
      return known.value;
    }
  }
  for (const Unknown& unknown : unknowns) {
    if (unknown.figure.name == figure) {
      return unknown.figure.value;
    }
  }
  throw InternalError("the formulas of the family " + std::string(family->name()) + " ask for '" +
                      std::string(figure) + "', which is not in its list of figures");
}

Description with_unknown(Description description, std::string_view unknown, double value) {
  for (Unknown& known : description.unknowns) {
    if (known.figure.name == unknown) {
      known.figure.value = value;
      return description;
    }
  }
  throw UserError("the machine " + description.name + " has no unknown '" + std::string(unknown) +
                  "'; see its description for the ones it has");
}

}  // namespace cosmic::machine
