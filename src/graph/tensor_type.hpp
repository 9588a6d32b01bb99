// What is known about a tensor before it exists: element type and extents. Shapes are static; a
// changed shape is another program.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace cosmic::graph {

enum class DType { f32, i64, u8 };

std::string to_string(DType dtype);
std::int64_t size_of(DType dtype);

using Shape = std::vector<std::int64_t>;

/// "3x8x640x1024"; a scalar prints as "scalar".
std::string to_string(const Shape& shape);

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;

  std::size_t rank() const { return shape.size(); }
  std::int64_t dim(std::size_t axis) const { return shape.at(axis); }
  std::int64_t elements() const;
  std::int64_t bytes() const { return elements() * size_of(dtype); }
  bool operator==(const TensorType&) const = default;
};

/// "f32[3x8x640x1024]".
std::ostream& operator<<(std::ostream& out, const TensorType& type);
std::string to_string(const TensorType& type);

/// A feature map seen the same way for every rank: [N, C], [N, C, H, W] and [N, C, D, H, W].
struct FeatureMap {
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::int64_t depth = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  std::int64_t pixels() const { return depth * rows * columns; }  ///< per image of the batch
};

/// Throws ShapeError naming `what` unless the type has rank 2, 4 or 5.
FeatureMap feature_map(const TensorType& type, const char* what);

/// Throws ShapeError naming `op` if the type has no such axis.
void require_axis(std::string_view op, const TensorType& type, std::int64_t axis);

}  // namespace cosmic::graph
