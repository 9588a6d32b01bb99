// Field numbers are those of onnx.proto.
#include "checkpoint/onnx/onnx_graph.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <limits>

#include "core/config.hpp"
#include "core/error.hpp"

namespace cosmic::checkpoint::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "raw tensor data is little-endian");

namespace model_field {
constexpr std::uint32_t kIrVersion = 1;
constexpr std::uint32_t kProducerName = 2;
constexpr std::uint32_t kProducerVersion = 3;
constexpr std::uint32_t kGraph = 7;
constexpr std::uint32_t kOpsetImport = 8;
constexpr std::uint32_t kMetadata = 14;
}  // namespace model_field

namespace opset_field {
constexpr std::uint32_t kDomain = 1;
constexpr std::uint32_t kVersion = 2;
}  // namespace opset_field

namespace metadata_field {
constexpr std::uint32_t kKey = 1;
constexpr std::uint32_t kValue = 2;
}  // namespace metadata_field

namespace graph_field {
constexpr std::uint32_t kNode = 1;
constexpr std::uint32_t kName = 2;
constexpr std::uint32_t kInitializer = 5;
constexpr std::uint32_t kInput = 11;
constexpr std::uint32_t kOutput = 12;
}  // namespace graph_field

namespace node_field {
constexpr std::uint32_t kInput = 1;
constexpr std::uint32_t kOutput = 2;
constexpr std::uint32_t kName = 3;
constexpr std::uint32_t kOpType = 4;
constexpr std::uint32_t kAttribute = 5;
}  // namespace node_field

namespace attribute_field {
constexpr std::uint32_t kName = 1;
constexpr std::uint32_t kFloat = 2;
constexpr std::uint32_t kInteger = 3;
constexpr std::uint32_t kString = 4;
constexpr std::uint32_t kIntegers = 8;
constexpr std::uint32_t kType = 20;
}  // namespace attribute_field

namespace tensor_field {
constexpr std::uint32_t kDimension = 1;
constexpr std::uint32_t kElementType = 2;
constexpr std::uint32_t kName = 8;
constexpr std::uint32_t kRawData = 9;
}  // namespace tensor_field

namespace value_field {
constexpr std::uint32_t kName = 1;
constexpr std::uint32_t kType = 2;
}  // namespace value_field

namespace type_field {
constexpr std::uint32_t kTensor = 1;
}  // namespace type_field

namespace tensor_type_field {
constexpr std::uint32_t kElementType = 1;
constexpr std::uint32_t kShape = 2;
}  // namespace tensor_type_field

namespace shape_field {
constexpr std::uint32_t kDimension = 1;
}  // namespace shape_field

namespace dimension_field {
constexpr std::uint32_t kValue = 1;
constexpr std::uint32_t kParameter = 2;
}  // namespace dimension_field

/// The version of the file format that came with each version of the operators, oldest first: a
/// runtime that knows the one knows the other.
constexpr std::array<std::int64_t, kNewestOpset - kOldestOpset + 1> kIrVersions{6, 7, 7, 7,
                                                                                8, 8, 8};

struct AttributeEncoder {
  enum Type : std::int64_t { kFloatType = 1, kIntegerType = 2, kStringType = 3, kIntegersType = 7 };

  void operator()(std::int64_t value) {
    to.integer(attribute_field::kInteger, value);
    to.integer(attribute_field::kType, kIntegerType);
  }
  void operator()(float value) {
    to.real32(attribute_field::kFloat, value);
    to.integer(attribute_field::kType, kFloatType);
  }
  void operator()(const std::string& value) {
    to.bytes(attribute_field::kString, value);
    to.integer(attribute_field::kType, kStringType);
  }
  void operator()(const std::vector<std::int64_t>& values) {
    for (const std::int64_t value : values) {
      to.integer(attribute_field::kIntegers, value);
    }
    to.integer(attribute_field::kType, kIntegersType);
  }

  ProtobufWriter& to;
};

ProtobufWriter encode_attribute(const std::string& name, const Attribute& value) {
  ProtobufWriter attribute;
  attribute.bytes(attribute_field::kName, name);
  std::visit(AttributeEncoder{attribute}, value);
  return attribute;
}

ProtobufWriter encode_value(const std::string& name, std::int64_t element_type,
                            const std::vector<Dimension>& dimensions) {
  ProtobufWriter shape;
  for (const Dimension& dimension : dimensions) {
    ProtobufWriter encoded;
    if (const auto* extent = std::get_if<std::int64_t>(&dimension)) {
      encoded.integer(dimension_field::kValue, *extent);
    } else {
      encoded.bytes(dimension_field::kParameter, std::get<std::string>(dimension));
    }
    shape.message(shape_field::kDimension, encoded);
  }
  ProtobufWriter tensor_type;
  tensor_type.integer(tensor_type_field::kElementType, element_type);
  tensor_type.message(tensor_type_field::kShape, shape);
  ProtobufWriter type;
  type.message(type_field::kTensor, tensor_type);
  ProtobufWriter value;
  value.bytes(value_field::kName, name);
  value.message(value_field::kType, type);
  return value;
}

/// As many digits as tell a number from all others: constants go by their names.
template <class Number>
std::string joined(const std::vector<Number>& values) {
  return fmt::format("[{}]", fmt::join(values, ","));
}

}  // namespace

void require_opset(int opset) {
  COSMIC_REQUIRE(UserError, opset >= kOldestOpset && opset <= kNewestOpset,
                 "opset " << opset << " (this program writes " << kOldestOpset << " to "
                          << kNewestOpset
                          << "; runtimes also read older versions); choose one of these");
}

OnnxGraph::OnnxGraph(const std::string& name, int opset) : opset_(opset) {
  require_opset(opset);
  graph_.bytes(graph_field::kName, name);
}

void OnnxGraph::input(const std::string& name, const std::vector<Dimension>& shape,
                      ElementType type) {
  graph_.message(graph_field::kInput, encode_value(name, static_cast<std::int64_t>(type), shape));
}

void OnnxGraph::output(const std::string& name, const std::vector<Dimension>& shape,
                       ElementType type) {
  graph_.message(graph_field::kOutput, encode_value(name, static_cast<std::int64_t>(type), shape));
}

void OnnxGraph::node(const OnnxNode& node) {
  ProtobufWriter encoded;
  for (const std::string& input : node.inputs) {
    encoded.bytes(node_field::kInput, input);
  }
  for (const std::string& output : node.outputs) {
    encoded.bytes(node_field::kOutput, output);
  }
  encoded.bytes(node_field::kName, node.name);
  encoded.bytes(node_field::kOpType, node.type);
  for (const auto& [name, value] : node.attributes) {
    encoded.message(node_field::kAttribute, encode_attribute(name, value));
  }
  graph_.message(graph_field::kNode, encoded);
}

void OnnxGraph::tensor(const std::string& name, const std::vector<std::int64_t>& shape,
                       std::span<const std::byte> bytes, ElementType type) {
  if (!constants_.insert(name).second) {
    return;
  }
  ProtobufWriter encoded;
  for (const std::int64_t extent : shape) {
    encoded.integer(tensor_field::kDimension, extent);
  }
  encoded.integer(tensor_field::kElementType, static_cast<std::int64_t>(type));
  encoded.bytes(tensor_field::kName, name);
  encoded.bytes(tensor_field::kRawData,
                {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  graph_.message(graph_field::kInitializer, encoded);
}

std::string OnnxGraph::integers(const std::vector<std::int64_t>& values) {
  const std::string name = "integers" + joined(values);
  tensor(name, {static_cast<std::int64_t>(values.size())}, std::as_bytes(std::span(values)),
         ElementType::i64);
  return name;
}

std::string OnnxGraph::reals(const std::vector<float>& values) {
  const std::string name = "reals" + joined(values);
  tensor(name, {static_cast<std::int64_t>(values.size())}, std::as_bytes(std::span(values)));
  return name;
}

std::string OnnxGraph::real(float value) {
  const std::string name = fmt::format("real {}", value);
  tensor(name, {}, std::as_bytes(std::span(&value, 1)));
  return name;
}

std::string OnnxGraph::real_tensor(const std::vector<std::int64_t>& shape,
                                   const std::vector<float>& values) {
  const std::string name = "reals" + joined(values) + " as " + joined(shape);
  tensor(name, shape, std::as_bytes(std::span(values)));
  return name;
}

std::string OnnxGraph::int32_tensor(const std::vector<std::int64_t>& shape,
                                    const std::vector<std::int32_t>& values) {
  const std::string name = "int32s" + joined(values) + " as " + joined(shape);
  tensor(name, shape, std::as_bytes(std::span(values)), ElementType::i32);
  return name;
}

std::string OnnxGraph::encode(const std::map<std::string, std::string>& metadata) const {
  // Readers hold sizes in 32 bits.
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  ProtobufWriter operators;
  operators.bytes(opset_field::kDomain, "");  // the standard operators
  operators.integer(opset_field::kVersion, opset_);
  ProtobufWriter model;
  model.integer(model_field::kIrVersion,
                kIrVersions[static_cast<std::size_t>(opset_ - kOldestOpset)]);
  model.bytes(model_field::kProducerName, "cosmictagger");
  model.bytes(model_field::kProducerVersion, version);
  model.message(model_field::kOpsetImport, operators);
  for (const auto& [key, value] : metadata) {
    ProtobufWriter entry;
    entry.bytes(metadata_field::kKey, key);
    entry.bytes(metadata_field::kValue, value);
    model.message(model_field::kMetadata, entry);
  }
  model.message(model_field::kGraph, graph_);
  COSMIC_REQUIRE(UserError, model.encoded().size() <= kMost,
                 "the ONNX model has " << model.encoded().size()
                                       << " bytes (a file of this format can hold at most " << kMost
                                       << "); export a network with fewer parameters");
  return model.encoded();
}

}  // namespace cosmic::checkpoint::onnx
