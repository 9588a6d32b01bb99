#include "checkpoint/pickle_nesting.hpp"

#include <algorithm>
#include <cstdint>

#include "core/error.hpp"

namespace cosmic::checkpoint {
namespace {

std::vector<PickleId> children_of(const PickleValue& value) {
  if (const auto* tuple = std::get_if<PickleTuple>(&value)) {
    return tuple->items;
  }
  if (const auto* list = std::get_if<PickleList>(&value)) {
    return list->items;
  }
  std::vector<PickleId> children;
  if (const auto* dict = std::get_if<PickleDict>(&value)) {
    for (const auto& [key, item] : dict->items) {
      children.push_back(item);
    }
  }
  return children;
}

}  // namespace

void require_bounded_nesting(const PickleTree& tree, std::size_t max_depth) {
  enum class Mark : std::uint8_t { unseen, open, done };
  struct Visit {
    PickleId id;
    std::vector<PickleId> children;
    std::size_t next = 0;
  };
  std::vector<Mark> marks(tree.values.size(), Mark::unseen);
  std::vector<std::size_t> heights(tree.values.size(), 0);
  std::vector<Visit> path;
  const auto enter = [&](PickleId id) {
    marks[id.index()] = Mark::open;
    path.push_back({id, children_of(tree.at(id))});
  };
  enter(tree.root);
  while (!path.empty()) {
    Visit& visit = path.back();
    std::size_t& height = heights[visit.id.index()];
    if (visit.next > 0) {
      height = std::max(height, heights[visit.children[visit.next - 1].index()] + 1);
    }
    COSMIC_REQUIRE(DataError, path.size() <= max_depth && height < max_depth,
                   "its values are nested more than "
                       << max_depth
                       << " deep (a checkpoint's are six); the file is damaged or was not written "
                          "by PyTorch");
    if (visit.next == visit.children.size()) {
      marks[visit.id.index()] = Mark::done;
      path.pop_back();
      continue;
    }
    const PickleId child = visit.children[visit.next++];
    COSMIC_REQUIRE(DataError, marks[child.index()] != Mark::open,
                   describe(tree.at(child)) << " contains itself (it has no end); the file is "
                                               "damaged or was not written by PyTorch");
    if (marks[child.index()] == Mark::unseen) {
      enter(child);
    }
  }
}

}  // namespace cosmic::checkpoint
