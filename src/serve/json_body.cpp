#include "serve/json_body.hpp"

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/printable.hpp"
#include "serve/refusal.hpp"

namespace cosmic::serve {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& text) {
  throw Refusal(Reason::invalid, text);
}

/// Reads a request as it is parsed: numbers go to their tensor at once, so that a body takes no
/// more memory than its tensors, and what is not part of the protocol ends the reading.
class RequestReader final : public json::json_sax_t {
 public:
  RequestReader(InferRequest& request, std::vector<std::optional<std::size_t>>& binary_sizes,
                const Limits& limits)
      : request_(request), binary_sizes_(binary_sizes), limits_(limits) {}

  bool null() override { refuse("null where the protocol has none: " + place()); }
  bool boolean(bool value) override {
    if (at(Place::output_parameters) && key_ == "binary_data") {
      request_.outputs.back().binary = value;
    } else if (at(Place::request_parameters) && key_ == "binary_data_output") {
      request_.binary_output = value;
    } else {
      refuse_value();
    }
    return true;
  }
  bool number_integer(number_integer_t value) override { return integer(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (at(Place::data)) {
      return number(static_cast<double>(value));
    }
    require(value <= static_cast<number_unsigned_t>(INT64_MAX), Reason::invalid,
            [&] { return "a number above 2^63: " + place(); });
    return integer(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t&) override {
    if (!at(Place::data)) {
      refuse_value();
    }
    return number(value);
  }
  bool string(string_t& value) override {
    constexpr std::size_t kLongest = 1024;
    require(value.size() <= kLongest, Reason::invalid,
            [&] { return "a text of more than 1024 bytes: " + place(); });
    if (at(Place::request) && key_ == "id") {
      request_.id = value;
    } else if (at(Place::input) && key_ == "name") {
      request_.inputs.back().name = value;
    } else if (at(Place::input) && key_ == "datatype") {
      request_.inputs.back().datatype = value;
    } else if (at(Place::output) && key_ == "name") {
      request_.outputs.back().name = value;
    } else if (at(Place::data)) {
      refuse("data of BYTES as text; send them as binary data");
    } else {
      refuse_value();
    }
    return true;
  }
  bool binary(binary_t&) override { refuse_value(); }

  bool start_object(std::size_t) override {
    if (places_.empty()) {
      enter(Place::request);
    } else if (at(Place::inputs)) {
      require_room(request_.inputs.size());
      request_.inputs.emplace_back();
      binary_sizes_.emplace_back();
      enter(Place::input);
    } else if (at(Place::outputs)) {
      require_room(request_.outputs.size());
      request_.outputs.emplace_back();
      output_says_.push_back(false);
      enter(Place::output);
    } else if (key_ == "parameters" && at(Place::request)) {
      enter(Place::request_parameters);
    } else if (key_ == "parameters" && at(Place::input)) {
      enter(Place::input_parameters);
    } else if (key_ == "parameters" && at(Place::output)) {
      enter(Place::output_parameters);
    } else {
      refuse_value();
    }
    return true;
  }
  bool key(string_t& value) override {
    key_ = value;
    if (at(Place::output_parameters) && key_ == "binary_data") {
      output_says_.back() = true;
    }
    return true;
  }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override {
    if (at(Place::request) && key_ == "inputs") {
      enter(Place::inputs);
    } else if (at(Place::request) && key_ == "outputs") {
      enter(Place::outputs);
    } else if (at(Place::input) && key_ == "shape") {
      enter(Place::shape);
    } else if ((at(Place::input) && key_ == "data") || at(Place::data)) {
      enter(Place::data);
    } else {
      refuse_value();
    }
    return true;
  }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    refuse("the body is no JSON, from byte " + std::to_string(position) + " on");
  }

  /// After the last byte: outputs that did not say come as the whole request says.
  void finish() {
    for (std::size_t i = 0; i < request_.outputs.size(); ++i) {
      if (!output_says_[i]) {
        request_.outputs[i].binary = request_.binary_output;
      }
    }
  }

 private:
  enum class Place {
    request,
    request_parameters,
    inputs,
    input,
    shape,
    data,
    input_parameters,
    outputs,
    output,
    output_parameters,
  };

  bool at(Place place) const { return !places_.empty() && places_.back() == place; }
  void enter(Place place) {
    require(static_cast<std::int64_t>(places_.size()) < limits_.json_depth, Reason::invalid,
            "the JSON is nested too deeply");
    places_.push_back(place);
  }
  bool leave() {
    places_.pop_back();
    return true;
  }
  static void require_room(std::size_t tensors) {
    constexpr std::size_t kMost = 32;
    require(tensors < kMost, Reason::too_large, "a request of more than 32 tensors");
  }
  std::string place() const { return key_.empty() ? "at its beginning" : "at " + printable(key_); }
  [[noreturn]] void refuse_value() const {
    refuse("the protocol has no such value, or not with this server: " + place());
  }

  bool integer(std::int64_t value) {
    if (at(Place::data)) {
      return number(static_cast<double>(value));
    }
    if (at(Place::shape)) {
      constexpr std::size_t kMostAxes = 8;
      std::vector<std::int64_t>& shape = request_.inputs.back().shape;
      require(shape.size() < kMostAxes, Reason::invalid, "a tensor of more than 8 axes");
      shape.push_back(value);
    } else if (at(Place::input_parameters) && key_ == "binary_data_size") {
      require(value >= 0, Reason::invalid, "a binary_data_size below 0");
      binary_sizes_.back() = static_cast<std::size_t>(value);
    } else if (at(Place::request_parameters) && key_ == "priority") {
      request_.priority = value;
    } else if (at(Place::request_parameters) && key_ == "timeout") {
      request_.timeout_microseconds = value;
    } else if (at(Place::request_parameters) && key_ == "events") {
      request_.events = value;
    } else {
      refuse_value();
    }
    return true;
  }
  bool number(double value) {
    require(++numbers_ <= limits_.json_numbers, Reason::too_large, [&] {
      return "more than " + std::to_string(limits_.json_numbers) +
             " numbers as JSON; send them as binary data";
    });
    request_.inputs.back().numbers.push_back(value);
    return true;
  }

  InferRequest& request_;
  std::vector<std::optional<std::size_t>>& binary_sizes_;
  std::vector<bool> output_says_;
  const Limits& limits_;
  std::vector<Place> places_;
  std::string key_;
  std::int64_t numbers_ = 0;
};

template <class Value>
json numbers_of(std::string_view bytes) {
  json array = json::array();
  for (std::size_t i = 0; i + sizeof(Value) <= bytes.size(); i += sizeof(Value)) {
    Value value{};
    std::memcpy(&value, bytes.data() + i, sizeof(Value));
    array.push_back(value);
  }
  return array;
}

json data_of(const OutputTensor& output) {
  if (output.datatype == "FP32") {
    return numbers_of<float>(output.bytes);
  }
  if (output.datatype == "UINT8") {
    return numbers_of<std::uint8_t>(output.bytes);
  }
  return output.datatype == "INT32" ? numbers_of<std::int32_t>(output.bytes)
                                    : numbers_of<std::int64_t>(output.bytes);
}

}  // namespace

InferRequest infer_request_from(std::string_view body, std::optional<std::size_t> json_bytes,
                                const Limits& limits) {
  require(!json_bytes || *json_bytes <= body.size(), Reason::invalid,
          "Inference-Header-Content-Length is more than the body has");
  const std::string_view text = body.substr(0, json_bytes.value_or(body.size()));
  InferRequest request;
  std::vector<std::optional<std::size_t>> binary_sizes;
  RequestReader reader(request, binary_sizes, limits);
  json::sax_parse(text.begin(), text.end(), &reader);
  reader.finish();
  std::string_view rest = body.substr(text.size());
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    if (!binary_sizes[i]) {
      continue;
    }
    InputTensor& input = request.inputs[i];
    require(input.numbers.empty(), Reason::invalid,
            [&] { return "input " + printable(input.name) + " has data and binary data"; });
    require(*binary_sizes[i] <= rest.size(), Reason::invalid, [&] {
      return "input " + printable(input.name) + " has a binary_data_size of " +
             std::to_string(*binary_sizes[i]) + ", of which " + std::to_string(rest.size()) +
             " bytes were sent";
    });
    const std::string_view bytes = rest.substr(0, *binary_sizes[i]);
    input.bytes = input.datatype == "BYTES" ? only_element(bytes) : bytes;
    rest.remove_prefix(*binary_sizes[i]);
  }
  require(rest.empty(), Reason::invalid, [&] {
    return std::to_string(rest.size()) +
           " bytes after the last tensor; each needs a "
           "binary_data_size in the JSON";
  });
  return request;
}

AnswerBody answer_body(const AnswerHead& head, std::vector<OutputTensor> outputs) {
  nlohmann::ordered_json answer;
  answer["model_name"] = head.model;
  answer["model_version"] = head.version;
  if (!head.id.empty()) {
    answer["id"] = head.id;
  }
  answer["parameters"]["weights"] = head.fingerprint;
  answer["outputs"] = json::array();
  bool binary = false;
  for (const OutputTensor& output : outputs) {
    nlohmann::ordered_json one;
    one["name"] = output.name;
    one["datatype"] = output.datatype;
    one["shape"] = output.shape;
    if (output.binary) {
      one["parameters"]["binary_data_size"] = output.bytes.size();
      binary = true;
    } else {
      one["data"] = data_of(output);
    }
    answer["outputs"].push_back(std::move(one));
  }
  AnswerBody body;
  // An id comes from outside and may be anything.
  body.bytes = answer.dump(-1, ' ', false, json::error_handler_t::replace);
  if (binary) {
    body.json_bytes = body.bytes.size();
    for (OutputTensor& output : outputs) {
      if (output.binary) {
        body.bytes += output.bytes;
        output.bytes = {};
      }
    }
  }
  return body;
}

std::string error_body(std::string_view text) {
  return json{{"error", text}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace cosmic::serve
