#include "core/nearest_name.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <vector>

#include "core/error.hpp"

namespace cosmic {
namespace {

// The distance takes time in proportion to both lengths. Nobody's name is as long as this, so what
// follows in a hostile text is not looked at.
constexpr std::size_t kLongestName = 100;

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

/// Levenshtein's.
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

bool begins_like(std::string_view name, std::string_view text) {
  return name.size() >= text.size() &&
         std::equal(text.begin(), text.end(), name.begin(), same_letter);
}

}  // namespace

std::string_view nearest_name(std::string_view text, std::span<const std::string_view> names) {
  COSMIC_ASSERT(!names.empty());
  const std::string_view start = text.substr(0, kLongestName);
  return *std::min_element(names.begin(), names.end(), [&](std::string_view a, std::string_view b) {
    return edit_distance(start, a) < edit_distance(start, b);
  });
}

std::optional<std::string_view> near_name(std::string_view text,
                                          std::span<const std::string_view> names) {
  if (names.empty() || text.empty()) {
    return std::nullopt;
  }
  for (const std::string_view name : names) {
    if (begins_like(name, text)) {
      return name;
    }
  }
  constexpr std::size_t kOneLetterIn = 3;
  const std::string_view nearest = nearest_name(text, names);
  return text.size() <= kLongestName && kOneLetterIn * edit_distance(text, nearest) <= text.size()
             ? std::optional(nearest)
             : std::nullopt;
}

}  // namespace cosmic
