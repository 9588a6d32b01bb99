#include "session/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>

#include "core/error.hpp"
#include "core/regular_file.hpp"

namespace cosmic::session {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little,
              "tensors are copied as they are, and the format is little-endian");

constexpr std::uint64_t kLengthBytes = 8;
// The limit of the format's own reader: a longer header is damage, or an attack on our memory.
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kHeaderAlignment = 8;
constexpr std::size_t kMaxHeaderDepth = 3;  // header, tensor, shape
constexpr const char* kMetadata = "__metadata__";
constexpr const char* kDamaged =
    "the file is damaged or was made by a faulty program; make it again";

constexpr std::pair<graph::DType, const char*> kTypeNames[] = {
    {graph::DType::i64, "I64"}, {graph::DType::f32, "F32"}, {graph::DType::u8, "U8"}};

// Read as float32, and written for those who ask for it.
constexpr const char* kHalvedName = "BF16";
constexpr int kHalvedBits = 16;  // of a float32, the upper ones

bool can_be_halved(const Tensor& tensor) {
  if (tensor.type.dtype != graph::DType::f32) {
    return false;
  }
  const std::span<const float> values = tensor.as<float>();
  return std::all_of(values.begin(), values.end(), [](float value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value)) == 0;
  });
}

std::vector<std::uint16_t> halved(std::span<const float> values) {
  std::vector<std::uint16_t> result;
  result.reserve(values.size());
  for (const float value : values) {
    result.push_back(
        static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> kHalvedBits));
  }
  return result;
}

std::string name_of(graph::DType dtype) {
  return std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                      [&](const auto& entry) { return entry.first == dtype; })
      ->second;
}

std::optional<graph::DType> dtype_of(const std::string& name) {
  for (const auto& [dtype, known] : kTypeNames) {
    if (name == known) {
      return dtype;
    }
  }
  return std::nullopt;
}

/// What a header must be before anybody makes a tree of it. JSON lets a name appear twice, and the
/// parser would keep one of the two; which one, nobody should have to know.
class HeaderCheck : public nlohmann::json_sax<json> {
 public:
  /// After a parse that failed: why.
  const std::string& problem() const { return problem_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (names_.back().insert(name).second) {
      return true;
    }
    problem_ = "names '" + name + "' twice (which of the two is meant?); " + kDamaged;
    return false;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
    problem_ = "has a header that is not JSON (" + std::string(error.what()) +
               "); is this a safetensors file?";
    return false;
  }

 private:
  bool open() {
    names_.emplace_back();
    if (names_.size() <= kMaxHeaderDepth) {
      return true;
    }
    problem_ = "has a header nested more than " + std::to_string(kMaxHeaderDepth) +
               " deep (it holds tensors with a type, a shape and offsets only); " + kDamaged;
    return false;
  }
  bool close() {
    names_.pop_back();
    return true;
  }

  std::vector<std::unordered_set<std::string>> names_;  ///< of what is open, the innermost last
  std::string problem_;
};

/// Where a tensor lies, counted from the end of the header.
struct Extent {
  std::string name;
  graph::TensorType type;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool halved = false;
};

/// Reads one file. Every message starts with its name.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path)
      : path_(path.string()), stream_(regular_file(path), std::ios::binary) {
    std::error_code error;
    size_ = std::filesystem::file_size(path, error);
    require(!error && stream_.is_open(), [&](auto& text) {
      text << "cannot be read (" << reason(error) << "); is the path right?";
    });
  }

  TensorFile load() {
    const json header = read_header();
    TensorFile file;
    std::vector<Extent> extents;
    for (const auto& [name, entry] : header.items()) {
      if (name == kMetadata) {
        file.metadata = metadata(entry);
      } else {
        extents.push_back(extent(name, entry));
      }
    }
    check_tiling(extents);
    for (const Extent& e : extents) {
      Tensor tensor(e.type);
      if (e.halved) {
        std::vector<std::uint16_t> upper(static_cast<std::size_t>(e.type.elements()));
        read(upper.data(), upper.size() * sizeof(std::uint16_t), "tensor '" + e.name + "'");
        std::transform(
            upper.begin(), upper.end(), tensor.as<float>().begin(),
            [](std::uint32_t bits) { return std::bit_cast<float>(bits << kHalvedBits); });
      } else {
        read(tensor.bytes.data(), tensor.bytes.size(), "tensor '" + e.name + "'");
      }
      file.tensors.emplace(e.name, std::move(tensor));
    }
    return file;
  }

  Metadata load_metadata() {
    const json header = read_header();
    const auto found = header.find(kMetadata);
    return found == header.end() ? Metadata{} : metadata(*found);
  }

 private:
  template <class Say>
  void require(bool ok, const Say& say) const {
    if (!ok) {
      std::ostringstream text;
      text << path_ << ": ";
      say(text);
      throw DataError(text.str());
    }
  }

  static std::string reason(const std::error_code& error) {
    return error ? error.message() : std::strerror(errno);
  }

  void read(void* to, std::size_t bytes, const std::string& what) {
    stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
    require(static_cast<std::size_t>(stream_.gcount()) == bytes, [&](auto& text) {
      text << what << " ends after " << stream_.gcount() << " of " << bytes
           << " bytes (the file has become shorter, or the disk fails); copy the file again";
    });
  }

  json read_header() {
    require(size_ >= kLengthBytes, [&](auto& text) {
      text << "has " << size_ << " bytes (a safetensors file starts with the " << kLengthBytes
           << " bytes of its header length); is this a safetensors file?";
    });
    std::uint64_t length = 0;
    read(&length, kLengthBytes, "the header length");
    require(length <= kMaxHeaderBytes && length <= size_ - kLengthBytes, [&](auto& text) {
      text << "says that its header has " << length << " bytes (the file has " << size_
           << " bytes, and a header at most " << kMaxHeaderBytes
           << "); it is cut short or not a safetensors file, copy or make it again";
    });
    data_bytes_ = size_ - kLengthBytes - length;
    std::string text(static_cast<std::size_t>(length), '\0');
    read(text.data(), text.size(), "the header");
    return parse(text);
  }

  json parse(const std::string& text) const {
    HeaderCheck check;
    require(json::sax_parse(text, &check), [&](auto& out) { out << check.problem(); });
    // Not with a callback, which would take a time that grows with the square of the tensors.
    const json header = json::parse(text);
    require(header.is_object(), [&](auto& out) {
      out << "has a header that is a JSON " << header.type_name()
          << " (it must be an object, one entry per tensor); is this a safetensors file?";
    });
    return header;
  }

  Metadata metadata(const json& entry) const {
    require(entry.is_object(), [&](auto& text) {
      text << "has " << kMetadata << " that is a JSON " << entry.type_name()
           << " (it must be an object of texts); " << kDamaged;
    });
    Metadata result;
    for (const auto& [key, value] : entry.items()) {
      require(value.is_string(), [&, &k = key, &v = value](auto& text) {
        text << "has " << kMetadata << " '" << k << "' that is a JSON " << v.type_name()
             << " (it must be a text); " << kDamaged;
      });
      result.emplace(key, value.template get<std::string>());
    }
    return result;
  }

  /// Checks one entry of the header on its own.
  Extent extent(const std::string& name, const json& entry) const {
    const auto need = [&](bool ok, const auto& say) {
      require(ok, [&](auto& text) {
        text << "tensor '" << name << "' ";
        say(text);
      });
    };
    const auto field = [&](const char* key) -> const json& {
      need(entry.is_object() && entry.contains(key), [&](auto& text) {
        text << "has no '" << key << "' (its bytes have no meaning without it); " << kDamaged;
      });
      return entry.at(key);
    };
    const json& dtype = field("dtype");
    const bool halved = dtype.is_string() && dtype.get<std::string>() == kHalvedName;
    const std::optional<graph::DType> known =
        halved ? graph::DType::f32
               : (dtype.is_string() ? dtype_of(dtype.get<std::string>()) : std::nullopt);
    need(known.has_value(), [&](auto& text) {
      text << "has dtype " << dtype.dump(-1, ' ', true, json::error_handler_t::replace)
           << " (known are F32, BF16, I64 and U8); convert it to float32";
    });

    const auto numbers = [&](const char* key) {
      const json& list = field(key);
      const bool ok = list.is_array() && std::all_of(list.begin(), list.end(), [](const json& n) {
                        return n.is_number_unsigned() &&
                               n.get<std::uint64_t>() <=
                                   std::uint64_t{std::numeric_limits<std::int64_t>::max()};
                      });
      need(ok, [&](auto& text) {
        text << "has " << key << " "
             << list.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 100)
             << " (it must be a list of whole numbers from 0 to 2^63 - 1); " << kDamaged;
      });
      return list.get<std::vector<std::int64_t>>();
    };
    graph::TensorType type{*known, numbers("shape")};
    const std::vector<std::int64_t> offsets = numbers("data_offsets");
    need(offsets.size() == 2, [&](auto& text) {
      text << "has " << offsets.size() << " data_offsets (it needs two, begin and end); "
           << kDamaged;
    });
    const Extent result{name, type, static_cast<std::uint64_t>(offsets[0]),
                        static_cast<std::uint64_t>(offsets[1]), halved};
    need(result.begin <= result.end && result.end <= data_bytes_, [&](auto& text) {
      text << "lies from byte " << result.begin << " to " << result.end << " (the file has "
           << data_bytes_ << " bytes of data); it is cut short, copy or make it again";
    });
    std::optional<std::uint64_t> bytes = bytes_of(type);
    if (bytes && halved) {
      bytes = *bytes / 2;
    }
    need(bytes == result.end - result.begin, [&](auto& text) {
      text << "has " << result.end - result.begin << " bytes from " << result.begin << " to "
           << result.end << " (its type " << type << " needs "
           << (bytes ? std::to_string(*bytes) : "more than 2^63") << "); " << kDamaged;
    });
    return result;
  }

  /// Nothing if it does not fit 63 bits; TensorType::bytes would overflow.
  static std::optional<std::uint64_t> bytes_of(const graph::TensorType& type) {
    std::int64_t bytes = graph::size_of(type.dtype);
    for (const std::int64_t dimension : type.shape) {
      if (__builtin_mul_overflow(bytes, dimension, &bytes)) {
        return std::nullopt;
      }
    }
    return static_cast<std::uint64_t>(bytes);
  }

  /// Sorts the tensors by place. They must fill the data exactly: an overlap or a gap means that
  /// some tensor is not where its writer put it.
  void check_tiling(std::vector<Extent>& extents) const {
    std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::uint64_t reached = 0;
    std::string before = "the header";
    for (const Extent& e : extents) {
      require(e.begin == reached, [&](auto& text) {
        text << "tensor '" << e.name << "' begins at byte " << e.begin << ", but " << before
             << " ends at byte " << reached
             << (e.begin < reached ? " (they overlap); " : " (there is a gap); ") << kDamaged;
      });
      reached = e.end;
      before = "tensor '" + e.name + "'";
    }
    require(reached == data_bytes_, [&](auto& text) {
      text << "has " << data_bytes_ << " bytes of data, but " << before
           << ", the last, ends at byte " << reached << " (the rest belongs to no tensor); "
           << kDamaged;
    });
  }

  std::string path_;
  std::ifstream stream_;
  std::uint64_t size_ = 0;
  std::uint64_t data_bytes_ = 0;
};

}  // namespace

void save_tensors(const std::filesystem::path& path, const NamedTensors& tensors,
                  const Metadata& metadata, const SaveOptions& options) {
  save_tensors(path, TensorSource::of(tensors), metadata, options);
}

void save_tensors(const std::filesystem::path& path, const TensorSource& tensors,
                  const Metadata& metadata, const SaveOptions& options) {
  using Entry = TensorSource::Entry;
  std::vector<const Entry*> order;
  std::map<std::string, std::vector<std::uint16_t>> smaller;
  for (const Entry& entry : tensors.entries()) {
    COSMIC_REQUIRE(UserError, entry.name != kMetadata,
                   "a tensor is named '" << kMetadata
                                         << "' (the format keeps that name for itself); "
                                         << "give it another name");
    order.push_back(&entry);
    if (options.halve_exact && can_be_halved(tensors.tensor(entry))) {
      smaller.emplace(entry.name, halved(tensors.tensor(entry).as<float>()));
    }
  }
  const auto element_bytes = [&](const Entry& entry) {
    return smaller.contains(entry.name) ? std::int64_t{sizeof(std::uint16_t)}
                                        : std::int64_t{graph::size_of(entry.type.dtype)};
  };
  // Wide elements first, so that every tensor is aligned for a reader that maps the file.
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
    return element_bytes(*a) > element_bytes(*b);
  });

  json header = json::object();
  if (!metadata.empty()) {
    header[kMetadata] = metadata;
  }
  std::uint64_t offset = 0;
  for (const Entry* entry : order) {
    const std::uint64_t end =
        offset + static_cast<std::uint64_t>(entry->type.elements() * element_bytes(*entry));
    header[entry->name] = {{"dtype", smaller.contains(entry->name) ? std::string(kHalvedName)
                                                                   : name_of(entry->type.dtype)},
                           {"shape", entry->type.shape},
                           {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception& error) {
    throw UserError(path.string() +
                    ": cannot be written, a name or a metadata text is not UTF-8 (" + error.what() +
                    "); rename it");
  }
  text.resize((text.size() + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment, ' ');
  COSMIC_REQUIRE(UserError, text.size() <= kMaxHeaderBytes,
                 path.string() << ": cannot be written, its names and metadata make " << text.size()
                               << " bytes (a reader takes at most " << kMaxHeaderBytes
                               << "); keep less text with the tensors");

  PendingFile file(path, options.existing, options.files);
  const std::uint64_t length = text.size();
  file.append(std::as_bytes(std::span(&length, 1)));
  file.append(std::as_bytes(std::span(text)));
  for (const Entry* entry : order) {
    if (const auto small = smaller.find(entry->name); small != smaller.end()) {
      file.append(std::as_bytes(std::span(small->second)));
      continue;
    }
    const std::vector<std::byte>& bytes = tensors.tensor(*entry).bytes;
    COSMIC_ASSERT(bytes.size() == static_cast<std::size_t>(entry->type.bytes()));
    file.append(bytes);
  }
  file.commit();
}

float rounded_to_bfloat16(float value) {
  if (!std::isfinite(value)) {
    return value;
  }
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t even = (bits >> kHalvedBits) & 1U;
  constexpr std::uint32_t kBelowHalf = 0x7FFF;
  return std::bit_cast<float>((bits + kBelowHalf + even) >> kHalvedBits << kHalvedBits);
}

TensorFile load_tensors(const std::filesystem::path& path) {
  return Reader(path).load();
}

Metadata load_metadata(const std::filesystem::path& path) {
  return Reader(path).load_metadata();
}

void save_weights(const std::filesystem::path& path, const ModelState& state,
                  const Metadata& metadata) {
  save_tensors(path, state.read_weights(), metadata);
}

void load_weights(const std::filesystem::path& path, ModelState& state) {
  const TensorFile file = load_tensors(path);
  try {
    state.write_weights(file.tensors);
  } catch (const DataError& error) {
    throw DataError(path.string() + ": " + error.what());
  }
}

}  // namespace cosmic::session
