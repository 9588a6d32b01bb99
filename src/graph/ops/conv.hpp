// Convolution and its two adjoints, in two and three dimensions.
//
// Images are [batch, channel, (depth,) row, column]; kernels [filter, channel, (depth,) row,
// column]. A transposed convolution is the adjoint of a convolution with respect to its image, so
// the layer and the gradient are one op.
#pragma once

#include <array>

#include "graph/op_definition.hpp"

namespace cosmic::graph {

/// How a kernel moves over an image: (depth, row, column). Two-dimensional images ignore depth.
struct Window {
  std::array<std::int64_t, 3> stride{1, 1, 1};
  std::array<std::int64_t, 3> pad{0, 0, 0};

  bool operator==(const Window&) const = default;
};

/// Operands: image, kernel [co, ci, ...], optionally bias [co], optionally an addend shaped as the
/// result (a sum of convolutions without a pass of its own; an addend implies a bias operand).
struct Conv {
  Window window;
  double slope = 1;  ///< of the leaky activation that the result passes through; 1: none

  static constexpr std::string_view name = "conv";
  static constexpr Arity arity{2, 4};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = weights_at<1, 2>;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::images>;
  static constexpr auto images = images_at<Makes::image, 0, 3>;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("stride", window.stride);
    visit("pad", window.pad);
    visit("slope", slope);
  }
  bool operator==(const Conv&) const = default;

  static TensorType infer(const Conv& op, Types in);
  static Adjoints gradient(const Conv& op, Builder& g, const GradientArgs& args);
  static Cost cost(const Conv& op, Types in, const TensorType& out);
};

/// Operands: y [batch, ci, ...], kernel [ci, co, ...], optionally bias [co], optionally an addend
/// shaped as the result. Result: the image whose Conv with the same window and kernel has y's
/// shape.
struct ConvTranspose {
  Window window;
  Shape image;  ///< spatial extents of the result; several would do when the stride is not 1

  static constexpr std::string_view name = "conv_transpose";
  static constexpr Arity arity{2, 4};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = weights_at<1, 2>;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::images>;
  static constexpr auto images = images_at<Makes::image, 0, 3>;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("stride", window.stride);
    visit("pad", window.pad);
    visit("image", image);
  }
  bool operator==(const ConvTranspose&) const = default;

  static TensorType infer(const ConvTranspose& op, Types in);
  static Adjoints gradient(const ConvTranspose& op, Builder& g, const GradientArgs& args);
  static Cost cost(const ConvTranspose& op, Types in, const TensorType& out);
};

/// Operands: the image of a Conv and dy. Result: the gradient of its kernel.
struct ConvKernelGradient {
  Window window;
  Shape kernel;  ///< spatial extents of the kernel

  static constexpr std::string_view name = "conv_kernel_gradient";
  static constexpr Arity arity{2};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::weight_gradient>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::pixel_products;
  static constexpr auto division = always<Division::sums>;
  static constexpr auto images = images_at<Makes::numbers, 0, 1>;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("stride", window.stride);
    visit("pad", window.pad);
    visit("kernel", kernel);
  }
  bool operator==(const ConvKernelGradient&) const = default;

  static TensorType infer(const ConvKernelGradient& op, Types in);
  static Adjoints gradient(const ConvKernelGradient&, Builder&, const GradientArgs&) {
    return no_gradient("second derivatives are not part of a training step");
  }
  static Cost cost(const ConvKernelGradient& op, Types in, const TensorType& out);
};

/// kernel[c, ...] or kernel[., c, ...] times coefficients[0, 0, c]: a normalisation that follows
/// the convolution, moved into its kernel. `filter_axis` is the axis of the filters (0, or 1 for a
/// ConvTranspose).
struct ScaleFilters {
  std::int64_t filter_axis = 0;

  static constexpr std::string_view name = "scale_filters";
  static constexpr Arity arity{2};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("filter_axis", filter_axis);
  }
  bool operator==(const ScaleFilters&) const = default;

  static TensorType infer(const ScaleFilters& op, Types in);
  static Adjoints gradient(const ScaleFilters&, Builder&, const GradientArgs&) {
    return no_gradient("it appears only in inference programs, after folding");
  }
  static Cost cost(const ScaleFilters&, Types in, const TensorType& out) {
    return elementwise_cost(1, in, out);
  }
};

}  // namespace cosmic::graph
