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

}  // namespace

std::string_view nearest_name(std::string_view text, std::span<const std::string_view> names) {
  COSMIC_ASSERT(!names.empty());
  const std::string_view start = text.substr(0, kLongestName);
  return *std::min_element(names.begin(), names.end(), [&](std::string_view a, std::string_view b) {
    return edit_distance(start, a) < edit_distance(start, b);
  });
}

std::optional<std::string_view> similar_name(std::string_view text,
                                             std::span<const std::string_view> names) {
  const std::string_view nearest = nearest_name(text, names);
  const std::size_t wrong = edit_distance(text.substr(0, kLongestName), nearest);
  return 3 * wrong <= nearest.size() ? std::optional(nearest) : std::nullopt;
}

}  // namespace cosmic
