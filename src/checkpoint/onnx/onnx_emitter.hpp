// Writes the nodes of one op of a program after the other: what ops in ONNX have in common.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/onnx/onnx_graph.hpp"
#include "core/error.hpp"
#include "graph/graph.hpp"

namespace cosmic::checkpoint::onnx {

class Emitter {
 public:
  using Attributes = std::vector<std::pair<std::string, Attribute>>;

  Emitter(const graph::Graph& program, OnnxGraph& onnx)
      : program_(program), onnx_(onnx), names_(program.size()) {}

  // --- the op that is being written ---

  const std::string& operand(std::size_t i) const { return name(node_->operands.at(i)); }
  const graph::TensorType& operand_type(std::size_t i) const {
    return program_.type(node_->operands.at(i));
  }
  std::size_t operands() const { return node_->operands.size(); }
  const graph::TensorType& type() const { return node_->type; }
  const graph::Graph& program() const { return program_; }

  UserError refusal(std::string_view op, std::string_view why) const;

  // --- its nodes; each returns the name of a result ---

  std::string emit(const std::string& onnx_type, std::vector<std::string> inputs,
                   Attributes attributes = {});
  /// A constant without axes.
  std::string number(double value) { return onnx_.real(static_cast<float>(value)); }
  std::string integers(const std::vector<std::int64_t>& values) { return onnx_.integers(values); }
  std::string add(const std::string& a, const std::string& b) { return emit("Add", {a, b}); }
  std::string subtract(const std::string& a, const std::string& b) { return emit("Sub", {a, b}); }
  std::string multiply(const std::string& a, const std::string& b) { return emit("Mul", {a, b}); }
  std::string divide(const std::string& a, const std::string& b) { return emit("Div", {a, b}); }
  std::string scale(const std::string& x, double by) { return multiply(x, number(by)); }
  std::string reshape(const std::string& x, const graph::Shape& shape) {
    return emit("Reshape", {x, integers(shape)});
  }
  std::string transpose(const std::string& x, const std::vector<std::int64_t>& order) {
    return emit("Transpose", {x}, {{"perm", order}});
  }
  std::string slice(const std::string& x, std::int64_t axis, std::int64_t begin, std::int64_t end) {
    return emit("Slice", {x, integers({begin}), integers({end}), integers({axis})});
  }
  std::string cast(const std::string& x, ElementType to) {
    return emit("Cast", {x}, {{"to", static_cast<std::int64_t>(to)}});
  }
  /// Reduced axes stay, with one element.
  std::string sum(const std::string& x, const std::vector<std::int64_t>& axes);
  std::string mean(const std::string& x, const std::vector<std::int64_t>& axes);
  /// A constant of any shape, such as a kernel.
  std::string reals(const graph::Shape& shape, const std::vector<float>& values) {
    return onnx_.real_tensor(shape, values);
  }
  std::string int32s(const graph::Shape& shape, const std::vector<std::int32_t>& values) {
    return onnx_.int32_tensor(shape, values);
  }

 protected:
  void begin(graph::ValueId id) {
    id_ = id;
    node_ = &program_.node(id);
    emitted_.clear();
  }
  const std::string& name(graph::ValueId id) const { return names_[id.index()]; }

  const graph::Graph& program_;
  OnnxGraph& onnx_;
  std::vector<std::string> names_;  ///< of values that are there, by index
  graph::ValueId id_{0};
  const graph::Node* node_ = nullptr;

 private:
  std::map<std::string, int> emitted_;  ///< nodes of each type, of the op that is being written
};

}  // namespace cosmic::checkpoint::onnx
