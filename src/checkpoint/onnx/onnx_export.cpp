#include "checkpoint/onnx/onnx_export.hpp"

#include <array>

#include "checkpoint/onnx/onnx_nodes.hpp"
#include "core/error.hpp"
#include "core/whole_file.hpp"

namespace cosmic::checkpoint::onnx {
namespace {

constexpr const char* kImage = "image";
constexpr const char* kLogits = "logits";
constexpr const char* kAnyBatch = "N";
constexpr std::int64_t kPlanes = 3;
// Nodes fit any batch, so the smallest program will do.
constexpr std::int64_t kProgramBatch = 1;

/// Before opset 13, Softmax runs over all axes from the given one on, so classes go last.
std::string add_softmax(const std::string& logits, std::int64_t plane, double temperature,
                        OnnxGraph& onnx) {
  const std::string of_plane = "_plane" + std::to_string(plane);
  const std::vector<std::int64_t> classes_last{0, 2, 3, 1};
  const std::vector<std::int64_t> classes_second{0, 3, 1, 2};
  const auto node = [&](const char* type, const std::string& name, std::vector<std::string> inputs,
                        std::vector<std::pair<std::string, Attribute>> attributes) {
    onnx.node({.type = type,
               .name = name + of_plane,
               .inputs = std::move(inputs),
               .outputs = {name + of_plane},
               .attributes = std::move(attributes)});
    return name + of_plane;
  };
  std::string result = node("Transpose", "classes_last", {logits}, {{"perm", classes_last}});
  if (temperature != 1) {
    result = node("Div", "calibrated", {result, onnx.real(static_cast<float>(temperature))}, {});
  }
  result = node("Softmax", "shares", {result}, {{"axis", std::int64_t{3}}});
  return node("Transpose", "probabilities", {result}, {{"perm", classes_second}});
}

}  // namespace

std::string encode_onnx(const model::Network& network, const session::ModelState& state,
                        const ExportOptions& options) {
  COSMIC_REQUIRE(
      UserError, options.batch.value_or(1) > 0,
      "a batch of " << *options.batch
                    << " (a run needs at least one event); give a positive number, or 0 for any");
  graph::Builder g;
  const graph::ValueId image =
      g.input(kImage, {graph::DType::f32, {kProgramBatch, kPlanes, options.rows, options.columns}});
  g.output(kLogits, network.logits(g, image, model::Phase::evaluation));
  const graph::Graph program = g.take();
  const graph::TensorType logits = program.type(program.output(kLogits).value);
  COSMIC_REQUIRE(UserError, logits.rank() == 4 && logits.dim(0) == kPlanes * kProgramBatch,
                 "network '" << network.name() << "' gives " << logits
                             << " (an exported network gives one image of logits per plane); "
                                "export a U-ResNet");

  const Dimension batch =
      options.batch ? Dimension(*options.batch) : Dimension(std::string(kAnyBatch));
  OnnxGraph onnx(network.name(), options.opset);
  onnx.input(kImage, {batch, kPlanes, options.rows, options.columns});
  // Planes lie one after the other in the batch.
  OnnxNode split{.type = "Split",
                 .name = "planes",
                 .inputs = add_nodes(program, std::array{program.output(kLogits).value},
                                     {.constants = &state}, onnx),
                 .attributes = {{"axis", std::int64_t{0}}}};
  for (std::int64_t plane = 0; plane < kPlanes; ++plane) {
    split.outputs.push_back("logits_plane" + std::to_string(plane));
  }
  onnx.node(split);
  for (std::int64_t plane = 0; plane < kPlanes; ++plane) {
    std::string name = split.outputs[static_cast<std::size_t>(plane)];
    if (options.softmax_temperature) {
      name = add_softmax(name, plane, *options.softmax_temperature, onnx);
    }
    onnx.output(name, {batch, logits.dim(1), logits.dim(2), logits.dim(3)});
  }
  return onnx.encode(options.metadata);
}

void write_onnx(const std::filesystem::path& path, const model::Network& network,
                const session::ModelState& state, const ExportOptions& options, Existing existing) {
  write_whole_file(path, encode_onnx(network, state, options), existing);
}

}  // namespace cosmic::checkpoint::onnx
