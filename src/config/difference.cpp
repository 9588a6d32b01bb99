#include "config/difference.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "config/schema.hpp"
#include "core/error.hpp"

namespace cosmic::config {
namespace {

std::vector<Difference> those_that(OnResume on_resume, std::vector<Difference> differences) {
  std::erase_if(differences,
                [&](const Difference& change) { return change.on_resume != on_resume; });
  return differences;
}

}  // namespace

std::vector<Difference> difference(const Configuration& before, const Configuration& now) {
  std::vector<Difference> differences;
  for (const Key& key : schema()) {
    const bool applies = key.applies_to(before) || key.applies_to(now);
    if (applies && key.read(before) != key.read(now)) {
      differences.push_back(
          {key.name, to_text(key.read(before)), to_text(key.read(now)), key.on_resume});
    }
  }
  return differences;
}

std::string to_text(std::span<const Difference> differences) {
  std::size_t width = 0;
  for (const Difference& change : differences) {
    width = std::max(width, change.key.size());
  }
  std::string text;
  for (const Difference& change : differences) {
    text +=
        fmt::format("  {:<{}}  was {}, is now {}\n", change.key, width, change.before, change.now);
  }
  return text;
}

std::vector<Difference> require_resumable(const Configuration& before, const Configuration& now) {
  const std::vector<Difference> changes = difference(before, now);
  const std::vector<Difference> refused = those_that(OnResume::refuse, changes);
  COSMIC_REQUIRE(UserError, refused.empty(),
                 "the run cannot resume with these settings changed (its weights or the state of "
                 "its optimizer would not fit):\n"
                     << to_text(refused) << "restore them, or start a new run with another run.id");
  return those_that(OnResume::warn, changes);
}

}  // namespace cosmic::config
