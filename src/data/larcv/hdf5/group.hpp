// The names in a group.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/larcv/hdf5/file.hpp"

namespace cosmic::data::larcv::hdf5 {

/// Only hard links are followed. A soft or external link names something by text, perhaps in
/// another file: the maker of the file would choose what this program opens.
enum class LinkKind : std::uint8_t { hard, soft, external, unknown };

struct Link {
  std::string name;
  LinkKind kind = LinkKind::hard;
  std::uint64_t header = kNoAddress;  ///< of a hard link: the object header of what it names
};

/// Why a link of that kind is not followed: "a soft link (it names ...)".
const char* why_refused(LinkKind kind);

class Group {
 public:
  /// The root of a file.
  explicit Group(const File& file);

  /// "/Data"; "" for the root.
  const std::string& path() const { return path_; }
  const std::vector<Link>& links() const { return links_; }
  const Link* find(std::string_view name) const;
  /// Where the object header of a member is. It must be there, under a hard link.
  std::uint64_t member(std::string_view name) const;
  Group group(std::string_view name) const;
  /// The group that a link of this one names.
  Group group(const Link& link) const;
  std::string path_of(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  Group(const File& file, std::uint64_t header, std::string path);

  const File* file_;
  std::string path_;
  std::vector<Link> links_;
};

}  // namespace cosmic::data::larcv::hdf5
