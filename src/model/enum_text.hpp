// Options that are one word out of a few: the words, both ways. An enumeration takes part by
// specialising EnumText; a word nobody knows stops with the words that would do.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace cosmic::model {

/// Specialise with `key`, the option's name for people, and `names`, an array of the enumerators'
/// texts in their order; enumerators count from 0.
template <class Enum>
struct EnumText;

template <class Enum>
concept TextEnum = requires {
  std::string_view(EnumText<Enum>::key);
  std::span<const std::string_view>(EnumText<Enum>::names);
};

/// The position of `text` in `names`. Throws UserError naming key, text, choices and the nearest.
std::size_t choose(std::string_view key, std::string_view text,
                   std::span<const std::string_view> names);

template <TextEnum Enum>
std::string to_string(Enum value) {
  return std::string(EnumText<Enum>::names.at(static_cast<std::size_t>(value)));
}

/// parse_enum<Connections>("sum").
template <TextEnum Enum>
Enum parse_enum(std::string_view text) {
  return static_cast<Enum>(choose(EnumText<Enum>::key, text, EnumText<Enum>::names));
}

}  // namespace cosmic::model
