// Settings that a command decides by its own options.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cosmic::cli {

struct DecidedSetting {
  std::string_view setting;  ///< "data.file"
  std::string_view instead;  ///< "give FILE"
};

/// Throws UserError if one of them is among the words, where it would be lost, and says what to do
/// instead.
void require_not_given(std::string_view command, std::span<const DecidedSetting> decided,
                       const std::vector<std::string>& words);

}  // namespace cosmic::cli
