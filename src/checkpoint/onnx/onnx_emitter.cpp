#include "checkpoint/onnx/onnx_emitter.hpp"

#include <fmt/core.h>

namespace cosmic::checkpoint::onnx {

UserError Emitter::refusal(std::string_view op, std::string_view why) const {
  return UserError(fmt::format(
      "the op '{}' of layer '{}' has no ONNX form ({}); export a network without this layer", op,
      node_->name, why));
}

std::string Emitter::emit(const std::string& onnx_type, std::vector<std::string> inputs,
                          Attributes attributes) {
  const int before = emitted_[onnx_type]++;
  const std::string result =
      fmt::format("{}{}{}#{}{}", node_->name, node_->name.empty() ? "" : "/", onnx_type,
                  id_.index(), before == 0 ? "" : fmt::format(".{}", before));
  onnx_.node({onnx_type, result, std::move(inputs), {result}, std::move(attributes)});
  return result;
}

std::string Emitter::sum(const std::string& x, const std::vector<std::int64_t>& axes) {
  constexpr int kAxesAreAnInput = 13;
  return onnx_.opset() >= kAxesAreAnInput ? emit("ReduceSum", {x, integers(axes)})
                                          : emit("ReduceSum", {x}, {{"axes", axes}});
}

std::string Emitter::mean(const std::string& x, const std::vector<std::int64_t>& axes) {
  return emit("ReduceMean", {x}, {{"axes", axes}});
}

}  // namespace cosmic::checkpoint::onnx
