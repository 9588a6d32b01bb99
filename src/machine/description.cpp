#include "machine/description.hpp"

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "core/nearest_name.hpp"
#include "machine/family.hpp"

namespace cosmic::machine {

std::string to_string(Status status) {
  constexpr std::array<std::string_view, 4> names{"published", "derived", "calibrated", "assumed"};
  return std::string(names.at(static_cast<std::size_t>(status)));
}

std::string to_string(Stored stored) {
  constexpr std::array<std::string_view, 3> names{"every_op", "in_place", "fused"};
  return std::string(names.at(static_cast<std::size_t>(stored)));
}

std::string to_string(Exchange exchange) {
  constexpr std::array<std::string_view, 2> names{"ring", "direct"};
  return std::string(names.at(static_cast<std::size_t>(exchange)));
}

std::string to_string(Launching launching) {
  constexpr std::array<std::string_view, 2> names{"whole_program", "per_op"};
  return std::string(names.at(static_cast<std::size_t>(launching)));
}

std::string to_string(StackWeights weights) {
  constexpr std::array<std::string_view, 2> names{"as_set", "narrow"};
  return std::string(names.at(static_cast<std::size_t>(weights)));
}

std::string to_string(StackInput input) {
  constexpr std::array<std::string_view, 2> names{"prefetched", "waited"};
  return std::string(names.at(static_cast<std::size_t>(input)));
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

Description with_stack(Description description, std::string_view stack) {
  if (stack.empty()) {
    return description;
  }
  std::vector<std::string_view> names;
  std::string list;
  for (const Stack& known : description.stacks) {
    names.push_back(known.name);
    list += (list.empty() ? "" : ", ") + known.name;
  }
  const auto chosen = std::find(names.begin(), names.end(), stack);
  COSMIC_REQUIRE(UserError, chosen != names.end(),
                 "the description of " << description.name << " has no stack '"
                                       << std::string(stack) << "' (did you mean '"
                                       << std::string(nearest_name(stack, names)) << "'?); it has "
                                       << list);
  const auto first = description.stacks.begin();
  std::rotate(first, first + (chosen - names.begin()), first + (chosen - names.begin()) + 1);
  description.unknowns = description.without_stack;
  for (const Unknown& own : description.stack().figures) {
    for (Unknown& unknown : description.unknowns) {
      if (unknown.figure.name == own.figure.name) {
        unknown = own;
      }
    }
  }
  return description;
}

}  // namespace cosmic::machine
