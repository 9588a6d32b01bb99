#include "serve/model_text.hpp"

#include <nlohmann/json.hpp>

#include "core/config.hpp"
#include "serve/event_tensors.hpp"

namespace cosmic::serve {
namespace {

using nlohmann::ordered_json;

ordered_json tensors_text(const std::vector<TensorDescription>& tensors) {
  ordered_json list = ordered_json::array();
  for (const TensorDescription& tensor : tensors) {
    list.push_back({{"name", tensor.name}, {"datatype", tensor.datatype}, {"shape", tensor.shape}});
  }
  return list;
}

ordered_json config_tensors(const std::vector<TensorDescription>& tensors) {
  ordered_json list = ordered_json::array();
  for (const TensorDescription& tensor : tensors) {
    const std::string type = tensor.datatype == "BYTES" ? "TYPE_STRING" : "TYPE_" + tensor.datatype;
    ordered_json one{{"name", tensor.name}, {"data_type", type}, {"dims", tensor.shape}};
    if (tensor.optional) {
      one["optional"] = true;
    }
    list.push_back(std::move(one));
  }
  return list;
}

ordered_json counted(const CountedTime& time) {
  return {{"count", time.count}, {"ns", time.nanoseconds}};
}

}  // namespace

std::vector<std::string> protocol_extensions() {
  return {"binary_tensor_data", "model_repository", "model_configuration", "statistics",
          "parameters"};
}

std::string server_name() {
  return "cosmictagger";
}

std::string server_metadata() {
  return ordered_json{{"name", server_name()},
                      {"version", std::string(cosmic::version)},
                      {"extensions", protocol_extensions()}}
      .dump();
}

std::string metadata_text(const ServedModel& model, const std::vector<std::int64_t>& versions) {
  ordered_json text;
  text["name"] = model.name();
  text["versions"] = ordered_json::array();
  for (const std::int64_t version : versions) {
    text["versions"].push_back(std::to_string(version));
  }
  text["platform"] = kPlatform;
  text["inputs"] = tensors_text(inputs_of(model));
  text["outputs"] = tensors_text(outputs_of(model));
  return text.dump();
}

std::vector<std::pair<std::string, std::string>> model_parameters(const ServedModel& model) {
  const bool logarithmic = model.image_options().scale == data::ChargeScale::logarithmic;
  return {{"rows", std::to_string(model.grid().rows())},
          {"columns", std::to_string(model.grid().columns())},
          {"downsample", std::to_string(model.image_options().downsample)},
          {"img_transform", logarithmic ? "true" : "false"},
          {"weights", model.fingerprint()},
          {"step", std::to_string(model.step())},
          {"target", model.target()},
          {"times", to_string(model.provenance())}};
}

std::string config_text(const ServedModel& model) {
  ordered_json text;
  text["name"] = model.name();
  text["platform"] = kPlatform;
  text["backend"] = kPlatform;
  // Inputs and outputs have all of their extents here, that of the events as well.
  text["max_batch_size"] = 0;
  text["input"] = config_tensors(inputs_of(model));
  text["output"] = config_tensors(outputs_of(model));
  text["dynamic_batching"] = {
      {"preferred_batch_size", model.options().batch_sizes},
      {"max_queue_delay_microseconds", model.options().delay.count()},
      {"priority_levels", kPriorities},
      {"default_priority_level", 2},
      {"default_queue_policy", {{"max_queue_size", model.options().queue_events}}}};
  text["instance_group"] =
      ordered_json::array({{{"name", model.name()}, {"count", model.options().replicas}}});
  for (const auto& [name, value] : model_parameters(model)) {
    text["parameters"][name] = {{"string_value", value}};
  }
  return text.dump();
}

std::string statistics_text(const std::vector<std::shared_ptr<const ServedModel>>& models) {
  ordered_json list = ordered_json::array();
  for (const auto& model : models) {
    const ModelStatistics statistics = model->statistics();
    ordered_json one;
    one["name"] = model->name();
    one["version"] = std::to_string(model->version());
    one["last_inference"] = statistics.last_inference_ms;
    one["inference_count"] = statistics.inferences;
    one["execution_count"] = statistics.executions;
    one["inference_stats"] = {{"success", counted(statistics.success)},
                              {"fail", counted(statistics.all_failures())},
                              {"queue", counted(statistics.queue)},
                              {"compute_input", counted(statistics.input)},
                              {"compute_infer", counted(statistics.infer)},
                              {"compute_output", counted(statistics.output)}};
    one["batch_stats"] = ordered_json::array();
    for (const auto& [size, batch] : statistics.batches) {
      one["batch_stats"].push_back({{"batch_size", size},
                                    {"compute_input", counted(batch.input)},
                                    {"compute_infer", counted(batch.infer)},
                                    {"compute_output", counted(batch.output)}});
    }
    list.push_back(std::move(one));
  }
  return ordered_json{{"model_stats", std::move(list)}}.dump();
}

std::string index_text(const ModelRepository& models) {
  ordered_json list = ordered_json::array();
  for (const ModelRepository::IndexEntry& entry : models.index()) {
    list.push_back({{"name", entry.name},
                    {"version", entry.version},
                    {"state", entry.ready ? "READY" : "UNAVAILABLE"},
                    {"reason", entry.reason}});
  }
  return list.dump();
}

}  // namespace cosmic::serve
