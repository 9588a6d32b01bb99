// A folder of compiled programs, so that a second start compiles nothing. Each file is named after
// the facts its program was made from. Processes may share a folder without knowing of each other:
// files appear whole or not at all, and one that vanishes or turns out damaged is only compiled
// again. Nothing here ends a run: what goes wrong becomes a warning in the plan's origin.
//
// A plan decides what is computed, so the folder must be private (private_folder.hpp): one that
// others can write, or a file in it that is not the user's own, is not used. Each file also says
// which key it was made for and carries a hash over that key and its plan, so that plans cannot
// change places. The hash finds mix-ups; it is the folder that keeps people out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "compile/plan.hpp"

namespace cosmic::compile::artifact {

/// A few hundred programs of the largest network.
inline constexpr std::uint64_t kDefaultCacheBytes = std::uint64_t{1} << 30;

class ExecutableCache {
 public:
  /// Keeps at most this many bytes of files; the least recently used are removed first.
  explicit ExecutableCache(std::filesystem::path folder,
                           std::uint64_t most_bytes = kDefaultCacheBytes);

  /// The plan made from these facts, if there is one that is sound; `target` has the last word on
  /// it. Why a file was refused goes to `warnings`.
  std::optional<compile::Plan> find(const compile::Facts& facts, const compile::TargetInfo& target,
                                    std::vector<std::string>& warnings) const;

  /// Writes the plan, then removes what is too much. Adds to the warnings of its origin.
  void keep(compile::Plan& plan) const;

  std::filesystem::path file_of(const compile::Facts& facts) const;

 private:
  void remove_what_is_too_much(const std::filesystem::path& newest) const;

  std::filesystem::path folder_;
  std::uint64_t most_bytes_;
};

}  // namespace cosmic::compile::artifact
