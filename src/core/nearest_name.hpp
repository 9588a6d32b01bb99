// "Did you mean ...?": the known name that is closest to a mistyped word.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace cosmic {

/// The one with the fewest letters to insert, delete or exchange, whatever their case; the first of
/// several. `names` is not empty.
std::string_view nearest_name(std::string_view text, std::span<const std::string_view> names);

/// The same if somebody may well have meant it: one that begins with the text, or that differs from
/// it in no more than every third letter.
std::optional<std::string_view> near_name(std::string_view text,
                                          std::span<const std::string_view> names);

}  // namespace cosmic
