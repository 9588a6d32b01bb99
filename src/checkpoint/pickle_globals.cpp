#include "checkpoint/pickle_globals.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/error.hpp"
#include "core/printable.hpp"

namespace cosmic::checkpoint {
namespace {

struct KnownGlobal {
  std::string_view module;
  std::string_view name;
  PickleGlobal global;
};

constexpr KnownGlobal kKnown[] = {
    {"collections", "OrderedDict", {Callable::ordered_dict}},
    {"torch._utils", "_rebuild_tensor_v2", {Callable::rebuild_tensor}},
    {"torch", "Size", {Callable::size}},
    {"torch", "DoubleStorage", {Callable::storage, StorageType::f64}},
    {"torch", "FloatStorage", {Callable::storage, StorageType::f32}},
    {"torch", "HalfStorage", {Callable::storage, StorageType::f16}},
    {"torch", "BFloat16Storage", {Callable::storage, StorageType::bf16}},
    {"torch", "LongStorage", {Callable::storage, StorageType::i64}},
    {"torch", "IntStorage", {Callable::storage, StorageType::i32}},
    {"torch", "ShortStorage", {Callable::storage, StorageType::i16}},
    {"torch", "CharStorage", {Callable::storage, StorageType::i8}},
    {"torch", "ByteStorage", {Callable::storage, StorageType::u8}},
    {"torch", "BoolStorage", {Callable::storage, StorageType::boolean}},
    {"numpy", "dtype", {Callable::numpy_dtype}},
    {"numpy.core.multiarray", "scalar", {Callable::numpy_scalar}},
    {"numpy._core.multiarray", "scalar", {Callable::numpy_scalar}},  // since numpy 2
    {"_codecs", "encode", {Callable::encode_text}},
};

// More than the framework's operations take; a longer one is no tensor of a network.
constexpr std::size_t kMaxRank = 8;
// A number has eight bytes, each of at most two in UTF-8.
constexpr std::size_t kMaxEncodedBytes = 16;

[[noreturn]] void fail(const std::string& problem) {
  throw DataError(problem + "; the file is damaged or was not written by PyTorch");
}

void require(bool ok, const std::string& problem) {
  if (!ok) {
    fail(problem);
  }
}

/// The arguments of one call, each asked for by its place and kind.
class Arguments {
 public:
  Arguments(const PickleTree& tree, const PickleTuple& tuple, std::string function)
      : tree_(tree), tuple_(tuple), function_(std::move(function)) {}

  void require_count(std::size_t least, std::size_t most) const {
    require(tuple_.items.size() >= least && tuple_.items.size() <= most,
            function_ + " is called with " + std::to_string(tuple_.items.size()) +
                " arguments (it takes " + std::to_string(least) +
                (most > least ? " to " + std::to_string(most) : "") + ")");
  }

  const PickleValue& at(std::size_t place) const { return tree_.at(tuple_.items.at(place)); }

  template <class Kind>
  const Kind& get(std::size_t place, const char* wanted) const {
    const Kind* value = std::get_if<Kind>(&at(place));
    require(value != nullptr, function_ + " is called with " + describe(at(place)) +
                                  " as its argument " + std::to_string(place + 1) + " (it takes " +
                                  wanted + ")");
    return *value;
  }

  /// Whole numbers of 0 or more, from a tuple.
  std::vector<std::int64_t> extents(std::size_t place) const {
    const auto& items = get<PickleTuple>(place, "a tuple of whole numbers").items;
    require(items.size() <= kMaxRank, function_ + " is called with " +
                                          std::to_string(items.size()) + " extents (at most " +
                                          std::to_string(kMaxRank) + " are known)");
    std::vector<std::int64_t> result;
    for (const PickleId item : items) {
      const auto* number = tree_.get_if<std::int64_t>(item);
      require(number != nullptr && *number >= 0,
              function_ + " is called with " + describe(tree_.at(item)) +
                  " among the numbers of its argument " + std::to_string(place + 1) +
                  " (each must be a whole number, 0 or more)");
      result.push_back(*number);
    }
    return result;
  }

 private:
  const PickleTree& tree_;
  const PickleTuple& tuple_;
  std::string function_;
};

std::string text_of(const std::vector<std::int64_t>& numbers) {
  std::string text = "(";
  for (const std::int64_t number : numbers) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(number);
  }
  return text + ")";
}

/// A tensor may be any part of its storage, but neither reach beyond it nor be larger: a small file
/// must not become a large tensor.
void require_inside(const PickleTensor& tensor) {
  const std::string view = "a tensor of shape " + text_of(tensor.shape) + " and strides " +
                           text_of(tensor.strides) + " from element " +
                           std::to_string(tensor.offset);
  const std::string storage = "the storage " + printable(tensor.storage.key) + " has " +
                              std::to_string(tensor.storage.elements) + " elements";
  std::int64_t elements = 1;
  std::uint64_t last = tensor.offset;
  bool fits = true;
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    const auto extent = static_cast<std::uint64_t>(tensor.shape[axis]);
    const auto stride = static_cast<std::uint64_t>(tensor.strides[axis]);
    fits = fits && !__builtin_mul_overflow(elements, tensor.shape[axis], &elements);
    std::uint64_t reach = 0;
    fits = fits && (extent == 0 || !__builtin_mul_overflow(extent - 1, stride, &reach)) &&
           !__builtin_add_overflow(last, reach, &last);
  }
  require(fits, view + " has numbers beyond 64 bits (" + storage + ")");
  const bool empty = elements == 0;
  require(empty ? tensor.offset <= tensor.storage.elements : last < tensor.storage.elements,
          view + " reaches element " + std::to_string(last) + " (" + storage + ")");
  require(static_cast<std::uint64_t>(elements) <= tensor.storage.elements,
          view + " is larger than what it shows (" + storage + ")");
}

PickleValue rebuild_tensor(const PickleTree& tree, const PickleTuple& tuple) {
  const Arguments arguments(tree, tuple, "_rebuild_tensor_v2");
  arguments.require_count(6, 7);  // the last, metadata, came later and says nothing about values
  PickleTensor tensor;
  tensor.storage = arguments.get<PickleStorage>(0, "a storage");
  const auto offset = arguments.get<std::int64_t>(1, "an offset");
  require(offset >= 0, "a tensor starts at element " + std::to_string(offset) + " of the storage " +
                           printable(tensor.storage.key) + " (before its first)");
  tensor.offset = static_cast<std::uint64_t>(offset);
  tensor.shape = arguments.extents(2);
  tensor.strides = arguments.extents(3);
  require(tensor.shape.size() == tensor.strides.size(),
          "a tensor has a shape of " + std::to_string(tensor.shape.size()) + " and strides of " +
              std::to_string(tensor.strides.size()) + " numbers (they must agree)");
  arguments.get<bool>(4, "True or False");
  const auto& hooks = arguments.get<PickleDict>(5, "an empty dictionary of hooks");
  require(hooks.items.empty(),
          "a tensor comes with " + std::to_string(hooks.items.size()) +
              " hooks (functions that would be called; this program calls none)");
  require_inside(tensor);
  return tensor;
}

/// Text to bytes as Latin-1: how protocol 2 writes bytes.
PickleValue encode_text(const PickleTree& tree, const PickleTuple& tuple) {
  const Arguments arguments(tree, tuple, "_codecs.encode");
  arguments.require_count(2, 2);
  const auto& text = arguments.get<std::string>(0, "a text");
  const auto& encoding = arguments.get<std::string>(1, "'latin1'");
  require(encoding == "latin1", "_codecs.encode is called with the encoding " +
                                    printable(encoding) + " (bytes are written as 'latin1')");
  require(text.size() <= kMaxEncodedBytes,
          "_codecs.encode is called with " + std::to_string(text.size()) +
              " bytes of text (a checkpoint has the bytes of single numbers, at most " +
              std::to_string(kMaxEncodedBytes) + ")");
  PickleBytes result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto unit = static_cast<unsigned char>(text[i]);
    constexpr unsigned char kLastAscii = 0x7f;
    if (unit <= kLastAscii) {
      result.bytes += text[i];
      continue;
    }
    // U+0080 to U+00FF in UTF-8: 110000xx 10xxxxxx.
    const bool second =
        i + 1 < text.size() && (static_cast<unsigned char>(text[i + 1]) & 0xc0) == 0x80;
    require((unit == 0xc2 || unit == 0xc3) && second,
            "_codecs.encode is called with " + describe(PickleValue(text)) +
                " (it has a character that is not in Latin-1)");
    ++i;
    result.bytes +=
        static_cast<char>(((unit & 0x03) << 6) | (static_cast<unsigned char>(text[i]) & 0x3f));
  }
  return result;
}

template <class Number, class Result>
Result number_of(const std::string& bytes) {
  Number number{};
  std::memcpy(&number, bytes.data(), sizeof(number));
  return static_cast<Result>(number);
}

PickleValue numpy_scalar(const PickleTree& tree, const PickleTuple& tuple) {
  const Arguments arguments(tree, tuple, "numpy scalar");
  arguments.require_count(2, 2);
  const std::string& type = arguments.get<NumpyType>(0, "a numpy type").name;
  const std::string& bytes = arguments.get<PickleBytes>(1, "bytes").bytes;
  require(bytes.size() == static_cast<std::size_t>(type.back() - '0'),
          "a numpy " + type + " has " + std::to_string(bytes.size()) + " bytes");
  if (type == "f8") {
    return number_of<double, double>(bytes);
  }
  if (type == "f4") {
    return number_of<float, double>(bytes);
  }
  if (type == "i8") {
    return number_of<std::int64_t, std::int64_t>(bytes);
  }
  return number_of<std::int32_t, std::int64_t>(bytes);
}

PickleValue numpy_dtype(const PickleTree& tree, const PickleTuple& tuple) {
  const Arguments arguments(tree, tuple, "numpy.dtype");
  arguments.require_count(1, 3);
  const auto& name = arguments.get<std::string>(0, "a text");
  constexpr std::string_view kNumbers[] = {"f8", "f4", "i8", "i4"};
  require(std::find(std::begin(kNumbers), std::end(kNumbers), name) != std::end(kNumbers),
          "numpy.dtype is called with " + printable(name) +
              " (a checkpoint has numbers only: f8, f4, i8 and i4)");
  return NumpyType{name};
}

PickleValue ordered_dict(const PickleTree& tree, const PickleTuple& tuple) {
  Arguments(tree, tuple, "OrderedDict").require_count(0, 0);
  PickleDict dict;
  dict.ordered = true;
  return dict;
}

PickleValue size(const PickleTree& tree, const PickleTuple& tuple) {
  const Arguments arguments(tree, tuple, "torch.Size");
  arguments.require_count(1, 1);
  arguments.extents(0);
  return arguments.get<PickleTuple>(0, "a tuple");
}

}  // namespace

std::optional<PickleGlobal> find_global(std::string_view module, std::string_view name) {
  for (const KnownGlobal& known : kKnown) {
    if (known.module == module && known.name == name) {
      return known.global;
    }
  }
  return std::nullopt;
}

PickleValue call(const PickleTree& tree, const PickleGlobal& global, const PickleTuple& arguments) {
  switch (global.callable) {
    case Callable::ordered_dict:
      return ordered_dict(tree, arguments);
    case Callable::rebuild_tensor:
      return rebuild_tensor(tree, arguments);
    case Callable::size:
      return size(tree, arguments);
    case Callable::numpy_dtype:
      return numpy_dtype(tree, arguments);
    case Callable::numpy_scalar:
      return numpy_scalar(tree, arguments);
    case Callable::encode_text:
      return encode_text(tree, arguments);
    case Callable::storage:
      break;
  }
  fail("a storage type is called (storages come from the archive, by their names)");
}

PickleStorage storage_of(const PickleTree& tree, const PickleValue& persistent_id) {
  const auto* tuple = std::get_if<PickleTuple>(&persistent_id);
  require(tuple != nullptr, "a persistent id is " + describe(persistent_id) +
                                " (it must be a tuple that names a storage)");
  const Arguments parts(tree, *tuple, "a persistent id");
  parts.require_count(5, 5);
  const auto& word = parts.get<std::string>(0, "'storage'");
  require(word == "storage",
          "a persistent id is of the kind " + printable(word) + " (only 'storage' is known)");
  const auto& type = parts.get<PickleGlobal>(1, "a storage type");
  require(type.callable == Callable::storage,
          "a persistent id names a function (it takes a storage type)");
  parts.get<std::string>(3, "a device");
  const auto elements = parts.get<std::int64_t>(4, "a number of elements");
  const auto& key = parts.get<std::string>(2, "a name");
  // The bytes must be countable too; whether the archive has them is checked when they are read.
  constexpr std::int64_t kMostElements = std::numeric_limits<std::int64_t>::max() / 8;
  require(elements >= 0 && elements <= kMostElements, "the storage " + printable(key) +
                                                          " is said to have " +
                                                          std::to_string(elements) + " elements");
  return {type.storage, key, static_cast<std::uint64_t>(elements)};
}

bool may_ignore_state(const PickleTree& tree, const PickleValue& value, const PickleValue& state) {
  if (const auto* dict = std::get_if<PickleDict>(&value)) {
    return dict->ordered && std::holds_alternative<PickleDict>(state);
  }
  if (!std::holds_alternative<NumpyType>(value)) {
    return false;
  }
  const auto* tuple = std::get_if<PickleTuple>(&state);
  if (tuple == nullptr || tuple->items.size() < 2) {
    return false;
  }
  const auto* order = tree.get_if<std::string>(tuple->items[1]);
  return order != nullptr && *order == "<";
}

}  // namespace cosmic::checkpoint
