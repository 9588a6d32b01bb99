#include "data/larcv/hdf5/object_header.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "data/larcv/hdf5/advice.hpp"
#include "data/larcv/hdf5/block_reader.hpp"
#include "data/larcv/hdf5/unsupported.hpp"

namespace cosmic::data::larcv::hdf5 {
namespace {

constexpr std::string_view kNewHeader = "OHDR";
constexpr std::string_view kNewContinuation = "OCHK";
constexpr std::size_t kHeaderChecksumBytes = 4;
constexpr std::size_t kOldPrefixBytes = 16;
constexpr std::size_t kLongestNewPrefix = 34;
// A header has a few dozen messages in a few blocks. More is damage, or a way to keep us busy.
constexpr std::size_t kMaxBlocks = 64;
constexpr std::uint64_t kMaxBlockBytes = 1 << 20;

constexpr unsigned kHasTimes = 0x20;
constexpr unsigned kHasAttributeLimits = 0x10;
constexpr unsigned kHasCreationOrder = 0x04;
constexpr unsigned kShared = 0x02;  // of a message

}  // namespace

ObjectHeader::ObjectHeader(const File& file, std::uint64_t address, std::string what)
    : what_(std::move(what)) {
  COSMIC_REQUIRE(DataError, address < file.bytes(),
                 what_ << " has its header at address " << address << " (the file has "
                       << file.bytes() << " bytes); " << kDamaged);
  const auto available = std::min<std::uint64_t>(kLongestNewPrefix, file.bytes() - address);
  const auto prefix = file.read(address, static_cast<std::size_t>(available), what_);
  ByteReader cursor = block_reader(prefix, what_);
  const unsigned first_byte = cursor.u8();
  if (first_byte == 1) {
    cursor.skip(7);  // reserved, the number of messages, how many names it has
    const std::uint32_t bytes = cursor.u32();
    read_all(file, {}, {address + kOldPrefixBytes, bytes});
    return;
  }
  cursor = block_reader(prefix, what_);
  expect_signature(cursor, kNewHeader);
  const unsigned version = cursor.u8();
  COSMIC_REQUIRE_SUPPORTED(version == 2, what_ << " has a header of version " << version
                                               << " (known are 1 and 2); " << kRepack);
  const unsigned flags = cursor.u8();
  cursor.skip((flags & kHasTimes) != 0 ? 16 : 0);
  cursor.skip((flags & kHasAttributeLimits) != 0 ? 4 : 0);
  const std::uint64_t bytes = cursor.unsigned_of(std::size_t{1} << (flags & 3));
  const Form form{.new_style = true,
                  .order_bytes = (flags & kHasCreationOrder) != 0 ? std::size_t{2} : 0};
  read_all(file, form, {address + cursor.position(), bytes});
}

void ObjectHeader::read_all(const File& file, Form form, Block first) {
  std::vector<Block> blocks{first};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    COSMIC_REQUIRE(DataError, i < kMaxBlocks,
                   what_ << " has a header in more than " << kMaxBlocks
                         << " pieces (a few are usual); " << kDamaged);
    read_block(file, form, Block(blocks[i]), blocks);
  }
}

void ObjectHeader::read_block(const File& file, Form form, const Block& block,
                              std::vector<Block>& blocks) {
  COSMIC_REQUIRE(DataError, block.bytes <= kMaxBlockBytes,
                 what_ << " has a header of " << block.bytes << " bytes (at most " << kMaxBlockBytes
                       << " are sensible); " << kDamaged);
  const auto bytes = file.read(block.address, static_cast<std::size_t>(block.bytes), what_);
  ByteReader cursor = block_reader(bytes, what_);
  const std::size_t prefix_bytes = form.new_style ? 4 + form.order_bytes : 8;
  while (cursor.left() >= prefix_bytes) {
    Message message;
    message.type = static_cast<MessageType>(form.new_style ? cursor.u8() : cursor.u16());
    const std::size_t size = cursor.u16();
    message.flags = cursor.u8();
    cursor.skip(form.new_style ? form.order_bytes : 3);
    message.address = block.address + cursor.position();
    const auto body = cursor.take(size);
    if (message.type == MessageType::continuation) {
      ByteReader target = block_reader(body, what_);
      Block next{target.u64(), 0};
      next.bytes = target.u64();
      if (form.new_style) {
        // The messages lie between a signature and a checksum.
        constexpr std::size_t kAround = kNewContinuation.size() + kHeaderChecksumBytes;
        COSMIC_REQUIRE(DataError, next.bytes >= kAround,
                       what_ << " continues in a block of " << next.bytes << " bytes (at least "
                             << kAround << " are needed); " << kDamaged);
        const auto signature = file.read(next.address, kNewContinuation.size(), what_);
        ByteReader start = block_reader(signature, what_);
        expect_signature(start, kNewContinuation);
        next = {next.address + kNewContinuation.size(), next.bytes - kAround};
      }
      blocks.push_back(next);
    } else {
      message.body.assign(body.begin(), body.end());
      messages_.push_back(std::move(message));
    }
  }
}

const Message* ObjectHeader::find(MessageType type) const {
  const auto found = std::find_if(messages_.begin(), messages_.end(),
                                  [&](const Message& message) { return message.type == type; });
  return found != messages_.end() ? &*found : nullptr;
}

ByteReader ObjectHeader::read(MessageType type, std::string_view name) const {
  const Message* message = find(type);
  COSMIC_REQUIRE(DataError, message != nullptr,
                 what_ << " does not say its " << name << " (is it not a dataset?); " << kDamaged);
  COSMIC_REQUIRE_SUPPORTED(
      (message->flags & kShared) == 0,
      what_ << " shares its " << name << " with other objects (larcv3 does not); " << kRepack);
  return block_reader(message->body, what_);
}

}  // namespace cosmic::data::larcv::hdf5
