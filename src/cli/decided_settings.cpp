#include "cli/decided_settings.hpp"

#include "core/error.hpp"

namespace cosmic::cli {

void require_not_given(std::string_view command, std::span<const DecidedSetting> decided,
                       const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    for (const DecidedSetting& setting : decided) {
      COSMIC_REQUIRE(UserError, !word.starts_with(std::string(setting.setting) + "="),
                     std::string(command)
                         << " " << word << " (this command does not take it, and would lose it); "
                         << std::string(setting.instead));
    }
  }
}

}  // namespace cosmic::cli
