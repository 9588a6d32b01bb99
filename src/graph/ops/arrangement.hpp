// Ops that move elements without changing them.
#pragma once

#include "graph/op_definition.hpp"

namespace cosmic::graph {

/// One or more tensors side by side along `axis`.
struct Concat {
  std::int64_t axis = 0;

  static constexpr std::string_view name = "concat";
  static constexpr Arity arity{1, 64};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = as_strongest_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = by_images_unless_along_them;
  static constexpr auto images = any_layout_along_channels;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("axis", axis);
  }
  bool operator==(const Concat&) const = default;

  static TensorType infer(const Concat& op, Types in);
  static Adjoints gradient(const Concat& op, Builder& g, const GradientArgs& args);
  static Cost cost(const Concat&, Types in, const TensorType& out) { return {0, traffic(in, out)}; }
};

/// Elements [begin, end) along `axis`. A split is several slices.
struct Slice {
  std::int64_t axis = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  static constexpr std::string_view name = "slice";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = by_images_unless_along_them;
  static constexpr auto images = any_layout_along_channels;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("axis", axis);
    visit("begin", begin);
    visit("end", end);
  }
  bool operator==(const Slice&) const = default;

  static TensorType infer(const Slice& op, Types in);
  static Adjoints gradient(const Slice& op, Builder& g, const GradientArgs& args);
  static Cost cost(const Slice&, Types, const TensorType& out) {
    return {0, 2.0 * static_cast<double>(out.bytes())};
  }
};

/// x at position `begin` of an axis that is `extent` long, zeros around it: a Slice's gradient.
struct Embed {
  std::int64_t axis = 0;
  std::int64_t begin = 0;
  std::int64_t extent = 0;

  static constexpr std::string_view name = "embed";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = by_images_unless_along_them;
  static constexpr auto images = any_layout_along_channels;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("axis", axis);
    visit("begin", begin);
    visit("extent", extent);
  }
  bool operator==(const Embed&) const = default;

  static TensorType infer(const Embed& op, Types in);
  static Adjoints gradient(const Embed& op, Builder& g, const GradientArgs& args);
  static Cost cost(const Embed&, Types in, const TensorType& out) { return {0, traffic(in, out)}; }
};

/// The same elements in the same order with other extents. Flatten is a reshape.
struct Reshape {
  Shape shape;

  static constexpr std::string_view name = "reshape";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("shape", shape);
  }
  bool operator==(const Reshape&) const = default;

  static TensorType infer(const Reshape& op, Types in);
  static Adjoints gradient(const Reshape& op, Builder& g, const GradientArgs& args);
  static Cost cost(const Reshape&, Types in, const TensorType& out) {
    return {0, traffic(in, out)};
  }
};

/// [planes * B, C, ...] (plane-major) to [B, planes * C, ...]: image (p, b), channel c becomes
/// image b, channel p * C + c.
struct PlanesToChannels {
  std::int64_t planes = 3;

  static constexpr std::string_view name = "planes_to_channels";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::whole>;
  static constexpr auto images = any_layout;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("planes", planes);
  }
  bool operator==(const PlanesToChannels&) const = default;

  static TensorType infer(const PlanesToChannels& op, Types in);
  static Adjoints gradient(const PlanesToChannels& op, Builder& g, const GradientArgs& args);
  static Cost cost(const PlanesToChannels&, Types in, const TensorType& out) {
    return {0, traffic(in, out)};
  }
};

/// [B, planes * C, ...] to [planes * B, C, ...]: the inverse of PlanesToChannels.
struct ChannelsToPlanes {
  std::int64_t planes = 3;

  static constexpr std::string_view name = "channels_to_planes";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::whole>;
  static constexpr auto images = any_layout;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("planes", planes);
  }
  bool operator==(const ChannelsToPlanes&) const = default;

  static TensorType infer(const ChannelsToPlanes& op, Types in);
  static Adjoints gradient(const ChannelsToPlanes& op, Builder& g, const GradientArgs& args);
  static Cost cost(const ChannelsToPlanes&, Types in, const TensorType& out) {
    return {0, traffic(in, out)};
  }
};

/// [B, C, D, H, W] to [D * B, C, H, W], plane-major: how a 3D network hands its planes over.
struct DepthToPlanes {
  static constexpr std::string_view name = "depth_to_planes";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::row;
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::whole>;
  static constexpr auto images = any_layout;
  template <class Visitor>
  void visit_fields(Visitor&&) const {}
  bool operator==(const DepthToPlanes&) const = default;

  static TensorType infer(const DepthToPlanes& op, Types in);
  static Adjoints gradient(const DepthToPlanes& op, Builder& g, const GradientArgs& args);
  static Cost cost(const DepthToPlanes&, Types in, const TensorType& out) {
    return {0, traffic(in, out)};
  }
};

/// [planes * B, C, H, W] to [B, C, planes, H, W]: the inverse of DepthToPlanes.
struct PlanesToDepth {
  std::int64_t planes = 3;

  static constexpr std::string_view name = "planes_to_depth";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::row;
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::whole>;
  static constexpr auto images = any_layout;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("planes", planes);
  }
  bool operator==(const PlanesToDepth&) const = default;

  static TensorType infer(const PlanesToDepth& op, Types in);
  static Adjoints gradient(const PlanesToDepth& op, Builder& g, const GradientArgs& args);
  static Cost cost(const PlanesToDepth&, Types in, const TensorType& out) {
    return {0, traffic(in, out)};
  }
};

/// The same numbers once more: in another format, where that of its node is another. What is to be
/// read rounded and kept unrounded, such as weights, is read through a copy.
struct Copy {
  static constexpr std::string_view name = "copy";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&&) const {}
  bool operator==(const Copy&) const = default;

  static TensorType infer(const Copy&, Types in) { return in[0]; }
  static Adjoints gradient(const Copy&, Builder&, const GradientArgs& args) {
    return {{args.dy}, {}};
  }
  static Cost cost(const Copy&, Types in, const TensorType& out) { return {0, traffic(in, out)}; }
};

/// The same tensor in another memory layout. Targets insert it where layouts meet.
struct Reorder {
  Layout to = Layout::plain;

  static constexpr std::string_view name = "reorder";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::images>;
  static constexpr auto images = any_layout;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("to", to);
  }
  bool operator==(const Reorder&) const = default;

  static TensorType infer(const Reorder&, Types in) { return in[0]; }
  static Adjoints gradient(const Reorder&, Builder&, const GradientArgs& args) {
    return {{args.dy}, {}};
  }
  static Cost cost(const Reorder&, Types in, const TensorType& out) {
    return {0, traffic(in, out)};
  }
};

}  // namespace cosmic::graph
