// The checked way to write a program. Every value's type follows from its op's own rule, and an
// impossible combination stops here, naming the layer, the shapes and the reason.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace cosmic::graph {

class Builder {
 public:
  /// Goes on with an existing graph, or starts an empty one.
  explicit Builder(Graph graph = {}) : graph_(std::move(graph)) {}

  ValueId input(const std::string& name, TensorType type);
  ValueId state(const std::string& name, TensorType type, StateKind kind, Initializer initializer);
  ValueId parameter(const std::string& name, Shape shape, Initializer initializer) {
    return state(name, {DType::f32, std::move(shape)}, StateKind::parameter, initializer);
  }
  ValueId fill(TensorType type, double value) { return add(Fill{std::move(type), value}, {}); }

  /// Appends `op` applied to `operands`. Throws ShapeError, with the layer's name, if it cannot be.
  ValueId add(AnyOp op, std::vector<ValueId> operands);

  void output(const std::string& name, ValueId value) { graph_.outputs.push_back({name, value}); }
  void update(ValueId state, ValueId value) { graph_.updates.push_back({state, value}); }

  const TensorType& type(ValueId id) const { return graph_.type(id); }
  const Graph& graph() const { return graph_; }
  /// Ends the building.
  Graph take() { return std::move(graph_); }

  /// Nodes added while a Scope lives carry its name, nested names joined by dots.
  class Scope {
   public:
    Scope(Builder& builder, const std::string& name);
    ~Scope() { builder_.scope_ = outer_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Builder& builder_;
    std::string outer_;
  };

  /// The name of the layer under construction, with `leaf` appended.
  std::string scoped(const std::string& leaf) const;
  /// Sets the layer name outright: a gradient belongs to the layer of its forward op.
  void set_scope(std::string scope) { scope_ = std::move(scope); }
  /// The stage of what is added from now on, likewise.
  void set_stage(std::int64_t stage) { stage_ = stage; }

 private:
  Graph graph_;
  std::string scope_;
  std::int64_t stage_ = 0;
};

}  // namespace cosmic::graph
