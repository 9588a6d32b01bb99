#include "profile/layer_text.hpp"

#include <fmt/core.h>

#include "page/markup.hpp"

namespace cosmic::profile {

std::string layer_text(const std::string& layer) {
  constexpr std::size_t kShownBegin = 8;
  constexpr std::size_t kShownEnd = 32;
  if (layer.empty()) {
    return "\xe2\x80\x93";
  }
  if (layer.size() <= kShownBegin + kShownEnd + 1) {
    return page::escaped(layer);
  }
  return fmt::format("<span title=\"{}\">{}\xe2\x80\xa6{}</span>", page::escaped(layer),
                     page::escaped(layer.substr(0, kShownBegin)),
                     page::escaped(layer.substr(layer.size() - kShownEnd)));
}

}  // namespace cosmic::profile
