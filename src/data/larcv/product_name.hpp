// A product is named by its type and its producer, and stored in a group whose name holds both:
// `sparse2d_sbndwire_group`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cosmic::data::larcv {

inline constexpr std::string_view kSparse2d = "sparse2d";
inline constexpr std::string_view kCluster2d = "cluster2d";
inline constexpr std::string_view kParticle = "particle";
inline constexpr std::string_view kBox2d = "bbox2d";

/// larcv3 reads group names into a buffer of this many bytes and a NUL.
inline constexpr std::size_t kMaxGroupName = 127;

struct ProductName {
  std::string type;
  std::string producer;

  friend bool operator==(const ProductName&, const ProductName&) = default;
};

/// sparse2d_sbndwire_group. Throws UserError if larcv3 could not take that name apart again: the
/// type must have no underscore, neither may be empty or hold a '/', and the whole has a length
/// limit.
std::string group_name(const ProductName& product);

/// The type is what comes before the first underscore, the producer what is between the first and
/// the last. Nothing if larcv3 would not accept the name: fewer than two underscores, an empty
/// part, or an end other than `group`.
std::optional<ProductName> parse_group_name(std::string_view group);

}  // namespace cosmic::data::larcv
