// Valid UTF-8 is all that files and logs carry safely from one machine to another.
#pragma once

#include <string_view>

namespace cosmic::config {

bool is_utf8(std::string_view text);

}  // namespace cosmic::config
