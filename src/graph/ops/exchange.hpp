// What processes that train one model together compute together.
#pragma once

#include "core/number_format.hpp"
#include "graph/op_definition.hpp"

namespace cosmic::graph {

/// How many tensors AllReduce takes; a program with more gradients has several.
inline constexpr std::size_t kMostExchanged = 16;

/// Operands: up to kMostExchanged tensors of floats. All numbers, laid out by exchange_begins, each
/// multiplied by `factor` and added up over all processes that run the program, from 0 on in the
/// order of their ranks: ((0 + rank 0) + rank 1) + rank 2 and so on. So every process has the same
/// bits, and they are those that one process adds up from as many replicas. Alone, a process has
/// its own numbers.
///
/// In a narrow format each factor times number is rounded to it, to nearest, and the sum, which is
/// made in float32, once more: what travels takes half the bytes. Alone, too, a process has its
/// numbers as they would have travelled.
///
/// The sum may still be on its way when later nodes run; whoever reads it waits for it.
struct AllReduce {
  double factor = 1;
  NumberFormat format = NumberFormat::f32;  ///< that numbers travel in

  static constexpr std::string_view name = "all_reduce";
  static constexpr Arity arity{1, kMostExchanged};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::whole>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("factor", factor);
    visit("format", format);
  }
  bool operator==(const AllReduce&) const = default;

  static TensorType infer(const AllReduce& op, Types in);
  static Adjoints gradient(const AllReduce&, Builder&, const GradientArgs&) {
    return no_gradient("gradients are exchanged, not differentiated");
  }
  /// Of one process: what goes over the wire depends on how many there are, which a program does
  /// not know. The sum is written as it travels.
  static Cost cost(const AllReduce& op, Types in, const TensorType& out) {
    const Cost cost = elementwise_cost(2, in, out);
    return {cost.flops, cost.bytes - static_cast<double>(out.bytes()) +
                            exchanged_bytes(static_cast<double>(out.elements()), op.format)};
  }
  /// What each process gives: the size of the message that a ring passes on.
  static double exchanged_bytes(double elements, NumberFormat format) {
    return elements * static_cast<double>(bytes_of(format));
  }
};

}  // namespace cosmic::graph
