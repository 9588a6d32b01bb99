// The files of the folder kit/, which the build puts into the program.
#pragma once

#include <string_view>

namespace cosmic::port {

/// Throws InternalError if there is none of that name.
std::string_view kit_text(std::string_view name);

}  // namespace cosmic::port
