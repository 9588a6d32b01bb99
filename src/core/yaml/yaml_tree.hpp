// The part of YAML that settings need, as a plain tree: words, lists and maps. What could make a
// small file grow or do more than say something is refused: aliases, tags, nesting without end, a
// second document.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cosmic {

struct YamlNode {
  enum class Kind : std::uint8_t { nothing, word, list, map };

  Kind kind = Kind::nothing;
  int line = 1;
  std::string text = {};             ///< of a word
  std::vector<YamlNode> items = {};  ///< of a list; of a map, keys and values in turns
};

/// Throws UserError that begins with "NAME:LINE: ".
YamlNode parse_yaml(std::string_view text, const std::string& name);

}  // namespace cosmic
