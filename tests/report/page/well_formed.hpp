// Is a page well-formed: does every element that is opened close, in order, with quoted attributes
// and no stray < or &? Enough of XML for what the report writes.
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cosmic::report::page {

/// What is wrong, with its surroundings; empty for a good page.
inline std::string what_is_malformed(std::string_view page) {
  const auto near = [&](std::size_t at) {
    return " near '" + std::string(page.substr(at, 60)) + "'";
  };
  std::vector<std::string> open;
  std::size_t at = 0;
  constexpr std::string_view kDoctype = "<!DOCTYPE html>";
  if (page.substr(0, kDoctype.size()) != kDoctype) {
    return "no doctype";
  }
  at = kDoctype.size();
  while (at < page.size()) {
    const char c = page[at];
    if (c == '&') {
      const std::size_t end = page.find(';', at);
      if (end == std::string_view::npos || end - at > 8 || end - at < 2) {
        return "a bare &" + near(at);
      }
      at = end + 1;
    } else if (c == '>') {
      return "a bare >" + near(at);
    } else if (c != '<') {
      ++at;
    } else if (page[at + 1] == '/') {
      const std::size_t end = page.find('>', at);
      const std::string name(page.substr(at + 2, end - at - 2));
      if (open.empty() || open.back() != name) {
        return "closes " + name + " inside " + (open.empty() ? "nothing" : open.back()) + near(at);
      }
      open.pop_back();
      at = end + 1;
    } else {
      std::size_t end = at + 1;
      while (end < page.size() && (std::isalnum(static_cast<unsigned char>(page[end])) != 0)) {
        ++end;
      }
      const std::string name(page.substr(at + 1, end - at - 1));
      if (name.empty()) {
        return "a bare <" + near(at);
      }
      // Attributes: name="value".
      while (page[end] == ' ') {
        const std::size_t equal = page.find('=', end);
        if (equal == std::string_view::npos || page[equal + 1] != '"') {
          return "an attribute without quotes" + near(at);
        }
        const std::size_t quote = page.find('"', equal + 2);
        if (quote == std::string_view::npos ||
            page.substr(equal, quote - equal).find('<') != std::string_view::npos) {
          return "an attribute that does not end" + near(at);
        }
        end = quote + 1;
      }
      if (page[end] == '/') {
        ++end;
      } else {
        open.push_back(name);
      }
      if (page[end] != '>') {
        return "an element that does not end" + near(at);
      }
      at = end + 1;
      if (!open.empty() && open.back() == "style") {
        at = page.find("</style>", at);  // its text is no markup; '>' means something else there
      }
    }
  }
  return open.empty() ? "" : "never closes " + open.back();
}

}  // namespace cosmic::report::page
