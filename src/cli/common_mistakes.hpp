// Words that people try because other programs have them, with what they are called here.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command_table.hpp"

namespace cosmic::cli {

/// What this program calls a command that goes by other names elsewhere ("predict" is "infer"), if
/// it is one of `commands`; empty for other words.
std::string command_also_called(const std::string& word, std::span<const std::string> commands);

/// Throws UserError that says what to do instead for words of Hydra's command line that this
/// program does without: ~key, --cfg job.
void refuse_hydra_words(std::span<const std::string> words);

/// Throws UsageError for an option that the command does not have, with the one that is meant, or
/// with the setting that other programs have as an option (--lr, --batch-size).
void refuse_unknown_options(const CommandEntry& program, std::span<const std::string> words);

}  // namespace cosmic::cli
