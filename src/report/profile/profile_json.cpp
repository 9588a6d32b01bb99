#include "report/profile/profile_json.hpp"

#include <nlohmann/json.hpp>

#include "core/config.hpp"

namespace cosmic::report::profile {
namespace {

using Json = nlohmann::ordered_json;

// Raised when a reader of the old files would misread the new ones.
constexpr int kFormatVersion = 1;

Json json_of(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Time and cost, and what follows from them.
void add_figures(Json& json, const OpProfile& op, const RunProfile& profile) {
  json["seconds"] = op.seconds;
  json["share_of_step"] = profile.call_seconds > 0 ? op.seconds / profile.call_seconds : 0;
  json["flops"] = op.cost.flops;
  json["bytes"] = op.cost.bytes;
  json["flops_per_second"] = op.flops_per_second();
  json["bytes_per_second"] = op.bytes_per_second();
  json["flops_per_byte"] = op.flops_per_byte();
  json["roofline_share"] = json_of(roofline_share(op, profile.machine));
}

Json json_of_machine(const session::Machine& machine) {
  Json json{{"target", machine.target},
            {"provenance", to_string(machine.provenance)},
            {"threads", machine.threads},
            {"peak", nullptr}};
  if (machine.peak) {
    json["peak"] = {{"flops_per_second", machine.peak->flops_per_second},
                    {"bytes_per_second", machine.peak->bytes_per_second},
                    {"origin", origin_of_peak(machine)}};
  }
  return json;
}

Json json_of_ops(const RunProfile& profile) {
  Json list = Json::array();
  for (const OpProfile& op : profile.ops) {
    Json json{{"op", op.op},
              {"layer", op.layer},
              {"type", op.type},
              {"riders", op.riders},
              {"evaluates", op.evaluates}};
    add_figures(json, op, profile);
    list.push_back(std::move(json));
  }
  return list;
}

Json json_of_groups(const char* key, std::string OpProfile::*name,
                    const std::vector<OpProfile>& groups, const RunProfile& profile) {
  Json list = Json::array();
  for (const OpProfile& group : groups) {
    Json json{{key, group.*name}, {"ops", group.ops}};
    add_figures(json, group, profile);
    list.push_back(std::move(json));
  }
  return list;
}

Json json_of(const session::MemoryUse& memory) {
  Json nodes = Json::array();
  for (std::size_t i = 0; i < memory.nodes.size(); ++i) {
    nodes.push_back({{"op", memory.nodes[i].op},
                     {"layer", memory.nodes[i].layer},
                     {"live_bytes", memory.live_bytes[i]}});
  }
  Json tensors = Json::array();
  for (const std::size_t index : memory.at_peak) {
    const session::StoredTensor& tensor = memory.tensors[index];
    const session::NodeLabel& writer = memory.nodes[tensor.node];
    tensors.push_back({{"layer", writer.layer},
                       {"op", writer.op},
                       {"type", graph::to_string(tensor.type)},
                       {"bytes", tensor.bytes},
                       {"from_node", tensor.first},
                       {"to_node", tensor.last}});
  }
  return {{"arena_bytes", memory.arena_bytes},
          {"peak_live_bytes", memory.peak_live_bytes},
          {"peak_node", memory.peak_node},
          {"alive_at_peak", std::move(tensors)},
          {"nodes", std::move(nodes)}};
}

Json json_of(const session::CompileReport& compiled) {
  Json passes = Json::array();
  for (const compile::PassReport& pass : compiled.passes) {
    passes.push_back({{"name", pass.name}, {"seconds", pass.seconds}, {"nodes", pass.nodes}});
  }
  return {{"seconds", compiled.seconds},
          {"passes", std::move(passes)},
          {"planning_seconds", compiled.planning_seconds},
          {"kernels_seconds", compiled.kernels_seconds},
          {"nodes", compiled.nodes},
          {"memory_bytes", compiled.memory_bytes}};
}

}  // namespace

std::string to_json(const RunProfile& profile) {
  Json json;
  json["format"] = "cosmictagger profile";
  json["format_version"] = kFormatVersion;
  json["program"] = "cosmictagger " + std::string(version);
  json["revision"] = revision;
  json["date"] = profile.facts.date;
  json["run"] = profile.facts.run_id;
  json["purpose"] = profile.facts.purpose == session::Purpose::training ? "training" : "inference";
  json["network"] = profile.facts.network;
  json["data"] = profile.facts.data;
  json["batch"] = profile.facts.batch;
  json["machine"] = json_of_machine(profile.machine);
  json["step"] = {{"steps", profile.steps},
                  {"steps_left_out", profile.steps_left_out},
                  {"batches_per_step", profile.facts.batches_per_step},
                  {"seconds", profile.call_seconds},
                  {"ops_seconds", total(profile.ops).seconds}};
  Json time = Json::array();
  for (const TimeShare& share : profile.time) {
    time.push_back({{"what", share.what}, {"seconds", share.seconds}});
  }
  json["run_time"] = {{"seconds", profile.whole_seconds}, {"parts", std::move(time)}};
  json["ops"] = json_of_ops(profile);
  json["by_op"] = json_of_groups("op", &OpProfile::op, by_op(profile.ops), profile);
  json["by_layer"] = json_of_groups("layer", &OpProfile::layer, by_layer(profile.ops), profile);
  json["memory"] = json_of(profile.memory);
  json["compile"] = json_of(profile.compiled);
  json["configuration"] = profile.facts.configuration;
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace cosmic::report::profile
