// The files of the page, which travel inside the program: HTML, a style sheet and scripts.
#pragma once

#include <span>
#include <string_view>

namespace cosmic::view {

struct PageFile {
  std::string_view name;  ///< "display.js"
  std::string_view text;
};

std::span<const PageFile> page_files();
/// Of a file that there is; anything else is a bug.
std::string_view page_text(std::string_view name);

}  // namespace cosmic::view
