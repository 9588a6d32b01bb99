// The reference's index of a checkpoint folder: a text file `checkpoint` of lines `latest: FILE`
// and `STEP: FILE`, newest first. People edit it to go back to an earlier state, so it is read
// leniently: a line that makes no sense is reported and skipped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cosmic::checkpoint {

/// Something about a file that the user should know although the work continues.
struct Warning {
  std::filesystem::path file;
  std::string reason;
};

struct IndexEntry {
  std::int64_t step = 0;
  std::string file;  ///< a name in the same folder
};

struct CheckpointIndex {
  std::string latest;  ///< empty if the index names none
  std::vector<IndexEntry> entries;
};

inline constexpr const char* kIndexName = "checkpoint";

/// Never throws: what cannot be used is skipped and reported in `warnings`.
CheckpointIndex parse_index(std::string_view text, const std::filesystem::path& path,
                            std::vector<Warning>& warnings);
/// An empty one if there is no such file.
CheckpointIndex read_index(const std::filesystem::path& path, std::vector<Warning>& warnings);
std::string to_text(const CheckpointIndex& index);

/// The step in a name such as model-14.safetensors; nothing if it is not so named.
std::optional<std::int64_t> step_in_name(std::string_view file_name);

/// The two numbers of a name as PopDist's instances use it, such as model-14-2.safetensors.
struct InstanceName {
  std::int64_t step = 0;
  std::int64_t instance = 0;
};
std::optional<InstanceName> instance_in_name(std::string_view file_name);

}  // namespace cosmic::checkpoint
