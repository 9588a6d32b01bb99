// Shipped machines with some figures changed, for cases that can be computed by hand.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "machine/description.hpp"
#include "target/registry.hpp"

namespace cosmic::machine_test {

inline machine::Description machine_with(
    const std::string& name, std::initializer_list<std::pair<std::string, double>> changes) {
  machine::Description result = target::find_machine(name);
  for (const auto& [figure, value] : changes) {
    bool found = false;
    for (machine::Figure& known : result.figures) {
      if (known.name == figure) {
        known.value = value;
        found = true;
      }
    }
    if (!found) {
      result = machine::with_unknown(result, figure, value);
    }
  }
  return result;
}

}  // namespace cosmic::machine_test
