#include "model/sequential.hpp"

#include <set>

#include "core/error.hpp"
#include "core/printable.hpp"

namespace cosmic::model {
namespace {

void require_names(const std::string& inside, const std::vector<Block>& blocks) {
  COSMIC_REQUIRE(UserError, !blocks.empty(),
                 inside << " has no blocks (it would compute nothing); give it one");
  std::set<std::string> names;
  for (const Block& block : blocks) {
    // A dot separates the names of blocks, a slash sets apart the optimizer's states.
    COSMIC_REQUIRE(UserError,
                   !block.name.empty() && block.name.find_first_of("./") == std::string::npos,
                   "a block of " << inside << " is named " << printable(block.name)
                                 << " (names are not empty and have no '.' or '/'); rename it");
    COSMIC_REQUIRE(UserError, names.insert(block.name).second,
                   "two blocks of " << inside << " are named " << printable(block.name)
                                    << " (their weights would have the same names); rename one");
    if (block.declare == nullptr) {
      require_names(inside + "." + block.name, block.inside);
    }
  }
}

Layer declare(graph::Builder& g, const std::vector<Block>& blocks, Phase phase) {
  std::vector<Layer> layers;
  layers.reserve(blocks.size());
  for (const Block& block : blocks) {
    layers.push_back(in_scope(g, block.name, [&] {
      return block.declare ? block.declare(g, phase) : declare(g, block.inside, phase);
    }));
  }
  return sequence(std::move(layers));
}

}  // namespace

Sequential::Sequential(std::string name, std::vector<Block> blocks)
    : name_(std::move(name)), blocks_(std::move(blocks)) {
  require_names("network '" + name_ + "'", blocks_);
}

graph::ValueId Sequential::logits(graph::Builder& g, graph::ValueId image, Phase phase) const {
  return declare(g, blocks_, phase)(g, image);
}

}  // namespace cosmic::model
