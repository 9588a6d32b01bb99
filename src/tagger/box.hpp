// The networks that come with the program, for who will never train one.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cosmic::tagger {

/// `fast` tags in the blink of an eye on a CPU, `best` has the best result.
inline constexpr std::array<std::string_view, 2> kBoxedNetworks{"fast", "best"};
/// What tags where nobody chooses.
inline constexpr std::string_view kDefaultNetwork = "best";

/// Names a folder that is looked at before all others.
inline constexpr const char* kWeightsVariable = "COSMICTAGGER_WEIGHTS";

/// Folders that may hold them, in the order in which they are looked at: the one that the variable
/// names, and share/cosmictagger/weights below each folder above the program or library, so that an
/// installed prefix can be moved, and a build tree works like one.
std::vector<std::filesystem::path> weights_folders();

/// The file of a network. Throws UserError for a name that there is not, and, with where it looked,
/// if the file is nowhere.
std::filesystem::path boxed_network(std::string_view name = kDefaultNetwork);

/// What the network in this file is called, if it is one of those in the box.
std::optional<std::string_view> boxed_name(const std::filesystem::path& file);

/// The weights that somebody names as "fast" or "best", or not at all: those in the box. Whatever
/// else is named, and a file or folder that happens to have such a name, stays as it is.
std::string weights_or_boxed(const std::string& named);

}  // namespace cosmic::tagger
