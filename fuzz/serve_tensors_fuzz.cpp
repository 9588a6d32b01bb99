// Makes inference requests of any bytes: tensors of known and unknown names and types, whose shapes
// and contents agree or not. The only thing that may happen is a Refusal that tells nothing about
// the inside, or an answer whose tensors have as many bytes as their shapes say.
#include <fuzzer/FuzzedDataProvider.h>

#include <array>
#include <cmath>
#include <cstring>

#include "serve/event_tensors.hpp"
#include "served_echo.hpp"

namespace cosmic::serve {
namespace {

constexpr std::array kInputs{"plane", "index", "charge", "event", "image", "larcv", "", "other"};
constexpr std::array kOutputs{"pixel_tag",   "pixel_cosmic", "pixel_neutrino", "pixel_event",
                              "pixel_plane", "pixel_index",  "event_id",       "tag",
                              "cosmic",      "neutrino",     "logits",         "other"};
constexpr std::array kTypes{"UINT8", "INT32", "UINT32", "INT64", "UINT64", "FP32", "BYTES", "FP64"};

std::size_t width_of(const std::string& type) {
  if (type == "UINT8" || type == "BYTES") {
    return 1;
  }
  return type.ends_with("64") ? 8 : 4;
}

/// Mostly the one that the name wants, so that what is behind the first check is reached too.
std::string type_for(const std::string& name, FuzzedDataProvider& bytes) {
  if (bytes.ConsumeIntegralInRange(0, 7) == 0) {
    return bytes.PickValueInArray(kTypes);
  }
  if (name == "charge" || name == "image") {
    return "FP32";
  }
  return name == "larcv" ? "BYTES" : bytes.PickValueInArray({"UINT8", "INT32", "INT64"});
}

std::int64_t extent(FuzzedDataProvider& bytes) {
  return bytes.ConsumeBool() ? bytes.ConsumeIntegralInRange<std::int64_t>(0, 20)
                             : bytes.ConsumeIntegral<std::int64_t>();
}

/// What the tensors look at.
struct Content {
  std::vector<std::string> bytes;
};

InputTensor tensor(FuzzedDataProvider& bytes, std::int64_t pixels, Content& content) {
  InputTensor made;
  made.name = bytes.PickValueInArray(kInputs);
  made.datatype = type_for(made.name, bytes);
  std::size_t elements = static_cast<std::size_t>(pixels);
  if (bytes.ConsumeIntegralInRange(0, 7) == 0) {
    for (int axes = bytes.ConsumeIntegralInRange(0, 9); axes > 0; --axes) {
      made.shape.push_back(extent(bytes));
    }
    elements = bytes.ConsumeIntegralInRange<std::size_t>(0, 40);
  } else if (made.name == "image") {
    made.shape = {bytes.ConsumeIntegralInRange<std::int64_t>(0, 3), 3, kRows, kColumns};
    elements = static_cast<std::size_t>(made.shape[0]) * 3 * kRows * kColumns;
  } else if (made.name == "larcv") {
    made.shape = {1};
    elements = bytes.ConsumeIntegralInRange<std::size_t>(0, 1 << 14);
  } else {
    made.shape = {pixels};
  }
  if (bytes.ConsumeIntegralInRange(0, 3) == 0 && made.datatype != "BYTES") {
    for (std::size_t i = 0; i < elements && bytes.remaining_bytes() > 0; ++i) {
      made.numbers.push_back(bytes.ConsumeBool() ? bytes.ConsumeIntegralInRange(-1, 130)
                                                 : bytes.ConsumeFloatingPoint<double>());
    }
    return made;
  }
  std::string& memory =
      content.bytes.emplace_back(bytes.ConsumeBytesAsString(elements * width_of(made.datatype)));
  // Where the input ends, zeros follow, unless a wrong length is the point.
  if (made.datatype != "BYTES" && bytes.ConsumeIntegralInRange(0, 15) != 0) {
    memory.resize(elements * width_of(made.datatype));
  }
  made.bytes = memory;
  return made;
}

InferRequest request_of(FuzzedDataProvider& bytes, Content& content) {
  constexpr std::size_t kMostTensors = 6;
  content.bytes.reserve(kMostTensors);  // tensors look at them
  InferRequest request;
  request.priority = bytes.ConsumeIntegralInRange(-1, 5);
  request.binary_output = bytes.ConsumeBool();
  if (bytes.ConsumeBool()) {
    request.events = extent(bytes);
  }
  for (int outputs = bytes.ConsumeIntegralInRange(0, 3); outputs > 0; --outputs) {
    request.outputs.push_back({bytes.PickValueInArray(kOutputs), bytes.ConsumeBool()});
  }
  const auto pixels = bytes.ConsumeIntegralInRange<std::int64_t>(0, 40);
  for (std::size_t i = bytes.ConsumeIntegralInRange<std::size_t>(0, kMostTensors); i > 0; --i) {
    request.inputs.push_back(tensor(bytes, pixels, content));
  }
  return request;
}

void check(const OutputTensor& output) {
  std::size_t size = width_of(output.datatype);
  for (const std::int64_t one : output.shape) {
    size *= static_cast<std::size_t>(one);
  }
  if (size != output.bytes.size()) {
    found("output " + output.name + " has " + std::to_string(output.bytes.size()) +
          " bytes, and its shape says " + std::to_string(size));
  }
}

}  // namespace
}  // namespace cosmic::serve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cosmic::serve;
  static ServedEcho served;
  FuzzedDataProvider bytes(data, size);
  Content content;
  const InferRequest request = request_of(bytes, content);
  try {
    const ServiceAnswer answer = served.service().infer(
        "m", "", [&] { return request; }, [] { return false; });
    for (const OutputTensor& output : answer.outputs) {
      check(output);
    }
  } catch (const Refusal& refusal) {
    require_no_inside(refusal.what(), {reinterpret_cast<const char*>(data), size});
    if (refusal.reason() == Reason::internal) {
      found(refusal.what());
    }
  }
  return 0;
}
