// Ops that change the resolution of an image. `window` and `factor` are (depth, row, column).
#pragma once

#include <array>

#include "graph/op_definition.hpp"

namespace cosmic::graph {

using Factors = std::array<std::int64_t, 3>;

/// The largest pixel of each window; windows do not overlap, what does not fill one is dropped.
struct MaxPool {
  Factors window{1, 2, 2};

  static constexpr std::string_view name = "max_pool";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::row;
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::images>;
  static constexpr auto images = images_at<Makes::image, 0>;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("window", window);
  }
  bool operator==(const MaxPool&) const = default;

  static TensorType infer(const MaxPool& op, Types in);
  static Adjoints gradient(const MaxPool& op, Builder& g, const GradientArgs& args);
  static Cost cost(const MaxPool&, Types in, const TensorType& out) {
    return {static_cast<double>(in[0].elements()), traffic(in, out)};
  }
};

/// Operands: the input x of a MaxPool, and dy. dy at the first largest pixel of each window in
/// row-major order, zero elsewhere.
struct MaxPoolGradient {
  Factors window{1, 2, 2};

  static constexpr std::string_view name = "max_pool_gradient";
  static constexpr Arity arity{2};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::gradient>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::images>;
  static constexpr auto images = images_at<Makes::image, 0, 1>;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("window", window);
  }
  bool operator==(const MaxPoolGradient&) const = default;

  static TensorType infer(const MaxPoolGradient& op, Types in);
  static Adjoints gradient(const MaxPoolGradient&, Builder&, const GradientArgs&) {
    return no_gradient("second derivatives are not part of a training step");
  }
  static Cost cost(const MaxPoolGradient&, Types in, const TensorType& out) {
    return elementwise_cost(1, in, out);
  }
};

enum class Interpolation { nearest, bilinear };

std::string to_string(Interpolation interpolation);

/// Larger by `factor`. Bilinear doubles rows and columns, source coordinate (i + 0.5) / 2 - 0.5,
/// clamped at the edges.
struct Upsample {
  Interpolation interpolation = Interpolation::bilinear;
  Factors factor{1, 2, 2};

  static constexpr std::string_view name = "upsample";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::row;
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::images>;
  static constexpr auto images = images_at<Makes::image, 0>;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("interpolation", interpolation);
    visit("factor", factor);
  }
  bool operator==(const Upsample&) const = default;

  static TensorType infer(const Upsample& op, Types in);
  static Adjoints gradient(const Upsample& op, Builder& g, const GradientArgs& args);
  static Cost cost(const Upsample& op, Types in, const TensorType& out) {
    return elementwise_cost(op.interpolation == Interpolation::bilinear ? 6 : 0, in, out);
  }
};

/// Operand: dy. The adjoint of Upsample.
struct UpsampleGradient {
  Interpolation interpolation = Interpolation::bilinear;
  Factors factor{1, 2, 2};

  static constexpr std::string_view name = "upsample_gradient";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::gradient>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::images>;
  static constexpr auto images = images_at<Makes::image, 0>;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("interpolation", interpolation);
    visit("factor", factor);
  }
  bool operator==(const UpsampleGradient&) const = default;

  static TensorType infer(const UpsampleGradient& op, Types in);
  static Adjoints gradient(const UpsampleGradient&, Builder&, const GradientArgs&) {
    return no_gradient("second derivatives are not part of a training step");
  }
  static Cost cost(const UpsampleGradient& op, Types in, const TensorType& out) {
    return {(op.interpolation == Interpolation::bilinear ? 6.0 : 1.0) *
                static_cast<double>(in[0].elements()),
            traffic(in, out)};
  }
};

}  // namespace cosmic::graph
