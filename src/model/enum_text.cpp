#include "model/enum_text.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

#include "core/error.hpp"

namespace cosmic::model {
namespace {

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

/// Letters to insert, delete or exchange to get from a to b (Levenshtein), whatever their case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t exchanged = diagonal + (same_letter(a[i], b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({exchanged, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) {
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

}  // namespace

std::size_t choose(std::string_view key, std::string_view text,
                   std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    const auto nearest =
        std::min_element(names.begin(), names.end(), [&](std::string_view a, std::string_view b) {
          return edit_distance(text, a) < edit_distance(text, b);
        });
    throw UserError(std::string(key) + " = '" + std::string(text) +
                    "' is not a choice (it must be one of: " + joined(names) + "); did you mean '" +
                    std::string(*nearest) + "'?");
  }
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace cosmic::model
