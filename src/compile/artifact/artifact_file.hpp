// Executables on disk: a file of compiled programs, each with the facts it was made from. It holds
// what the compiler made (graphs, steps, places in memory), not weights and no machine code;
// kernels are prepared when it is loaded. Files are checked in full before they are used, but
// whoever can write them decides what is computed: take them from people you trust.
//
//   magic "COSMICEX", format u32, checksum u32 (CRC-32C of all that follows), length u64 (of it)
//   writer: text; notes: facts; programs: count, and each its facts and the bytes of its plan
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/plan.hpp"
#include "core/pending_file.hpp"

namespace cosmic::compile::artifact {

/// Raised whenever the bytes mean something else. A file of another format is refused, not guessed.
inline constexpr std::uint32_t kFormat = 4;
/// Of an executable's name, as files of the cache have it.
inline constexpr std::string_view kExtension = ".cosmicx";

/// The note that has the settings of the run that a file was compiled for.
inline constexpr const char* kConfigurationNote = "configuration";

/// The program that writes: its version and the sources of its compiler. A plan is good for exactly
/// the compiler that made it.
std::string writer();

/// One program of a file. Its plan is decoded when it is wanted.
struct StoredProgram {
  compile::Facts made_from;
  std::string plan;  ///< plan_bytes
};

struct Artifact {
  compile::Facts notes;  ///< what else its writer had to say, such as a configuration
  std::vector<StoredProgram> programs;
};

/// The bytes of a file. The plans must have an origin that says what they were made from.
std::string artifact_bytes(std::span<const compile::Plan* const> plans,
                           const compile::Facts& notes = {});
/// Throws DataError that says what is wrong if the bytes are not an executable that this program
/// can use: another kind of file, another format, cut short, damaged, of another version.
Artifact artifact_of(std::string_view bytes);

/// The content of a file with its header and checksum in front, and back. Tests and fuzzers use
/// them to reach what a checksum hides.
std::string sealed(std::string_view content);
std::string_view unsealed(std::string_view bytes);

void save_artifact(const std::filesystem::path& path, std::span<const compile::Plan* const> plans,
                   Existing existing, const compile::Facts& notes = {});
/// The largest file that is read.
inline constexpr std::uint64_t kMostArtifactBytes = std::uint64_t{1} << 30;

/// Messages begin with the path.
Artifact load_artifact(const std::filesystem::path& path);

/// A short text that stands for the facts: equal facts, equal text.
std::string key_of(const compile::Facts& facts);

/// The value of a fact; null if there is no such fact.
const std::string* find_fact(const compile::Facts& facts, std::string_view name);

/// One line for each fact that differs, with both sides; empty if none does.
std::string differences(const compile::Facts& there, const compile::Facts& here);

/// The plan made from these facts. Throws DataError naming each fact that differs from those of the
/// program that comes closest, and what is wrong with its plan.
compile::Plan plan_made_from(const compile::Facts& facts, const Artifact& artifact);

}  // namespace cosmic::compile::artifact
