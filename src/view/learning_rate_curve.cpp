#include "view/learning_rate_curve.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace cosmic::view {
namespace {

constexpr std::string_view kTag = "learning_rate";
// A record is its length, a checksum of that, the bytes and a checksum of those.
constexpr std::uint64_t kBefore = 12;
constexpr std::uint64_t kAfter = 4;
// Longer ones are pictures.
constexpr std::uint64_t kLongest = 64 * 1024;

/// One field of a protocol buffer message after the other.
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}

  /// False at the end, and where the bytes make no sense.
  bool next() {
    const std::optional<std::uint64_t> key = varint();
    if (!key) {
      return false;
    }
    number = *key >> 3U;
    switch (*key & 7U) {
      case 0: {
        const std::optional<std::uint64_t> read = varint();
        value = read.value_or(0);
        return read.has_value();
      }
      case 1:
        return take(8);
      case 2: {
        const std::optional<std::uint64_t> length = varint();
        return length && take(*length);
      }
      case 5:
        return take(4);
      default:
        return false;
    }
  }

  std::uint64_t number = 0;
  std::uint64_t value = 0;  ///< of a varint
  std::string_view bytes;   ///< of anything else

 private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t result = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      result |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if (byte < 0x80) {
        return result;
      }
    }
    return std::nullopt;
  }
  bool take(std::uint64_t length) {
    if (length > rest_.size()) {
      return false;
    }
    bytes = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return true;
  }

  std::string_view rest_;
};

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(bytes[i])) << 8 * i;
  }
  return value;
}

/// The learning rate in a summary, if it has one.
std::optional<double> learning_rate_in(std::string_view summary) {
  for (Fields values(summary); values.next();) {
    bool is_it = false;
    std::optional<double> number;
    for (Fields field(values.bytes); field.next();) {
      is_it = is_it || (field.number == 1 && field.bytes == kTag);
      if (field.number == 2 && field.bytes.size() == 4) {
        number = std::bit_cast<float>(static_cast<std::uint32_t>(little_endian(field.bytes)));
      }
    }
    if (is_it && number) {
      return number;
    }
  }
  return std::nullopt;
}

}  // namespace

void LearningRateCurve::update() {
  std::error_code none;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, none)) {
    if (entry.is_regular_file(none) &&
        entry.path().filename().string().find("tfevents") != std::string::npos) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());  // the newer ones last, whose points hold
  for (const std::filesystem::path& path : files) {
    std::uint64_t& read = read_[path.string()];
    std::ifstream file(path, std::ios::binary);
    std::string record(kBefore, '\0');
    while (file.seekg(static_cast<std::streamoff>(read)), file.read(record.data(), kBefore)) {
      const std::uint64_t length = little_endian(std::string_view(record).substr(0, 8));
      const std::uint64_t size = std::filesystem::file_size(path, none);
      if (none || length > size || read + kBefore + length + kAfter > size) {
        break;  // it is being written
      }
      read += kBefore + length + kAfter;
      if (length > kLongest) {
        continue;
      }
      std::string event(length, '\0');
      if (!file.read(event.data(), static_cast<std::streamsize>(length))) {
        break;
      }
      std::uint64_t step = 0;
      std::optional<double> rate;
      for (Fields field(event); field.next();) {
        step = field.number == 2 ? field.value : step;
        rate = field.number == 5 ? learning_rate_in(field.bytes) : rate;
      }
      if (rate) {
        points_[static_cast<std::int64_t>(step)] = *rate;
      }
    }
  }
}

}  // namespace cosmic::view
