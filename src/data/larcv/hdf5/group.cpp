#include "data/larcv/hdf5/group.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "data/larcv/hdf5/advice.hpp"
#include "data/larcv/hdf5/block_reader.hpp"
#include "data/larcv/hdf5/object_header.hpp"
#include "data/larcv/hdf5/unsupported.hpp"

namespace cosmic::data::larcv::hdf5 {
namespace {

constexpr std::size_t kTreeHeaderBytes = 24;
constexpr std::size_t kHeapHeaderBytes = 32;
constexpr std::size_t kNodeHeaderBytes = 8;
constexpr std::size_t kSymbolBytes = 40;
constexpr std::uint32_t kSymbolIsSoftLink = 2;
// Far more than a group of products needs. They keep a hostile file from filling memory or, with a
// tree whose branches meet again, from never coming to an end.
constexpr std::uint64_t kMaxHeapBytes = 1 << 24;
constexpr std::size_t kMaxLinks = 1 << 12;
constexpr std::size_t kMaxNodes = 1 << 10;

/// A group as HDF5 first stored them: a tree whose leaves list names that are kept in a heap.
class SymbolTable {
 public:
  SymbolTable(const File& file, std::string_view what, std::uint64_t tree, std::uint64_t heap)
      : file_(file), what_(what) {
    read_heap(heap);
    read_tree(tree, -1);
  }

  std::vector<Link> take() { return std::move(links_); }

 private:
  void read_heap(std::uint64_t address) {
    const auto header = file_.read(address, kHeapHeaderBytes, what_);
    ByteReader cursor = block_reader(header, what_);
    expect_signature(cursor, "HEAP");
    cursor.skip(4);  // the version, and reserved bytes
    const std::uint64_t bytes = cursor.u64();
    COSMIC_REQUIRE(DataError, bytes <= kMaxHeapBytes,
                   what_ << " keeps its names in " << bytes << " bytes (at most " << kMaxHeapBytes
                         << " are sensible); " << kDamaged);
    cursor.skip(8);  // free space
    heap_ = file_.read(cursor.u64(), static_cast<std::size_t>(bytes), what_);
  }

  /// `level` is what the parent promised, so that a tree that bites its tail comes to an end.
  void read_tree(std::uint64_t address, int level) {
    count_node();
    const auto header = file_.read(address, kTreeHeaderBytes, what_);
    ByteReader cursor = block_reader(header, what_);
    expect_signature(cursor, "TREE");
    const unsigned type = cursor.u8();
    const int own_level = cursor.u8();
    COSMIC_REQUIRE(DataError, type == 0 && (level < 0 || own_level == level),
                   what_ << " has a tree node of type " << type << " and level " << own_level
                         << " where another is expected; " << kDamaged);
    const std::size_t entries = cursor.u16();
    const auto body = file_.read(address + kTreeHeaderBytes, entries * 16, what_);
    ByteReader children = block_reader(body, what_);
    for (std::size_t i = 0; i < entries; ++i) {
      children.skip(8);  // a name to search by
      const std::uint64_t child = children.u64();
      if (own_level > 0) {
        read_tree(child, own_level - 1);
      } else {
        read_leaf(child);
      }
    }
  }

  void read_leaf(std::uint64_t address) {
    count_node();
    const auto header = file_.read(address, kNodeHeaderBytes, what_);
    ByteReader cursor = block_reader(header, what_);
    expect_signature(cursor, "SNOD");
    cursor.skip(2);  // the version, and a reserved byte
    const std::size_t symbols = cursor.u16();
    COSMIC_REQUIRE(DataError, links_.size() + symbols <= kMaxLinks,
                   what_ << " has more than " << kMaxLinks << " names; " << kDamaged);
    const auto body = file_.read(address + kNodeHeaderBytes, symbols * kSymbolBytes, what_);
    ByteReader entries = block_reader(body, what_);
    for (std::size_t i = 0; i < symbols; ++i) {
      Link link;
      link.name = name_at(entries.u64());
      link.header = entries.u64();
      link.kind = entries.u32() == kSymbolIsSoftLink ? LinkKind::soft : LinkKind::hard;
      entries.skip(20);  // reserved, and what is cached of the object
      links_.push_back(std::move(link));
    }
  }

  void count_node() {
    COSMIC_REQUIRE(DataError, ++nodes_ <= kMaxNodes,
                   what_ << " has a tree of more than " << kMaxNodes << " nodes; " << kDamaged);
  }

  std::string name_at(std::uint64_t offset) const {
    COSMIC_REQUIRE(
        DataError, offset < heap_.size(),
        what_ << " has a name at byte " << offset << " of " << heap_.size() << "; " << kDamaged);
    const std::span<const std::byte> heap = heap_;
    const std::span<const std::byte> rest = heap.subspan(static_cast<std::size_t>(offset));
    // Not to the end of the heap, which each of the names would search for its own end.
    ByteReader cursor = block_reader(rest.first(std::min(rest.size(), kMaxName + 1)), what_);
    return read_name(cursor);
  }

  const File& file_;
  std::string_view what_;
  std::vector<std::byte> heap_;
  std::vector<Link> links_;
  std::size_t nodes_ = 0;
};

/// A link of a new-style group, which is a message of its own.
Link read_link(const Message& message, std::string_view what) {
  constexpr unsigned kHasKind = 0x08;
  constexpr unsigned kHasOrder = 0x04;
  constexpr unsigned kHasCharacterSet = 0x10;
  ByteReader cursor = block_reader(message.body, what);
  cursor.skip(1);  // the version
  const unsigned flags = cursor.u8();
  const unsigned kind = (flags & kHasKind) != 0 ? cursor.u8() : 0;
  cursor.skip((flags & kHasOrder) != 0 ? 8 : 0);
  cursor.skip((flags & kHasCharacterSet) != 0 ? 1 : 0);
  Link link;
  const std::uint64_t length = cursor.unsigned_of(std::size_t{1} << (flags & 3));
  link.name = read_name(cursor, static_cast<std::size_t>(length));
  constexpr unsigned kExternal = 64;
  switch (kind) {
    case 0:
      link.header = cursor.u64();
      break;
    case 1:
      link.kind = LinkKind::soft;
      break;
    case kExternal:
      link.kind = LinkKind::external;
      break;
    default:
      link.kind = LinkKind::unknown;
  }
  return link;
}

/// A new-style group of more than a few links keeps them in a heap of its own.
void refuse_dense_links(const ObjectHeader& header) {
  if (!header.has(MessageType::link_info)) {
    return;
  }
  ByteReader cursor = header.read(MessageType::link_info, "links");
  cursor.skip(1);  // the version
  constexpr unsigned kHasOrder = 0x01;
  cursor.skip((cursor.u8() & kHasOrder) != 0 ? 8 : 0);
  COSMIC_REQUIRE_SUPPORTED(cursor.u64() == kNoAddress,
                           header.what()
                               << " keeps its links in a fractal heap (larcv3 writes the older "
                               << "symbol tables); " << kRepack);
}

std::vector<Link> read_links(const File& file, const ObjectHeader& header) {
  if (header.has(MessageType::symbol_table)) {
    ByteReader cursor = header.read(MessageType::symbol_table, "links");
    const std::uint64_t tree = cursor.u64();
    return SymbolTable(file, header.what(), tree, cursor.u64()).take();
  }
  COSMIC_REQUIRE_SUPPORTED(header.has(MessageType::link_info) || header.has(MessageType::link),
                           header.what() << " is not a group (it lists no members); " << kDamaged);
  refuse_dense_links(header);
  std::vector<Link> links;
  for (const Message& message : header.messages()) {
    if (message.type == MessageType::link) {
      COSMIC_REQUIRE(DataError, links.size() < kMaxLinks,
                     header.what() << " has more than " << kMaxLinks << " names; " << kDamaged);
      links.push_back(read_link(message, header.what()));
    }
  }
  return links;
}

}  // namespace

const char* why_refused(LinkKind kind) {
  switch (kind) {
    case LinkKind::soft:
      return "a soft link (it names its target by text, and only objects of the file itself are "
             "read)";
    case LinkKind::external:
      return "an external link (it would open another file, which the maker of this one chose)";
    case LinkKind::hard:
    case LinkKind::unknown:
      break;
  }
  return "a link of an unknown kind (only objects of the file itself are read)";
}

Group::Group(const File& file) : Group(file, file.root(), "") {}

Group::Group(const File& file, std::uint64_t header, std::string path)
    : file_(&file), path_(std::move(path)) {
  links_ = read_links(file, ObjectHeader(file, header, "group '" + path_ + "/'"));
}

const Link* Group::find(std::string_view name) const {
  const auto found = std::find_if(links_.begin(), links_.end(),
                                  [&](const Link& link) { return link.name == name; });
  return found != links_.end() ? &*found : nullptr;
}

std::uint64_t Group::member(std::string_view name) const {
  const Link* link = find(name);
  COSMIC_REQUIRE(
      DataError, link != nullptr,
      "has no '" << path_of(name) << "' (a larcv3 file needs it); is this a larcv3 file?");
  COSMIC_REQUIRE_SUPPORTED(link->kind == LinkKind::hard, "'" << path_of(name) << "' is "
                                                             << why_refused(link->kind)
                                                             << "; copy the data into one file");
  return link->header;
}

Group Group::group(const Link& link) const {
  return Group(*file_, link.header, path_of(link.name));
}

Group Group::group(std::string_view name) const {
  return Group(*file_, member(name), path_of(name));
}

}  // namespace cosmic::data::larcv::hdf5
