// Text for a page: what comes from files and settings is made harmless, numbers are written the way
// people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cosmic::report::page {

/// With the letters that mean something in HTML replaced, so that it is text wherever it stands, in
/// attributes too. Bytes that are not UTF-8 become U+FFFD, control characters spaces.
std::string escaped(std::string_view text);

std::string base64(std::string_view bytes);

/// "97.3 %" with spaces that do not break; a dash for NaN.
std::string percent_text(double share, int decimals = 1);
/// "12 345", with spaces that do not break; counts are not negative.
std::string count_text(std::int64_t count);

}  // namespace cosmic::report::page
