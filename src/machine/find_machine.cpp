#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/error.hpp"
#include "core/nearest_name.hpp"
#include "machine/description.hpp"
#include "machine/machine_library.hpp"

namespace cosmic::machine {
namespace {

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Description read_file(const std::string& path, Families families) {
  std::error_code ignored;  // a pipe or a device would wait or never end
  COSMIC_REQUIRE(UserError, std::filesystem::is_regular_file(path, ignored),
                 "there is no description " << path << " (no such file); give a file, or one of "
                                            << "the machines of the program by name");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  COSMIC_REQUIRE(
      UserError, file.good(),
      "the description " << path << " cannot be read; check that you are allowed to read it");
  return parse_description(text.str(), path, families);
}

}  // namespace

std::vector<std::string> built_in_machines() {
  std::vector<std::string> names;
  for (const BuiltInMachine& machine : machine_library()) {
    names.emplace_back(machine.name);
  }
  return names;
}

Description find_machine(const std::string& name_or_file, Families families) {
  if (name_or_file.find('/') != std::string::npos || name_or_file.ends_with(".yaml")) {
    return read_file(name_or_file, families);
  }
  std::vector<std::string_view> names;
  std::string list;
  for (const BuiltInMachine& machine : machine_library()) {
    if (machine.name == lower_case(name_or_file)) {
      return parse_description(machine.text, "machine " + std::string(machine.name), families);
    }
    names.push_back(machine.name);
    list += (list.empty() ? "" : ", ") + std::string(machine.name);
  }
  throw UserError("there is no machine '" + name_or_file + "' (did you mean '" +
                  std::string(nearest_name(name_or_file, names)) + "'?); there are " + list +
                  ", or give a file that describes one");
}

}  // namespace cosmic::machine
