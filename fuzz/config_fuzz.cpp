// Gives any bytes to the configuration parser, as a recipe and, line by line, as the words of a
// command line. The only thing that may happen is a UserError, or a configuration that is the same
// after it was written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "config/dump.hpp"
#include "config/parse.hpp"
#include "core/error.hpp"

namespace cosmic::config {
namespace {

void require_same_after_saving(const Configuration& configuration) {
  if (from_yaml(to_yaml(configuration), "saved") != configuration) {
    std::abort();
  }
}

void read_as_recipe(std::string_view text) {
  try {
    require_same_after_saving(from_yaml(text, "recipe"));
  } catch (const UserError&) {
  }
}

/// Options are left out: they name files of the machine.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view word = text.substr(0, end);
    if (!word.starts_with('-')) {
      words.emplace_back(word);
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return words;
}

void read_as_command_line(std::string_view text) {
  try {
    require_same_after_saving(parse(words_of(text), {.missing = MissingKeys::leave}).configuration);
  } catch (const UserError&) {
  }
}

}  // namespace
}  // namespace cosmic::config

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  cosmic::config::read_as_recipe(text);
  cosmic::config::read_as_command_line(text);
  return 0;
}
