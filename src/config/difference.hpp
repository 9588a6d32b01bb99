// What changed between two configurations, and whether a run may resume with the new one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "config/key.hpp"

namespace cosmic::config {

struct Difference {
  std::string key;
  std::string before;
  std::string now;
  OnResume on_resume;
};

/// Compares the keys that apply to at least one of them.
std::vector<Difference> difference(const Configuration& before, const Configuration& now);

/// One line for each, in columns.
std::string to_text(std::span<const Difference> differences);

/// Throws UserError with the differences that a run cannot resume with. Returns those that it can,
/// but that change its results, to be shown.
std::vector<Difference> require_resumable(const Configuration& before, const Configuration& now);

}  // namespace cosmic::config
