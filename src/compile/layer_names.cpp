#include "compile/layer_names.hpp"

#include <algorithm>
#include <set>

#include "core/error.hpp"
#include "core/nearest_name.hpp"
#include "core/printable.hpp"

namespace cosmic::compile {

bool belongs_to(std::string_view layer, std::string_view block) {
  return layer.starts_with(block) && (layer.size() == block.size() || layer[block.size()] == '.');
}

bool is_work(const graph::Node& node) {
  return graph::op_if<graph::State>(node) == nullptr && graph::op_if<graph::Input>(node) == nullptr;
}

std::vector<std::string> block_names(const graph::Graph& graph) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const graph::Node& node : graph.nodes()) {
    if (!is_work(node) || node.name.empty()) {
      continue;
    }
    for (std::size_t dot = node.name.find('.');; dot = node.name.find('.', dot + 1)) {
      std::string block = node.name.substr(0, dot);
      if (known.insert(block).second) {
        names.push_back(std::move(block));
      }
      if (dot == std::string::npos) {
        break;
      }
    }
  }
  return names;
}

void require_block(const graph::Graph& graph, std::string_view option, const std::string& block) {
  const std::vector<std::string> names = block_names(graph);
  if (std::find(names.begin(), names.end(), block) != names.end()) {
    return;
  }
  COSMIC_REQUIRE(UserError, !names.empty(),
                 option << " names " << printable(block)
                        << ", but the layers of this model have no names; give them scopes");
  const std::vector<std::string_view> views(names.begin(), names.end());
  throw UserError(std::string(option) + " names " + printable(block) +
                  ", which is not a block of this model (it has " + std::to_string(names.size()) +
                  "); did you mean '" + std::string(nearest_name(block, views)) + "'?");
}

}  // namespace cosmic::compile
