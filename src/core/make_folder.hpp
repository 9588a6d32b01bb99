// A folder to write to, with those above it.
#pragma once

#include <filesystem>
#include <string_view>

namespace cosmic {

/// Makes it if there is none. `setting` is what names it. Throws UserError with the system's reason
/// if there can be none: a file in the way, links that lead round in a circle, no permission.
void make_folder(const std::filesystem::path& folder, std::string_view setting);

}  // namespace cosmic
