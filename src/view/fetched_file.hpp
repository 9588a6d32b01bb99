// A file of events that lies on a web server. Readers of HDF5 jump to and fro in a file, so it is
// fetched whole before it is looked at.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace cosmic::view {

/// http:// or https://
bool is_url(std::string_view place);

/// Fetches it into `folder` under the name that it has in the address. `goes_on` hears how many
/// bytes have come, of how many (0 if the server does not say), and ends it by false; then what it
/// returns does not exist. Throws UserError for an address without the name of a file, DataError if
/// the server cannot be reached, does not give the file, or gives only a part of it.
std::filesystem::path fetch_file(
    const std::string& url, const std::filesystem::path& folder,
    const std::function<bool(std::uint64_t got, std::uint64_t all)>& goes_on);

}  // namespace cosmic::view
