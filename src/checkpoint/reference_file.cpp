#include "checkpoint/reference_file.hpp"

#include <libdeflate.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/little_endian.hpp"

namespace cosmic::checkpoint {
namespace {

/// A pickle of protocol 2, which every version of the framework reads.
class Pickle {
 public:
  Pickle() { bytes_ = "\x80\x02"; }

  Pickle& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  Pickle& text(std::string_view text) {
    bytes_ += 'X';
    append_little_endian(bytes_, static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
    return *this;
  }
  Pickle& number(std::int64_t number) {
    if (number >= 0 && number <= std::numeric_limits<std::int32_t>::max()) {
      bytes_ += 'J';
      append_little_endian(bytes_, static_cast<std::uint32_t>(number));
    } else {
      bytes_ += "\x8a\x08";  // a long of eight bytes
      append_little_endian(bytes_, static_cast<std::uint64_t>(number));
    }
    return *this;
  }
  Pickle& numbers(const std::vector<std::int64_t>& numbers) {
    raw("(");
    for (const std::int64_t one : numbers) {
      number(one);
    }
    return raw("t");
  }
  Pickle& empty_ordered_dict() { return raw("ccollections\nOrderedDict\n)R"); }

  std::string take() { return std::move(bytes_) + "."; }

 private:
  std::string bytes_;
};

std::string_view storage_of(graph::DType type) {
  switch (type) {
    case graph::DType::f32:
      return "ctorch\nFloatStorage\n";
    case graph::DType::i64:
      return "ctorch\nLongStorage\n";
    case graph::DType::u8:
      return "ctorch\nByteStorage\n";
  }
  COSMIC_ASSERT(false);
}

/// Of a tensor without gaps, the last axis first in memory.
std::vector<std::int64_t> strides_of(const graph::Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t next = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = next;
    next *= shape[axis];
  }
  return strides;
}

void add_tensor(const session::Tensor& tensor, std::size_t key, Pickle& pickle) {
  using namespace std::string_view_literals;
  const graph::Shape& shape = tensor.type.shape;
  // Where tensors lived when they were saved: in the memory of the host.
  constexpr std::string_view kInHostMemory = "X\x03\0\0\0cpu"sv;
  pickle.raw("ctorch._utils\n_rebuild_tensor_v2\n((")
      .text("storage")
      .raw(storage_of(tensor.type.dtype))
      .text(std::to_string(key))
      .raw(kInHostMemory)
      .number(tensor.type.elements())
      .raw("tQ")
      .number(0)  // the offset in its storage
      .numbers({shape.begin(), shape.end()})
      .numbers(strides_of(shape))
      .raw("\x89")  // needs no gradient
      .empty_ordered_dict()
      .raw("tR");
}

std::string pickle_of(const session::NamedTensors& weights, std::int64_t step) {
  Pickle pickle;
  pickle.raw("}(")
      .text("global_step")
      .number(step)
      .text("state_dict")
      .empty_ordered_dict()
      .raw("(");
  std::size_t key = 0;
  for (const auto& [name, tensor] : weights) {
    pickle.text(name);
    add_tensor(tensor, key++, pickle);
  }
  return pickle.raw("uu").take();
}

/// A zip archive of stored entries.
class Archive {
 public:
  explicit Archive(PendingFile& file) : file_(file) {}

  void add(const std::string& name, std::span<const std::byte> content) {
    COSMIC_REQUIRE(UserError, written_ + content.size() < kMost,
                   "the weights make more than the 4 GB that an archive of the reference holds; "
                   "convert them to .safetensors");
    const std::uint32_t checksum = libdeflate_crc32(0, content.data(), content.size());
    const auto offset = static_cast<std::uint32_t>(written_);
    // The framework maps tensors where they lie on a boundary of 64 bytes; a field that nobody
    // reads fills the gap.
    constexpr std::size_t kHeaderBytes = 30;
    constexpr std::size_t kFieldBytes = 4;
    constexpr std::size_t kBoundary = 64;
    const std::size_t unpadded =
        static_cast<std::size_t>(written_) + kHeaderBytes + name.size() + kFieldBytes;
    const std::size_t padding = (kBoundary - unpadded % kBoundary) % kBoundary;
    std::string extra = "FB";
    append_little_endian(extra, static_cast<std::uint16_t>(padding));
    extra.append(padding, 'Z');
    std::string header = "PK\x03\x04";
    append_common(header, checksum, content.size(), name, extra.size());
    append(header + name + extra);
    file_.append(content);
    written_ += content.size();

    directory_ += "PK\x01\x02";
    append_little_endian(directory_, kVersion);
    append_common(directory_, checksum, content.size(), name, 0);
    append_little_endian(directory_, std::uint16_t{0});  // comment
    append_little_endian(directory_, std::uint16_t{0});  // disk
    append_little_endian(directory_, std::uint16_t{0});  // attributes
    append_little_endian(directory_, std::uint32_t{0});
    append_little_endian(directory_, offset);
    directory_ += name;
    ++entries_;
  }
  void add(const std::string& name, const std::string& content) {
    add(name, std::as_bytes(std::span(content)));
  }

  void finish() {
    const auto begin = static_cast<std::uint32_t>(written_);
    const auto bytes = static_cast<std::uint32_t>(directory_.size());
    std::string end = "PK\x05\x06";
    append_little_endian(end, std::uint32_t{0});  // disks
    append_little_endian(end, entries_);
    append_little_endian(end, entries_);
    append_little_endian(end, bytes);
    append_little_endian(end, begin);
    append_little_endian(end, std::uint16_t{0});  // comment
    append(directory_ + end);
  }

 private:
  static constexpr std::uint64_t kMost = 0xF000'0000;
  static constexpr std::uint16_t kVersion = 20;

  void append(const std::string& bytes) {
    file_.append(std::as_bytes(std::span(bytes)));
    written_ += bytes.size();
  }
  /// What local headers and the directory have in common.
  static void append_common(std::string& to, std::uint32_t checksum, std::size_t bytes,
                            const std::string& name, std::size_t extra) {
    constexpr std::uint16_t kUtf8Names = 0x0800;
    constexpr std::uint16_t kFirstDay = 0x21;  // 1980-01-01: the same weights make the same file
    append_little_endian(to, kVersion);
    append_little_endian(to, kUtf8Names);
    append_little_endian(to, std::uint16_t{0});  // stored
    append_little_endian(to, std::uint16_t{0});  // midnight
    append_little_endian(to, kFirstDay);
    append_little_endian(to, checksum);
    append_little_endian(to, static_cast<std::uint32_t>(bytes));
    append_little_endian(to, static_cast<std::uint32_t>(bytes));
    append_little_endian(to, static_cast<std::uint16_t>(name.size()));
    append_little_endian(to, static_cast<std::uint16_t>(extra));
  }

  PendingFile& file_;
  std::uint64_t written_ = 0;
  std::uint16_t entries_ = 0;
  std::string directory_;
};

}  // namespace

void save_for_reference(const std::filesystem::path& path, const Checkpoint& checkpoint,
                        Existing existing) {
  const session::NamedTensors weights = weights_of(checkpoint);
  const std::string root = path.stem().string();
  PendingFile file(path, existing);
  Archive archive(file);
  archive.add(root + "/data.pkl", pickle_of(weights, checkpoint.step));
  std::size_t key = 0;
  for (const auto& [name, tensor] : weights) {
    archive.add(root + "/data/" + std::to_string(key++), tensor.bytes);
  }
  archive.add(root + "/version", std::string("3\n"));
  archive.finish();
  file.commit();
}

}  // namespace cosmic::checkpoint
