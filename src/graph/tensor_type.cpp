#include "graph/tensor_type.hpp"

#include <ostream>
#include <sstream>

#include "core/error.hpp"

namespace cosmic::graph {

std::string to_string(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::i64:
      return "i64";
    case DType::u8:
      return "u8";
  }
  throw InternalError("unknown element type");
}

std::int64_t size_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 4;
    case DType::i64:
      return 8;
    case DType::u8:
      return 1;
  }
  throw InternalError("unknown element type");
}

std::string to_string(const Shape& shape) {
  if (shape.empty()) {
    return "scalar";
  }
  std::string text;
  for (const std::int64_t extent : shape) {
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  }
  return text;
}

namespace {

// A petabyte of float32. The bytes of thousands of such values can still be added up.
constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

}  // namespace

std::int64_t TensorType::elements() const {
  std::int64_t product = 1;
  bool fits = true;
  for (const std::int64_t extent : shape) {
    fits = !__builtin_mul_overflow(product, extent, &product) && fits;
  }
  COSMIC_REQUIRE(ShapeError, fits && product <= kMostElements,
                 *this << " has more than " << kMostElements
                       << " elements (more than any machine's memory holds); use a smaller image, "
                          "batch or network");
  return product;
}

std::ostream& operator<<(std::ostream& out, const TensorType& type) {
  return out << to_string(type.dtype) << '[' << to_string(type.shape) << ']';
}

std::string to_string(const TensorType& type) {
  std::ostringstream text;
  text << type;
  return text.str();
}

FeatureMap feature_map(const TensorType& type, const char* what) {
  const Shape& s = type.shape;
  switch (s.size()) {
    case 2:
      return {s[0], s[1], 1, 1, 1};
    case 4:
      return {s[0], s[1], 1, s[2], s[3]};
    case 5:
      return {s[0], s[1], s[2], s[3], s[4]};
    default:
      throw ShapeError(std::string(what) + " is " + to_string(type) +
                       " (a feature map has rank 2, 4 or 5); reshape it first");
  }
}

void require_axis(std::string_view op, const TensorType& type, std::int64_t axis) {
  COSMIC_REQUIRE(ShapeError, axis >= 0 && axis < static_cast<std::int64_t>(type.rank()),
                 op << " along axis " << axis << " of " << type << " (there is no such axis)");
}

}  // namespace cosmic::graph
