// Recipes: settings in a YAML file, for runs that are repeated.
//
//   defaults:               # choices of groups, as the reference writes them
//     - override network: a21
//   data: synthetic         # the same, shorter
//   run:
//     minibatch_size: 8
//
// A recipe is data from outside: it can say what the schema knows, and nothing in it opens another
// file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/given.hpp"

namespace cosmic::config {

/// Bytes: a hundred times a file with every key. What is longer is not a recipe.
inline constexpr std::size_t kLongestRecipe = 1 << 20;

struct RecipeText {
  std::string name;  ///< for messages: where it came from
  std::string text;
};

/// `name` is that of a built-in recipe, that of a file NAME.yaml in `folder`, or a path to a file.
/// A file in `folder` comes before a built-in one. Throws UserError if there is none.
RecipeText find_recipe(const std::string& name, const std::filesystem::path& folder = {});

/// Names of those that come with the program.
std::vector<std::string> built_in_recipes();

/// Throws UserError with the line of whatever is wrong.
Given read_recipe(const RecipeText& recipe);

}  // namespace cosmic::config
