// The page as files of their own, and as one file with chosen events in it that needs no server: to
// be mailed, archived, or shown in a talk.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "view/event_store.hpp"

namespace cosmic::view {

/// The page as the server gives it: style and scripts are files beside it.
std::string served_page();

/// Everything in one file. Throws UserError for a number without an event, DataError for an event
/// that cannot be read.
std::string exported_page(const EventStore& events, const std::vector<std::int64_t>& entries);

/// "3,7,12" as numbers. Throws UserError for anything else, and for more than a page can hold.
std::vector<std::int64_t> parse_entries(std::string_view text);

}  // namespace cosmic::view
