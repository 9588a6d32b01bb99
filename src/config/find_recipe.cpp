#include <fstream>

#include "config/recipe.hpp"
#include "config/recipe_library.hpp"
#include "core/error.hpp"
#include "model/enum_text.hpp"

namespace cosmic::config {
namespace {

bool is_path(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".yaml") || name.ends_with(".yml");
}

RecipeText read_file(const std::filesystem::path& path) {
  // A pipe or a device would wait or never end.
  std::error_code ignored;
  COSMIC_REQUIRE(UserError, std::filesystem::is_regular_file(path, ignored),
                 "there is no recipe " << path.string()
                                       << " (no such file); give a file, or a built-in "
                                       << "recipe by name");
  std::ifstream file(path, std::ios::binary);
  std::string text(kLongestRecipe + 1, '\0');  // enough to see that it is too long
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  COSMIC_REQUIRE(UserError, file.eof() || file.good(),
                 "the recipe " << path.string()
                               << " cannot be read; check that you have permission to read it");
  text.resize(static_cast<std::size_t>(file.gcount()));
  return {path.string(), std::move(text)};
}

}  // namespace

std::vector<std::string> built_in_recipes() {
  std::vector<std::string> names;
  for (const BuiltInRecipe& recipe : recipe_library()) {
    names.emplace_back(recipe.name);
  }
  return names;
}

RecipeText find_recipe(const std::string& name, const std::filesystem::path& folder) {
  if (is_path(name)) {
    return read_file(folder / name);
  }
  const std::filesystem::path own = folder / (name + ".yaml");
  std::error_code ignored;
  if (!folder.empty() && std::filesystem::is_regular_file(own, ignored)) {
    return read_file(own);
  }
  std::vector<std::string_view> names;
  for (const BuiltInRecipe& recipe : recipe_library()) {
    names.push_back(recipe.name);
  }
  const BuiltInRecipe& recipe = recipe_library()[model::choose("--config-name", name, names)];
  return {"recipe " + std::string(recipe.name), std::string(recipe.text)};
}

}  // namespace cosmic::config
