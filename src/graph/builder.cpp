#include "graph/builder.hpp"

#include "core/error.hpp"

namespace cosmic::graph {

ValueId Builder::input(const std::string& name, TensorType type) {
  // Counted here, before any op multiplies its extents.
  static_cast<void>(type.elements());
  const ValueId id = graph_.append({Input{type}, {}, type, name});
  graph_.inputs.push_back({name, id});
  return id;
}

ValueId Builder::state(const std::string& name, TensorType type, StateKind kind,
                       Initializer initializer) {
  for (const std::int64_t extent : type.shape) {
    COSMIC_REQUIRE(ShapeError, extent > 0,
                   "state '" << name << "' would be " << type
                             << " (every extent must be positive); check the filter counts");
  }
  Node node{State{type}, {}, type, name};
  node.stage = stage_;
  const ValueId id = graph_.append(std::move(node));
  graph_.states.push_back({name, id, kind, initializer});
  return id;
}

ValueId Builder::add(AnyOp op, std::vector<ValueId> operands) {
  std::vector<TensorType> in;
  in.reserve(operands.size());
  for (const ValueId operand : operands) {
    in.push_back(graph_.type(operand));
  }
  TensorType type = std::visit(
      [&](const auto& o) {
        using Op = std::decay_t<decltype(o)>;
        COSMIC_REQUIRE(ShapeError, in.size() >= Op::arity.least && in.size() <= Op::arity.most,
                       Op::name << " at '" << scope_ << "' was given " << in.size()
                                << " operands (it takes " << Op::arity.least << " to "
                                << Op::arity.most << ")");
        try {
          return Op::infer(o, in);
        } catch (const ShapeError& error) {
          throw ShapeError((scope_.empty() ? "" : scope_ + ": ") + error.what());
        }
      },
      op);
  Node node{std::move(op), std::move(operands), std::move(type), scope_};
  node.stage = stage_;
  return graph_.append(std::move(node));
}

std::string Builder::scoped(const std::string& leaf) const {
  return scope_.empty() ? leaf : scope_ + "." + leaf;
}

Builder::Scope::Scope(Builder& builder, const std::string& name)
    : builder_(builder), outer_(builder.scope_) {
  builder_.scope_ = builder_.scoped(name);
}

}  // namespace cosmic::graph
