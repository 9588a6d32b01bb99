// Port kits for tests: written for a tiny network, and run by a Python that has what they need.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "config/schema.hpp"
#include "port/port_kit.hpp"
#include "run_command.hpp"

namespace cosmic::port {

/// The first Python with these modules: Debian's is not always the first of the path.
inline std::optional<std::string> python_with(const std::string& modules) {
  for (const std::string python : {"python3", "/usr/bin/python3"}) {
    if (run_command(python + " -c 'import " + modules + "'").status == 0) {
      return python;
    }
  }
  return std::nullopt;
}

/// "network.depth=3 ...": all of them.
inline std::vector<std::string> words_of(const model::UResNetOptions& options) {
  config::Configuration configuration;
  configuration.network = options;
  std::vector<std::string> words;
  for (const config::Key& key : config::schema()) {
    if (key.name.starts_with("network.") && key.applies_to(configuration)) {
      words.push_back(key.name + "=" + config::to_text(key.read(configuration)));
    }
  }
  return words;
}

inline WrittenKit write_kit(const KitRequest& request) {
  return write_port_kit(
      request, {.warning = [](const checkpoint::Warning&) {}, .note = [](const std::string&) {}});
}

}  // namespace cosmic::port
