#include "report/prediction/prediction_json.hpp"

#include <nlohmann/json.hpp>

#include "core/config.hpp"
#include "machine/family.hpp"

namespace cosmic::report::prediction {
namespace {

using Json = nlohmann::ordered_json;
using machine::ModelledBytes;
using machine::ModelledTime;
using machine::Prediction;

// Raised when a reader of the old files would misread the new ones.
constexpr int kFormatVersion = 1;

Json json_of(const machine::ModelledRange& range) {
  return {{"modelled_seconds", range.best.modelled_seconds()},
          {"modelled_seconds_low", range.low.modelled_seconds()},
          {"modelled_seconds_high", range.high.modelled_seconds()}};
}

Json json_of(const machine::ModelledNumber& number) {
  return {
      {"modelled", number.modelled}, {"modelled_low", number.low}, {"modelled_high", number.high}};
}

Json json_of(const std::vector<machine::LargeTensor>& tensors) {
  Json list = Json::array();
  for (const machine::LargeTensor& tensor : tensors) {
    list.push_back({{"layer", tensor.layer},
                    {"op", tensor.op},
                    {"modelled_bytes", tensor.bytes.modelled_bytes()}});
  }
  return list;
}

Json json_of(const machine::MemoryVerdict& memory) {
  return {{"fits", machine::to_string(memory.fits)},
          {"place", memory.place},
          {"available_bytes", memory.available.modelled_bytes()},
          {"modelled_bytes", memory.needed.modelled_bytes()},
          {"modelled_bytes_low", memory.needed_low.modelled_bytes()},
          {"modelled_bytes_high", memory.needed_high.modelled_bytes()},
          {"modelled_always_live_bytes", memory.always_live.modelled_bytes()},
          {"modelled_transient_bytes", memory.transient.modelled_bytes()},
          {"modelled_temporary_bytes", memory.temporary.modelled_bytes()},
          {"modelled_overhead_bytes", memory.overhead.modelled_bytes()},
          {"largest", json_of(memory.largest)}};
}

Json json_of(const machine::MemoryMap& map) {
  Json places = Json::array();
  for (const machine::MemoryPlace& place : map.places) {
    Json json{{"modelled_bytes", place.needed().modelled_bytes()},
              {"modelled_always_live_bytes", place.always_live.modelled_bytes()},
              {"modelled_transient_bytes", place.transient.modelled_bytes()},
              {"modelled_temporary_bytes", place.temporary.modelled_bytes()},
              {"modelled_overhead_bytes", place.overhead.modelled_bytes()},
              {"modelled_reserve_bytes", place.reserve.modelled_bytes()}};
    if (!place.name.empty()) {
      json["name"] = place.name;
    }
    if (place.time) {
      json["modelled_seconds"] = place.time->modelled_seconds();
    }
    places.push_back(std::move(json));
  }
  return {{"kind", map.kind},
          {"rule", map.rule},
          {"available_bytes", map.available.modelled_bytes()},
          {"fullest", map.fullest},
          {"in_fullest", json_of(map.in_fullest)},
          {"places", std::move(places)}};
}

Json json_of(const machine::ProgramMemory& memory) {
  Json alive = Json::array();
  for (const ModelledBytes bytes : memory.over_program) {
    alive.push_back(bytes.modelled_bytes());
  }
  return {{"modelled_always_live_bytes", memory.always_live.modelled_bytes()},
          {"peak_node", memory.peak_at},
          {"peak_layer", memory.peak_layer},
          {"peak_op", memory.peak_op},
          {"modelled_alive_bytes", std::move(alive)},
          {"alive_at_peak", json_of(memory.at_peak)},
          {"states", json_of(memory.states)}};
}

Json json_of_ops(const Prediction& prediction) {
  Json list = Json::array();
  for (const machine::OpTime& op : prediction.ops) {
    list.push_back({{"layer", op.layer},
                    {"op", op.op},
                    {"modelled_seconds", op.time.modelled_seconds()},
                    {"bound", machine::to_string(op.bound)},
                    {"flops", op.flops},
                    {"modelled_bytes_moved", op.moved.modelled_bytes()},
                    {"modelled_result_bytes", op.result.modelled_bytes()}});
  }
  return list;
}

Json json_of(const machine::ExecutionOptions& options) {
  return {{"replicas", options.replicas},
          {"exchange_precision", machine::precision_word(options.exchange)},
          {"accumulation", options.accumulation},
          {"pipeline", options.pipeline},
          {"iterations_per_call", options.iterations_per_call},
          {"data_from_host", options.host_data == machine::HostData::real},
          {"whole_program", options.launching == machine::Launching::whole_program},
          {"optimizer_on_chip", options.optimizer_state == machine::OptimizerState::on_chip},
          {"share_of_machine", options.share}};
}

Json json_of(const std::optional<machine::PipelineTimes>& pipeline) {
  if (!pipeline) {
    return nullptr;
  }
  return {{"machines", pipeline->machines},
          {"stages", pipeline->stages},
          {"micro_batches", pipeline->micro_batches},
          {"modelled_slot_seconds", pipeline->slot.modelled_seconds()}};
}

Json json_of(const std::vector<machine::ScalingRow>& rows) {
  Json list = Json::array();
  for (const machine::ScalingRow& row : rows) {
    list.push_back({{"machines", row.machines},
                    {"replicas", row.replicas},
                    {"step", json_of(row.step)},
                    {"modelled_all_reduce_seconds", row.all_reduce.modelled_seconds()},
                    {"events_per_second", json_of(row.events_per_second)},
                    {"efficiency", json_of(row.efficiency)}});
  }
  return list;
}

/// Values in the unit that the description writes.
Json json_of(const machine::Figure& figure) {
  return {{"name", figure.name},
          {"value", figure.value / figure.unit_scale},
          {"unit", figure.unit},
          {"status", machine::to_string(figure.status)},
          {"source", figure.source}};
}

Json json_of(const machine::UnknownUsed& used) {
  Json json = json_of(used.unknown.figure);
  const double scale = used.unknown.figure.unit_scale;
  json["low"] = used.unknown.low / scale;
  json["high"] = used.unknown.high / scale;
  json["modelled_step_seconds_at_low"] = used.step_at_low.modelled_seconds();
  json["modelled_step_seconds_at_high"] = used.step_at_high.modelled_seconds();
  json["modelled_bytes_at_low"] = used.needed_at_low.modelled_bytes();
  json["modelled_bytes_at_high"] = used.needed_at_high.modelled_bytes();
  return json;
}

}  // namespace

std::string to_json(const PredictionReport& report) {
  const Prediction& p = report.prediction;
  Json json;
  json["format"] = "cosmictagger prediction";
  json["format_version"] = kFormatVersion;
  json["provenance"] = "modelled";
  json["program"] = "cosmictagger " + std::string(version);
  json["revision"] = revision;
  json["date"] = report.date;
  json["machine"] = {{"name", report.machine.name},
                     {"family", report.machine.family->name()},
                     {"about", report.machine.about}};
  json["run"] = report.what_runs;
  json["options"] = json_of(p.options);
  json["events_per_step"] = report.events;
  json["step"] = json_of(p.step);
  json["events_per_second"] =
      json_of(machine::ModelledNumber{report.events / p.step.best.modelled_seconds(),
                                      report.events / p.step.high.modelled_seconds(),
                                      report.events / p.step.low.modelled_seconds()});
  json["bound"] = machine::to_string(p.bound);
  Json bounds = Json::array();
  for (std::size_t i = 0; i < p.by_bound.size(); ++i) {
    bounds.push_back({{"bound", machine::to_string(static_cast<machine::Bound>(i))},
                      {"modelled_seconds", p.by_bound[i].modelled_seconds()}});
  }
  json["by_bound"] = std::move(bounds);
  json["launches"] = p.launches;
  double statistics = 0;
  for (const machine::ModelledBytes bytes : p.statistics) {
    statistics += bytes.modelled_bytes();
  }
  json["host"] = {{"modelled_shared_statistics_bytes", statistics},
                  {"modelled_input_bytes", p.input.modelled_bytes()},
                  {"modelled_gradient_bytes", p.gradients.modelled_bytes()}};
  json["memory"] = json_of(p.memory);
  json["memory_map"] = json_of(p.memory_map);
  json["liveness"] = json_of(p.program_memory);
  json["ops"] = json_of_ops(p);
  json["pipeline"] = json_of(p.pipeline);
  json["scaling"] = json_of(report.scaling);
  Json unknowns = Json::array();
  for (const machine::UnknownUsed& used : p.unknowns) {
    unknowns.push_back(json_of(used));
  }
  json["unknowns"] = std::move(unknowns);
  Json figures = Json::array();
  for (const machine::Figure& figure : report.machine.figures) {
    figures.push_back(json_of(figure));
  }
  json["figures"] = std::move(figures);
  json["configuration"] = report.configuration;
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace cosmic::report::prediction
