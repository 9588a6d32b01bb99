// Which files are meant by what a user wrote: names, and patterns such as runs/*.h5.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace cosmic::data::larcv {

/// Does the name stand for whatever files match it? Not if there is a file of just that name.
bool is_pattern(const std::filesystem::path& name);

/// Is there any file that matches a pattern?
bool matches_file(const std::filesystem::path& pattern);

/// Each name where it stands, and for a pattern the files that match it, sorted by name. A name
/// without a file stays: who opens it says what is wrong. Throws UserError for a pattern that
/// nothing matches and for a file that is there twice. `given_as` is where the names come from,
/// for the message: "data.file".
std::vector<std::filesystem::path> find_event_files(std::span<const std::filesystem::path> names,
                                                    std::string_view given_as);

}  // namespace cosmic::data::larcv
