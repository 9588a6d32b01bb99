#include "checkpoint/pickle_value.hpp"

#include "core/printable.hpp"

namespace cosmic::checkpoint {
namespace {

struct Description {
  std::string operator()(const PickleNone&) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(std::int64_t value) const { return "the number " + std::to_string(value); }
  std::string operator()(double value) const { return "the number " + std::to_string(value); }
  std::string operator()(const std::string& text) const { return "the text " + printable(text); }
  std::string operator()(const PickleBytes& value) const {
    return std::to_string(value.bytes.size()) + " bytes";
  }
  std::string operator()(const PickleTuple& value) const {
    return "a tuple of " + std::to_string(value.items.size());
  }
  std::string operator()(const PickleList& value) const {
    return "a list of " + std::to_string(value.items.size());
  }
  std::string operator()(const PickleDict& value) const {
    return "a dictionary of " + std::to_string(value.items.size());
  }
  std::string operator()(const PickleGlobal&) const { return "a function or type"; }
  std::string operator()(const PickleStorage& value) const {
    return "the storage " + printable(value.key);
  }
  std::string operator()(const PickleTensor& value) const {
    return "a tensor in the storage " + printable(value.storage.key);
  }
  std::string operator()(const NumpyType& value) const {
    return "the numpy type " + printable(value.name);
  }
};

}  // namespace

std::uint64_t size_of(StorageType type) {
  switch (type) {
    case StorageType::f64:
    case StorageType::i64:
      return 8;
    case StorageType::f32:
    case StorageType::i32:
      return 4;
    case StorageType::f16:
    case StorageType::bf16:
    case StorageType::i16:
      return 2;
    case StorageType::i8:
    case StorageType::u8:
    case StorageType::boolean:
      return 1;
  }
  return 0;
}

std::string to_string(StorageType type) {
  switch (type) {
    case StorageType::f64:
      return "float64";
    case StorageType::f32:
      return "float32";
    case StorageType::f16:
      return "float16";
    case StorageType::bf16:
      return "bfloat16";
    case StorageType::i64:
      return "int64";
    case StorageType::i32:
      return "int32";
    case StorageType::i16:
      return "int16";
    case StorageType::i8:
      return "int8";
    case StorageType::u8:
      return "uint8";
    case StorageType::boolean:
      return "bool";
  }
  return "";
}

std::string describe(const PickleValue& value) {
  return std::visit(Description{}, value);
}

}  // namespace cosmic::checkpoint
