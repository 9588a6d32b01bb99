// What HDF5 says about one group or dataset: a list of messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/byte_reader.hpp"
#include "data/larcv/hdf5/file.hpp"

namespace cosmic::data::larcv::hdf5 {

/// The messages that matter here; others are skipped.
enum class MessageType : std::uint16_t {
  dataspace = 1,
  link_info = 2,
  datatype = 3,
  link = 6,
  external_files = 7,
  layout = 8,
  filters = 11,
  attribute = 12,
  continuation = 16,
  symbol_table = 17,
  attribute_info = 21,
};

struct Message {
  MessageType type{};
  std::uint8_t flags = 0;
  std::uint64_t address = 0;  ///< of the body
  std::vector<std::byte> body;
};

class ObjectHeader {
 public:
  /// `what` names the object in errors.
  ObjectHeader(const File& file, std::uint64_t address, std::string what);

  const std::string& what() const { return what_; }
  const std::vector<Message>& messages() const { return messages_; }
  bool has(MessageType type) const { return find(type) != nullptr; }
  /// The first message of a type, or nothing.
  const Message* find(MessageType type) const;
  /// The first message of a type, to read. It must be there, and in this header: HDF5 can keep a
  /// message elsewhere and share it, which larcv3 does not.
  ByteReader read(MessageType type, std::string_view name) const;

 private:
  struct Block {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
  };
  /// How the messages of a header are written, which depends on its version.
  struct Form {
    bool new_style = false;
    std::size_t order_bytes = 0;
  };

  void read_all(const File& file, Form form, Block first);
  void read_block(const File& file, Form form, const Block& block, std::vector<Block>& blocks);

  std::string what_;
  std::vector<Message> messages_;
};

}  // namespace cosmic::data::larcv::hdf5
