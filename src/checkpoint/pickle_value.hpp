// What a pickle can hold here: numbers, texts, containers, and descriptions of tensors. Values are
// stored in one tree and refer to each other by number, so a hostile one can neither leak by
// referring to itself nor overflow the stack when it is destroyed; and a long text that is used a
// thousand times is there once.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/id.hpp"

namespace cosmic::checkpoint {

using PickleId = Id<struct PickleValue_>;

/// Element types of the framework's storages.
enum class StorageType { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean };

std::uint64_t size_of(StorageType type);
std::string to_string(StorageType type);

/// Everything that a pickle may name; see pickle_globals.cpp.
enum class Callable {
  ordered_dict,
  rebuild_tensor,
  size,
  storage,  ///< a type, never called
  numpy_dtype,
  numpy_scalar,
  encode_text,
};

struct PickleNone {};
struct PickleBytes {
  std::string bytes;
};
struct PickleTuple {
  std::vector<PickleId> items;
};
struct PickleList {
  std::vector<PickleId> items;
};
/// The text is that of a value of the tree.
using PickleKey = std::variant<std::int64_t, std::string_view>;
struct PickleDict {
  std::vector<std::pair<PickleKey, PickleId>> items;  ///< in the order of insertion
  std::map<PickleKey, std::size_t> places;            ///< in `items`
  bool ordered = false;                               ///< an OrderedDict
};
struct PickleGlobal {
  Callable callable = Callable::ordered_dict;
  StorageType storage = StorageType::f32;  ///< of Callable::storage
};
struct PickleStorage {
  StorageType type = StorageType::f32;
  std::string_view key;  ///< the text of a value of the tree
  std::uint64_t elements = 0;
};
/// A view into a storage. Whether it lies inside has been checked.
struct PickleTensor {
  PickleStorage storage;
  std::uint64_t offset = 0;  ///< in elements, as the strides
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
};
struct NumpyType {
  std::string name;  ///< such as "f8"
};

using PickleValue =
    std::variant<PickleNone, bool, std::int64_t, double, std::string, PickleBytes, PickleTuple,
                 PickleList, PickleDict, PickleGlobal, PickleStorage, PickleTensor, NumpyType>;

/// What a value is, for messages: "a tuple of 3".
std::string describe(const PickleValue& value);

struct PickleTree {
  std::deque<PickleValue> values;  ///< stay where they are: keys look at them
  PickleId root;

  PickleTree() = default;
  ~PickleTree() = default;
  PickleTree(PickleTree&&) = default;
  PickleTree& operator=(PickleTree&&) = default;
  PickleTree(const PickleTree&) = delete;
  PickleTree& operator=(const PickleTree&) = delete;

  const PickleValue& at(PickleId id) const { return values.at(id.index()); }
  /// Nothing if the value is of another kind.
  template <class Kind>
  const Kind* get_if(PickleId id) const {
    return std::get_if<Kind>(&at(id));
  }
};

}  // namespace cosmic::checkpoint
