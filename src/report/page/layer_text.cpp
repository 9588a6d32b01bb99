#include "report/page/layer_text.hpp"

#include <fmt/core.h>

#include "report/page/markup.hpp"

namespace cosmic::report::page {

std::string layer_text(const std::string& layer) {
  constexpr std::size_t kShownBegin = 8;
  constexpr std::size_t kShownEnd = 32;
  if (layer.empty()) {
    return "\xe2\x80\x93";
  }
  if (layer.size() <= kShownBegin + kShownEnd + 1) {
    return escaped(layer);
  }
  return fmt::format("<span title=\"{}\">{}\xe2\x80\xa6{}</span>", escaped(layer),
                     escaped(layer.substr(0, kShownBegin)),
                     escaped(layer.substr(layer.size() - kShownEnd)));
}

}  // namespace cosmic::report::page
