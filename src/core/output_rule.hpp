// The rule for every file that a command writes: what exists is replaced only if that was asked
// for, what the command reads never is, and nothing is written through a link. A command asks
// require_output() about all its outputs before it begins; PendingFile keeps to the answer.
#pragma once

#include <filesystem>
#include <vector>

#include "core/pending_file.hpp"

namespace cosmic {

struct OutputRule {
  Existing existing = Existing::refuse;
  /// What the command reads: events, weights, recipes. Those that do not exist do no harm.
  std::vector<std::filesystem::path> inputs = {};
};

/// Throws UserError, with what is in the way, if the rule does not let a command write `path`, or
/// if another process is writing it. Creates nothing; removes what dead processes left of that
/// name.
void require_output(const std::filesystem::path& path, const OutputRule& rule);

/// The same for a file that is added to: it may exist, but as a file of its own.
void require_appendable(const std::filesystem::path& path, const OutputRule& rule);

}  // namespace cosmic
