#include "checkpoint/onnx/onnx_nodes.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "checkpoint/onnx/onnx_emitter.hpp"
#include "checkpoint/onnx/onnx_training_nodes.hpp"
#include "core/error.hpp"

namespace cosmic::checkpoint::onnx {
namespace {

using graph::Graph;
using graph::Node;
using graph::Shape;
using graph::ValueId;

/// In place of the batch in a shape: as many as there are. So a reshape fits any batch.
constexpr std::int64_t kRemaining = -1;

/// A normalisation with remembered statistics, as networks write it in several small ops.
struct BatchNorm {
  ValueId x;
  ValueId weight;
  ValueId bias;
  ValueId mean;
  ValueId variance;
  double epsilon = 0;
};

/// The state behind a reshape, if that is what `id` is.
std::optional<ValueId> reshaped_state(const Graph& program, ValueId id) {
  const Node& node = program.node(id);
  if (graph::op_if<graph::Reshape>(node) == nullptr ||
      graph::op_if<graph::State>(program.node(node.operands[0])) == nullptr) {
    return std::nullopt;
  }
  return node.operands[0];
}

std::optional<BatchNorm> batch_norm_at(const Graph& program, const Node& affine) {
  if (graph::op_if<graph::ChannelAffine>(affine) == nullptr) {
    return std::nullopt;
  }
  const Node& coefficients = program.node(affine.operands[1]);
  const auto* op = graph::op_if<graph::NormCoefficients>(coefficients);
  if (op == nullptr) {
    return std::nullopt;
  }
  const Node& statistics = program.node(coefficients.operands[0]);
  if (graph::op_if<graph::Concat>(statistics) == nullptr || statistics.operands.size() != 2) {
    return std::nullopt;
  }
  const std::optional<ValueId> mean = reshaped_state(program, statistics.operands[0]);
  const std::optional<ValueId> variance = reshaped_state(program, statistics.operands[1]);
  if (!mean || !variance) {
    return std::nullopt;
  }
  return BatchNorm{
      affine.operands[0], coefficients.operands[1], coefficients.operands[2], *mean, *variance,
      op->epsilon};
}

/// The axes of space out of (depth, row, column).
std::vector<std::int64_t> spatial(const std::array<std::int64_t, 3>& factors, std::size_t rank) {
  return {factors.end() - static_cast<std::ptrdiff_t>(rank - 2), factors.end()};
}

/// Before and behind, as ONNX wants padding.
std::vector<std::int64_t> twice(std::vector<std::int64_t> values) {
  const std::size_t size = values.size();
  values.resize(2 * size);
  std::copy_n(values.begin(), size, values.begin() + static_cast<std::ptrdiff_t>(size));
  return values;
}

Shape space_of(const graph::TensorType& type) {
  return {type.shape.begin() + 2, type.shape.end()};
}

class Converter : public Emitter {
 public:
  Converter(const Graph& program, const StateSource& states, OnnxGraph& onnx)
      : Emitter(program, onnx), states_(states) {}

  std::vector<std::string> convert(std::span<const ValueId> wanted) {
    for (const graph::NamedValue& input : program_.inputs) {
      names_[input.value.index()] = input.name;
    }
    const std::vector<bool> needed = values_for(wanted);
    graph::for_each_node(program_, [&](ValueId id, const Node& node) {
      if (needed[id.index()] && names_[id.index()].empty()) {
        begin(id);
        std::visit([&](const auto& op) { names_[id.index()] = add(op); }, node.op);
      }
    });
    std::vector<std::string> names;
    for (const ValueId id : wanted) {
      names.push_back(name(id));
    }
    return names;
  }

 private:
  using Emitter::add;

  std::vector<bool> values_for(std::span<const ValueId> wanted) const {
    std::vector<bool> needed(program_.size(), false);
    for (const ValueId id : wanted) {
      needed[id.index()] = true;
    }
    for (std::size_t i = program_.size(); i-- > 0;) {
      if (!needed[i]) {
        continue;
      }
      const Node& node = program_.node(ValueId(i));
      if (const std::optional<BatchNorm> norm = batch_norm_at(program_, node)) {
        for (const ValueId id : {norm->x, norm->weight, norm->bias, norm->mean, norm->variance}) {
          needed[id.index()] = true;
        }
        continue;
      }
      for (const ValueId operand : node.operands) {
        needed[operand.index()] = true;
      }
    }
    return needed;
  }

  /// A transposition between two reshapes: how elements move between batch, channels and depth.
  std::string rearranged(const Shape& before, const std::vector<std::int64_t>& order,
                         const Shape& after) {
    return reshape(transpose(reshape(operand(0), before), order), after);
  }

  /// A batch of any size and the other extents of `type`.
  static Shape any_batch(const graph::TensorType& type) {
    Shape shape = type.shape;
    shape[0] = kRemaining;
    return shape;
  }

  std::string add(const graph::State& op) {
    const auto found =
        std::find_if(program_.states.begin(), program_.states.end(),
                     [&](const graph::StateVariable& state) { return state.value == id_; });
    COSMIC_ASSERT(found != program_.states.end());
    if (states_.constants == nullptr) {
      return found->name;
    }
    const session::ModelState& state = *states_.constants;
    COSMIC_REQUIRE(UserError, state.has(found->name) && state.type(found->name) == op.type,
                   "the weights have no '" << found->name << "' of type " << op.type
                                           << " (they belong to another network); export the "
                                              "network they were trained with");
    onnx_.tensor(found->name, op.type.shape, state.read(found->name).bytes,
                 element_type_of(op.type.dtype));
    return found->name;
  }

  std::string add(const graph::Add&) { return emit("Add", {operand(0), operand(1)}); }

  std::string add(const graph::LeakyRelu& op) {
    return op.slope == 0
               ? emit("Relu", {operand(0)})
               : emit("LeakyRelu", {operand(0)}, {{"alpha", static_cast<float>(op.slope)}});
  }

  /// Kernel and bias are inputs of the node; an addend is a node of its own.
  std::string add_convolution(const std::string& type,
                              std::vector<std::pair<std::string, Attribute>> attributes,
                              const graph::Window& window) {
    const std::size_t rank = operand_type(0).rank();
    attributes.emplace_back("kernel_shape", space_of(operand_type(1)));
    attributes.emplace_back("strides", spatial(window.stride, rank));
    attributes.emplace_back("pads", twice(spatial(window.pad, rank)));
    std::vector<std::string> inputs{operand(0), operand(1)};
    if (node_->operands.size() > 2) {
      inputs.push_back(operand(2));
    }
    const std::string result = emit(type, std::move(inputs), std::move(attributes));
    return node_->operands.size() > 3 ? emit("Add", {result, operand(3)}) : result;
  }

  std::string add(const graph::Conv& op) {
    const std::string result = add_convolution("Conv", {}, op.window);
    return op.slope == 1
               ? result
               : emit("LeakyRelu", {result}, {{"alpha", static_cast<float>(op.slope)}});
  }

  std::string add(const graph::ConvTranspose& op) {
    // What the stride leaves open, at the far end of each axis.
    std::vector<std::int64_t> open;
    const Shape from = space_of(operand_type(0));
    const Shape kernel = space_of(operand_type(1));
    const std::vector<std::int64_t> stride = spatial(op.window.stride, operand_type(0).rank());
    const std::vector<std::int64_t> pad = spatial(op.window.pad, operand_type(0).rank());
    for (std::size_t axis = 0; axis < from.size(); ++axis) {
      open.push_back(op.image[axis] -
                     ((from[axis] - 1) * stride[axis] - 2 * pad[axis] + kernel[axis]));
    }
    return add_convolution("ConvTranspose", {{"output_padding", open}}, op.window);
  }

  std::string add(const graph::ChannelAffine& op) {
    const std::optional<BatchNorm> norm = batch_norm_at(program_, *node_);
    if (!norm) {
      return training_nodes(*this, op);
    }
    return emit("BatchNormalization",
                {name(norm->x), name(norm->weight), name(norm->bias), name(norm->mean),
                 name(norm->variance)},
                {{"epsilon", static_cast<float>(norm->epsilon)}});
  }

  std::string add(const graph::Concat& op) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < node_->operands.size(); ++i) {
      parts.push_back(operand(i));
    }
    return emit("Concat", std::move(parts), {{"axis", op.axis}});
  }

  std::string add(const graph::Reshape& op) {
    if (op.shape.empty() || op.shape[0] != operand_type(0).dim(0)) {
      throw refusal(op.name, "it changes the batch, which is left open");
    }
    return reshape(operand(0), any_batch(node_->type));
  }

  std::string add(const graph::PlanesToChannels& op) {
    const graph::FeatureMap from = graph::feature_map(operand_type(0), "the operand");
    return rearranged({op.planes, kRemaining, from.channels, from.rows, from.columns},
                      {1, 0, 2, 3, 4}, any_batch(node_->type));
  }

  std::string add(const graph::ChannelsToPlanes& op) {
    const graph::FeatureMap to = graph::feature_map(node_->type, "the result");
    return rearranged({kRemaining, op.planes, to.channels, to.rows, to.columns}, {1, 0, 2, 3, 4},
                      any_batch(node_->type));
  }

  std::string add(const graph::DepthToPlanes&) {
    const std::string moved =
        emit("Transpose", {operand(0)}, {{"perm", std::vector<std::int64_t>{2, 0, 1, 3, 4}}});
    return emit("Reshape", {moved, onnx_.integers(any_batch(node_->type))});
  }

  std::string add(const graph::MaxPool& op) {
    const std::vector<std::int64_t> window = spatial(op.window, node_->type.rank());
    return emit("MaxPool", {operand(0)}, {{"kernel_shape", window}, {"strides", window}});
  }

  std::string add(const graph::Upsample& op) {
    std::vector<float> scales{1, 1};
    for (const std::int64_t factor : spatial(op.factor, node_->type.rank())) {
      scales.push_back(static_cast<float>(factor));
    }
    const bool bilinear = op.interpolation == graph::Interpolation::bilinear;
    std::vector<std::pair<std::string, Attribute>> attributes{
        {"mode", bilinear ? "linear" : "nearest"},
        {"coordinate_transformation_mode", bilinear ? "half_pixel" : "asymmetric"}};
    if (!bilinear) {
      attributes.emplace_back("nearest_mode", "floor");
    }
    // The middle input is a region of interest, which opset 11 insists on; an empty one is none.
    return emit("Resize", {operand(0), onnx_.reals({}), onnx_.reals(scales)},
                std::move(attributes));
  }

  template <class Op>
  std::string add(const Op& op) {
    return training_nodes(*this, op);
  }

  const StateSource& states_;
};

}  // namespace

ElementType element_type_of(graph::DType type) {
  switch (type) {
    case graph::DType::f32:
      return ElementType::f32;
    case graph::DType::i64:
      return ElementType::i64;
    case graph::DType::u8:
      return ElementType::i32;
  }
  COSMIC_ASSERT(false);
}

std::vector<std::string> add_nodes(const Graph& program, std::span<const ValueId> wanted,
                                   const StateSource& states, OnnxGraph& onnx) {
  return Converter(program, states, onnx).convert(wanted);
}

}  // namespace cosmic::checkpoint::onnx
