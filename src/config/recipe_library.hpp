// The recipes of the folder recipes/, which the build puts into the program.
#pragma once

#include <span>
#include <string_view>

namespace cosmic::config {

struct BuiltInRecipe {
  std::string_view name;
  std::string_view text;
};

std::span<const BuiltInRecipe> recipe_library();

}  // namespace cosmic::config
