// "Did you mean ...?": the known name that is closest to a mistyped word.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace cosmic {

/// The one with the fewest letters to insert, delete or exchange, whatever their case; the first of
/// several. `names` is not empty.
std::string_view nearest_name(std::string_view text, std::span<const std::string_view> names);

/// The same, if at most a third of its letters are wrong: where there are many names for many
/// things, one that is further off was not meant.
std::optional<std::string_view> similar_name(std::string_view text,
                                             std::span<const std::string_view> names);

}  // namespace cosmic
