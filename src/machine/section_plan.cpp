#include "machine/section_plan.hpp"

#include <set>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/yaml/yaml_tree.hpp"
#include "machine/text_file.hpp"

namespace cosmic::machine {
namespace {

[[noreturn]] void fail(const std::string& name, const YamlNode& at, const std::string& message) {
  throw UserError(name + ":" + std::to_string(at.line) + ": " + message);
}

const YamlNode& sections_of(const YamlNode& root, const std::string& name) {
  const bool is_plan = root.kind == YamlNode::Kind::map && root.items.size() == 2 &&
                       root.items[0].text == "sections" &&
                       root.items[1].kind == YamlNode::Kind::list && !root.items[1].items.empty();
  if (!is_plan) {
    fail(name, root,
         "this is not a section plan; write 'sections:' and a list of layers for each section");
  }
  return root.items[1];
}

}  // namespace

SectionPlan parse_section_plan(std::string_view text, const std::string& name) {
  const YamlNode root = parse_yaml(text, name);
  SectionPlan plan;
  std::set<std::string> known;
  for (const YamlNode& section : sections_of(root, name).items) {
    if (section.kind != YamlNode::Kind::list || section.items.empty()) {
      fail(name, section, "a section is a list of layers, such as [encoder, decoder.first]");
    }
    std::vector<std::string>& layers = plan.emplace_back();
    for (const YamlNode& layer : section.items) {
      if (layer.kind != YamlNode::Kind::word || layer.text.empty()) {
        fail(name, layer, "a layer is a name, as `cosmictagger graph` prints it");
      }
      if (!known.insert(layer.text).second) {
        fail(name, layer,
             "the layer '" + printable(layer.text) +
                 "' is named twice (an op belongs to one section); keep one");
      }
      layers.push_back(layer.text);
    }
  }
  return plan;
}

SectionPlan read_section_plan(const std::string& path) {
  return parse_section_plan(read_text_file(path, "section plan"), path);
}

}  // namespace cosmic::machine
