#include "checkpoint/tensor_storage.hpp"

#include <bit>
#include <cstring>

#include "core/error.hpp"
#include "core/printable.hpp"

namespace cosmic::checkpoint {
namespace {

// A network that shares weights shows some bytes twice, and two-byte numbers become four; tensors
// that are larger still are made of a small file on purpose.
constexpr std::uint64_t kMaxGrowth = 4;

float from_bfloat16(std::uint16_t bits) {
  constexpr unsigned kDroppedBits = 16;
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << kDroppedBits);
}

/// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits.
float from_float16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fU;
  const std::uint32_t fraction = bits & 0x3ffU;
  if (exponent == 0) {
    constexpr float kSmallest = 0x1p-24F;  // a subnormal is a multiple of it
    const float value = static_cast<float>(fraction) * kSmallest;
    return sign != 0 ? -value : value;
  }
  constexpr std::uint32_t kWiderBias = 127 - 15;
  const std::uint32_t wide_exponent = exponent == 0x1fU ? 0xffU : exponent + kWiderBias;
  return std::bit_cast<float>(sign | (wide_exponent << 23) | (fraction << 13));
}

graph::DType dtype_of(StorageType type) {
  switch (type) {
    case StorageType::f64:
    case StorageType::f32:
    case StorageType::f16:
    case StorageType::bf16:
      return graph::DType::f32;
    case StorageType::i64:
    case StorageType::i32:
    case StorageType::i16:
    case StorageType::i8:
      return graph::DType::i64;
    case StorageType::u8:
    case StorageType::boolean:
      return graph::DType::u8;
  }
  return graph::DType::f32;
}

template <class From>
From element(std::span<const std::byte> storage, std::uint64_t index) {
  From value{};
  std::memcpy(&value, storage.data() + index * sizeof(From), sizeof(From));
  return value;
}

/// Calls copy(to, from) for each element of the tensor, row-major.
template <class Copy>
void for_each_element(const PickleTensor& tensor, std::size_t elements, const Copy& copy) {
  std::vector<std::int64_t> index(tensor.shape.size(), 0);
  std::uint64_t from = tensor.offset;
  for (std::size_t to = 0; to < elements; ++to) {
    copy(to, from);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      from += static_cast<std::uint64_t>(tensor.strides[axis]);
      if (++index[axis] < tensor.shape[axis]) {
        break;
      }
      from -= static_cast<std::uint64_t>(tensor.strides[axis] * tensor.shape[axis]);
      index[axis] = 0;
    }
  }
}

template <class From, class To, class Convert>
void copy_elements(const PickleTensor& tensor, std::span<const std::byte> storage,
                   session::Tensor& result, const Convert& convert) {
  const std::span<To> to = result.as<To>();
  for_each_element(tensor, to.size(), [&](std::size_t place, std::uint64_t from) {
    to[place] = convert(element<From>(storage, from));
  });
}

template <class From, class To>
void copy_elements(const PickleTensor& tensor, std::span<const std::byte> storage,
                   session::Tensor& result) {
  copy_elements<From, To>(tensor, storage, result,
                          [](From value) { return static_cast<To>(value); });
}

void copy_all(const PickleTensor& tensor, std::span<const std::byte> storage,
              session::Tensor& result) {
  switch (tensor.storage.type) {
    case StorageType::f64:
      return copy_elements<double, float>(tensor, storage, result);
    case StorageType::f32:
      return copy_elements<float, float>(tensor, storage, result);
    case StorageType::f16:
      return copy_elements<std::uint16_t, float>(tensor, storage, result, from_float16);
    case StorageType::bf16:
      return copy_elements<std::uint16_t, float>(tensor, storage, result, from_bfloat16);
    case StorageType::i64:
      return copy_elements<std::int64_t, std::int64_t>(tensor, storage, result);
    case StorageType::i32:
      return copy_elements<std::int32_t, std::int64_t>(tensor, storage, result);
    case StorageType::i16:
      return copy_elements<std::int16_t, std::int64_t>(tensor, storage, result);
    case StorageType::i8:
      return copy_elements<std::int8_t, std::int64_t>(tensor, storage, result);
    case StorageType::u8:
    case StorageType::boolean:
      return copy_elements<std::uint8_t, std::uint8_t>(tensor, storage, result);
  }
}

}  // namespace

session::Tensor TensorReader::read(const PickleTensor& tensor) {
  const PickleStorage& storage = tensor.storage;
  const std::uint64_t announced = storage.elements * size_of(storage.type);
  const std::uint64_t present = source_.bytes(storage.key);
  COSMIC_REQUIRE(DataError, present == announced,
                 "the storage " << printable(storage.key) << " has " << present << " bytes ("
                                << storage.elements << " elements of " << to_string(storage.type)
                                << " need " << announced
                                << "); the file is damaged, copy it again");
  if (cached_key_ != storage.key || cached_.size() != present) {
    bytes_read_ += present;
    COSMIC_REQUIRE(
        DataError, bytes_read_ <= kMaxGrowth * source_.total_bytes(),
        "the storage " << printable(storage.key) << " is read again and again (the tensors "
                       << "together read " << bytes_read_ << " bytes of an archive of "
                       << source_.total_bytes() << "); the file was not written by PyTorch");
    cached_ = source_.read(storage.key);
    cached_key_ = storage.key;
  }
  // The shape was checked against the storage, so its bytes can be counted.
  const graph::TensorType type{dtype_of(storage.type), tensor.shape};
  bytes_made_ += static_cast<std::uint64_t>(type.bytes());
  COSMIC_REQUIRE(DataError, bytes_made_ <= 2 * kMaxGrowth * source_.total_bytes(),
                 "the tensors have more than " << bytes_made_ << " bytes (the archive has "
                                               << source_.total_bytes()
                                               << "); the file was not written by PyTorch");
  session::Tensor result(type);
  copy_all(tensor, cached_, result);
  return result;
}

}  // namespace cosmic::checkpoint
