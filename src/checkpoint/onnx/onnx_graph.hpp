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

/// An extent, or the name of one that is known only when the model runs.
using Dimension = std::variant<std::int64_t, std::string>;

/// Nodes are added after those whose results they read; all values are f32 but shapes.
class OnnxGraph {
 public:
  explicit OnnxGraph(const std::string& name);

  void input(const std::string& name, const std::vector<Dimension>& shape);
  void output(const std::string& name, const std::vector<Dimension>& shape);
  void node(const OnnxNode& node);
  /// A constant f32 tensor, little-endian, row-major. Once per name; asked again, it is there.
  void tensor(const std::string& name, const std::vector<std::int64_t>& shape,
              std::span<const std::byte> bytes);
  /// The name of a constant vector; equal vectors are one constant.
  std::string integers(const std::vector<std::int64_t>& values);
  std::string reals(const std::vector<float>& values);

  /// The whole file. Throws UserError if it is larger than the format allows.
  std::string encode(int opset, const std::map<std::string, std::string>& metadata) const;

 private:
  enum class ElementType : std::int64_t { f32 = 1, i64 = 7 };

  void constant(const std::string& name, ElementType type, const std::vector<std::int64_t>& shape,
                std::span<const std::byte> bytes);

  ProtobufWriter graph_;
  std::set<std::string> constants_;
};

}  // namespace cosmic::checkpoint::onnx
