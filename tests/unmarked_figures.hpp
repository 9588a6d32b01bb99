// Finds figures of a page about a modelled machine that could be taken for measurements.
#pragma once

#include <regex>
#include <string>
#include <vector>

namespace cosmic {

/// Texts of a well-formed page that have a number with a unit and stand in no element that says
/// where the number is from.
inline std::vector<std::string> unmarked_figures(const std::string& html) {
  static const std::regex figure(
      "[0-9][ \xe2\x80\xaf]*"
      "(s|ms|us|\xc2\xb5s|min|B|kB|MB|GB|TB|KiB|MiB|FLOP|[kMGTP]FLOP|%|B/s|[kMGT]B/"
      "s)([^a-zA-Z]|$)");
  static const std::regex marked("class=\"[^\"]*(modelled|given)");
  std::vector<std::string> unmarked;
  std::vector<bool> open;  // elements around the text: do they or one around them say it?
  std::size_t at = html.find("<body>");
  while (at < html.size()) {
    const std::size_t begin = html.find('<', at);
    const std::string text = html.substr(at, begin - at);
    if (std::regex_search(text, figure) && (open.empty() || !open.back())) {
      unmarked.push_back(text);
    }
    if (begin == std::string::npos) {
      break;
    }
    const std::size_t end = html.find('>', begin);
    const std::string tag = html.substr(begin, end - begin);
    if (tag[1] == '/') {
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(std::regex_search(tag, marked) || (!open.empty() && open.back()));
    }
    at = end + 1;
  }
  return unmarked;
}

}  // namespace cosmic
