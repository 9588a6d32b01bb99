// Links from pages to the event display, for who has it running: `cosmictagger view FILE`.
#pragma once

#include <cstdint>
#include <string>

namespace cosmic::report::page {

/// The port that `cosmictagger view` takes if it is free and no other was asked for.
inline constexpr int kDisplayPort = 8420;

/// HTML: a link to an event of the file that is viewed.
std::string display_link(std::int64_t entry);

/// HTML: a sentence that says how to make such links work. The file is text.
std::string display_hint(const std::string& file);

}  // namespace cosmic::report::page
