#include "port/kit_settings.hpp"

#include <nlohmann/json.hpp>

#include "config/schema.hpp"

namespace cosmic::port {
namespace {

/// The place of a dotted name, made where there is none.
nlohmann::ordered_json& at(nlohmann::ordered_json& root, std::string_view name) {
  nlohmann::ordered_json* place = &root;
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    place = &(*place)[std::string(name.substr(0, dot))];
    name.remove_prefix(dot + 1);
  }
  return (*place)[std::string(name)];
}

}  // namespace

nlohmann::ordered_json configuration_json(const config::Configuration& configuration) {
  nlohmann::ordered_json root;
  for (const config::Key& key : config::schema()) {
    std::visit([&](const auto& value) { at(root, key.name) = value; }, key.read(configuration));
  }
  return root;
}

}  // namespace cosmic::port
