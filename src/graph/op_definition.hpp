// What every op must say about itself, in one place: its name, how many operands it takes, the
// shape of its result, its gradient and its cost, and what it is to the compiler (op_nature.hpp).
// An op that leaves one out does not compile.
//
// An op is a struct whose members are its attributes. The answers are static functions of it.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/id.hpp"
#include "graph/op_nature.hpp"
#include "graph/tensor_type.hpp"

namespace cosmic::graph {

class Builder;

/// A node yields exactly one value, so a value is named by its node.
using ValueId = Id<struct Value_>;

struct Arity {
  std::size_t least = 0;
  std::size_t most = 0;

  constexpr explicit Arity(std::size_t exactly) : least(exactly), most(exactly) {}
  constexpr Arity(std::size_t at_least, std::size_t at_most) : least(at_least), most(at_most) {}
};

/// Work done by one execution: what a machine model or a roofline needs.
struct Cost {
  double flops = 0;
  double bytes = 0;  ///< read and written, each tensor once
};

/// Which part of its operands an op needs to compute a part of its result. What is local can be
/// recomputed where it is read instead of being stored (see compile/passes/choose_stored_values).
enum class Locality {
  pixel,  ///< the same pixel of each full-size operand, plus per-channel numbers
  row,    ///< a few rows of its operands for each row
  whole,  ///< anything
};

/// How a value lies in memory. `blocked` groups channels so that a vector holds several of one
/// pixel; `interleaved` groups images so that a vector holds the same pixel of several. The size of
/// a group is the target's. Targets without such layouts leave everything plain.
enum class Layout { plain, blocked, interleaved };

std::string to_string(Layout layout);

/// What a gradient rule may look at.
struct GradientArgs {
  std::span<const ValueId> in;  ///< the operands
  ValueId out;                  ///< the result
  ValueId dy;                   ///< the gradient of the loss with respect to the result
};

/// One gradient per operand, none where the operand is not differentiated (labels, say); or the
/// reason why the op has no gradient at all.
struct Adjoints {
  std::vector<std::optional<ValueId>> of;
  std::string refusal;
};

/// For ops that are never differentiated. The reason reaches whoever tries.
inline Adjoints no_gradient(std::string reason) {
  return {{}, std::move(reason)};
}

template <class Op>
concept OpDefinition = std::equality_comparable<Op> &&
    requires(const Op& op, Types in, const TensorType& out, Builder& builder,
             const GradientArgs& args, Roles roles, std::size_t operand) {
  { Op::name } -> std::convertible_to<std::string_view>;
  { Op::arity } -> std::convertible_to<Arity>;
  { Op::locality } -> std::convertible_to<Locality>;
  { Op::role(op, roles) } -> std::same_as<Role>;
  { Op::is_weight(operand, Role{}) } -> std::same_as<bool>;
  { Op::overwrite } -> std::convertible_to<Overwrite>;
  { Op::exact } -> std::convertible_to<Exact>;
  { Op::reduction } -> std::convertible_to<Reduction>;
  { Op::division(op) } -> std::same_as<Division>;
  { Op::images(op, in) } -> std::same_as<ImageUse>;
  { Op::infer(op, in) } -> std::same_as<TensorType>;
  { Op::gradient(op, builder, args) } -> std::same_as<Adjoints>;
  { Op::cost(op, in, out) } -> std::same_as<Cost>;
  op.visit_fields([](std::string_view, const auto&) {});
};

/// Bytes of all operands and the result: the least any implementation moves.
inline double traffic(Types in, const TensorType& out) {
  double bytes = static_cast<double>(out.bytes());
  for (const TensorType& type : in) {
    bytes += static_cast<double>(type.bytes());
  }
  return bytes;
}

/// Cost of an op that does `flops_per_element` on each element of its result.
inline Cost elementwise_cost(double flops_per_element, Types in, const TensorType& out) {
  return {flops_per_element * static_cast<double>(out.elements()), traffic(in, out)};
}

}  // namespace cosmic::graph
