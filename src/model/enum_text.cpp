#include "model/enum_text.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/nearest_name.hpp"
#include "core/printable.hpp"

namespace cosmic::model {
namespace {

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) {
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

}  // namespace

std::size_t choose(std::string_view key, std::string_view text,
                   std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    throw UserError(std::string(key) + " = " + printable(text) +
                    " is not a choice (it must be one of: " + joined(names) + "); did you mean '" +
                    std::string(nearest_name(text, names)) + "'?");
  }
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace cosmic::model
