// A typed index: an Id<Node_> cannot be mistaken for an Id<Buffer_> or for a plain number.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace cosmic {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : index_(static_cast<std::uint32_t>(index)) {}

  constexpr std::size_t index() const { return index_; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  std::uint32_t index_ = 0;
};

}  // namespace cosmic

template <class Tag>
struct std::hash<cosmic::Id<Tag>> {
  std::size_t operator()(cosmic::Id<Tag> id) const { return std::hash<std::size_t>{}(id.index()); }
};
