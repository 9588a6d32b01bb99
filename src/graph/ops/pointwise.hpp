// Ops that work on each element alone, and the sums their gradients need.
#pragma once

#include "graph/op_definition.hpp"

namespace cosmic::graph {

/// a + b, same type.
struct Add {
  static constexpr std::string_view name = "add";
  static constexpr Arity arity{2};
  static constexpr Locality locality = Locality::pixel;
  static constexpr auto role = as_strongest_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::first_operand;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = any_layout;
  template <class Visitor>
  void visit_fields(Visitor&&) const {}
  bool operator==(const Add&) const = default;

  static TensorType infer(const Add& op, Types in);
  static Adjoints gradient(const Add& op, Builder& g, const GradientArgs& args);
  static Cost cost(const Add&, Types in, const TensorType& out) {
    return elementwise_cost(1, in, out);
  }
};

/// factor * x.
struct Scale {
  double factor = 1;

  static constexpr std::string_view name = "scale";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::pixel;
  static constexpr auto role = as_strongest_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = any_layout;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("factor", factor);
  }
  bool operator==(const Scale&) const = default;

  static TensorType infer(const Scale& op, Types in);
  static Adjoints gradient(const Scale& op, Builder& g, const GradientArgs& args);
  static Cost cost(const Scale&, Types in, const TensorType& out) {
    return elementwise_cost(1, in, out);
  }
};

/// x where x > 0, slope * x elsewhere. Slope 0 is ReLU.
struct LeakyRelu {
  double slope = 0.01;

  static constexpr std::string_view name = "leaky_relu";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::pixel;
  static constexpr auto role = as_strongest_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = any_layout;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("slope", slope);
  }
  bool operator==(const LeakyRelu&) const = default;

  static TensorType infer(const LeakyRelu& op, Types in);
  static Adjoints gradient(const LeakyRelu& op, Builder& g, const GradientArgs& args);
  static Cost cost(const LeakyRelu&, Types in, const TensorType& out) {
    return elementwise_cost(1, in, out);
  }
};

/// Operands: the input x of a LeakyRelu, and dy. dy where x > 0, slope * dy elsewhere.
struct LeakyReluGradient {
  double slope = 0.01;

  static constexpr std::string_view name = "leaky_relu_gradient";
  static constexpr Arity arity{2};
  static constexpr Locality locality = Locality::pixel;
  static constexpr auto role = as_strongest_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = any_layout;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("slope", slope);
  }
  bool operator==(const LeakyReluGradient&) const = default;

  static TensorType infer(const LeakyReluGradient& op, Types in);
  static Adjoints gradient(const LeakyReluGradient&, Builder&, const GradientArgs&) {
    return no_gradient("second derivatives are not part of a training step");
  }
  static Cost cost(const LeakyReluGradient&, Types in, const TensorType& out) {
    return elementwise_cost(1, in, out);
  }
};

/// x[n, c, ...] + bias[c].
struct ChannelBias {
  static constexpr std::string_view name = "channel_bias";
  static constexpr Arity arity{2};
  static constexpr Locality locality = Locality::pixel;
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = weights_at<1>;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = image_unless_matrix<Makes::image>;
  template <class Visitor>
  void visit_fields(Visitor&&) const {}
  bool operator==(const ChannelBias&) const = default;

  static TensorType infer(const ChannelBias& op, Types in);
  static Adjoints gradient(const ChannelBias& op, Builder& g, const GradientArgs& args);
  static Cost cost(const ChannelBias&, Types in, const TensorType& out) {
    return elementwise_cost(1, in, out);
  }
};

/// Sum over everything but the channel axis (axis 1): the gradient of a bias.
struct ChannelSum {
  static constexpr std::string_view name = "channel_sum";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::weight_gradient>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::pixels;
  static constexpr auto division = always<Division::sums>;
  static constexpr auto images = image_unless_matrix<Makes::numbers>;
  template <class Visitor>
  void visit_fields(Visitor&&) const {}
  bool operator==(const ChannelSum&) const = default;

  static TensorType infer(const ChannelSum& op, Types in);
  static Adjoints gradient(const ChannelSum&, Builder&, const GradientArgs&) {
    return no_gradient("second derivatives are not part of a training step");
  }
  static Cost cost(const ChannelSum&, Types in, const TensorType& out) {
    return {static_cast<double>(in[0].elements()), traffic(in, out)};
  }
};

}  // namespace cosmic::graph
