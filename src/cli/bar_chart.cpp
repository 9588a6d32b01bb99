#include "cli/bar_chart.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace cosmic::cli {
namespace {

constexpr std::array<const char*, 9> kEighths{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

std::vector<double> means(std::span<const double> values, std::size_t parts) {
  std::vector<double> result;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = values.size() * part / parts;
    const std::size_t end = values.size() * (part + 1) / parts;
    result.push_back(std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(begin),
                                     values.begin() + static_cast<std::ptrdiff_t>(end), 0.0) /
                     static_cast<double>(end - begin));
  }
  return result;
}

}  // namespace

std::string bar_chart(std::span<const double> values, std::size_t columns, std::size_t lines) {
  if (values.empty()) {
    return "";
  }
  const std::vector<double> bars = means(values, std::min(columns, values.size()));
  const double top = *std::max_element(bars.begin(), bars.end());
  const double scale = top > 0 ? static_cast<double>(8 * lines) / top : 0;
  std::string text;
  for (std::size_t line = lines; line-- > 0;) {
    text += line + 1 == lines ? fmt::format("{:>9.4f} ┤", top)
            : line == 0       ? fmt::format("{:>9.4f} ┤", 0.0)
                              : fmt::format("{:>9} │", "");
    for (const double bar : bars) {
      const auto eighths =
          static_cast<std::int64_t>(std::lround(bar * scale)) - static_cast<std::int64_t>(8 * line);
      text += kEighths[static_cast<std::size_t>(std::clamp<std::int64_t>(eighths, 0, 8))];
    }
    text += '\n';
  }
  return text;
}

}  // namespace cosmic::cli
