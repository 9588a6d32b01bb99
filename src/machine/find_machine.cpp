#include <algorithm>
#include <cctype>

#include "core/error.hpp"
#include "core/nearest_name.hpp"
#include "machine/description.hpp"
#include "machine/machine_library.hpp"
#include "machine/text_file.hpp"

namespace cosmic::machine {
namespace {

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
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
    return parse_description(read_text_file(name_or_file, "description of a machine"), name_or_file,
                             families);
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
