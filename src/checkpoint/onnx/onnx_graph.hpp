// An ONNX model under construction: inputs, constants, nodes, outputs, and the bytes of the file.
// Knows the file format and nothing about networks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/protobuf_writer.hpp"

namespace cosmic::checkpoint::onnx {

inline constexpr int kOldestOpset = 11;
inline constexpr int kNewestOpset = 17;

/// Throws UserError for a version of the operators that is not written.
void require_opset(int opset);

using Attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>>;

struct OnnxNode {
  std::string type;  ///< "Conv"
  std::string name;
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
  std::vector<std::pair<std::string, Attribute>> attributes = {};
};

/// Of a tensor's elements, by the number of the format.
enum class ElementType : std::int64_t { f32 = 1, i32 = 6, i64 = 7 };

/// An extent, or the name of one that is known only when the model runs.
using Dimension = std::variant<std::int64_t, std::string>;

/// Nodes are added after those whose results they read.
class OnnxGraph {
 public:
  /// Nodes are of this version of the operators. Throws what require_opset throws.
  explicit OnnxGraph(const std::string& name, int opset = kNewestOpset);

  int opset() const { return opset_; }

  void input(const std::string& name, const std::vector<Dimension>& shape,
             ElementType type = ElementType::f32);
  void output(const std::string& name, const std::vector<Dimension>& shape,
              ElementType type = ElementType::f32);
  void node(const OnnxNode& node);
  /// A constant tensor, little-endian, row-major. Once per name; asked again, it is there.
  void tensor(const std::string& name, const std::vector<std::int64_t>& shape,
              std::span<const std::byte> bytes, ElementType type = ElementType::f32);
  /// The name of a constant vector; equal vectors are one constant.
  std::string integers(const std::vector<std::int64_t>& values);
  std::string reals(const std::vector<float>& values);
  /// The same for a number without axes, and for tensors of any shape.
  std::string real(float value);
  std::string real_tensor(const std::vector<std::int64_t>& shape, const std::vector<float>& values);
  std::string int32_tensor(const std::vector<std::int64_t>& shape,
                           const std::vector<std::int32_t>& values);

  /// The whole file. Throws UserError if it is larger than the format allows.
  std::string encode(const std::map<std::string, std::string>& metadata) const;

 private:
  int opset_;
  ProtobufWriter graph_;
  std::set<std::string> constants_;
};

}  // namespace cosmic::checkpoint::onnx
