#include "report/page/facts.hpp"

#include <fmt/core.h>

#include "report/page/markup.hpp"

namespace cosmic::report::page {

void FactList::add(std::string_view name, std::string_view answer) {
  rows_ += fmt::format("<dt>{}</dt><dd>{}</dd>", name, answer);
}

std::string configuration_listing(std::string_view configuration, std::string_view mark) {
  const std::string attribute = mark.empty() ? "" : fmt::format(" class=\"{}\"", mark);
  return fmt::format("<h3>Configuration</h3><pre{}>{}</pre>", attribute, escaped(configuration));
}

std::string legend_entry(std::string_view hue, std::string_view meaning) {
  return fmt::format("<span><i class=\"swatch dot {}\"></i>{}</span>", hue, meaning);
}

}  // namespace cosmic::report::page
