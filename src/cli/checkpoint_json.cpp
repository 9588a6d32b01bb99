#include "cli/checkpoint_json.hpp"

#include "cli/tensor_statistics.hpp"
#include "compile/passes/passes.hpp"

namespace cosmic::cli {
namespace {

using Json = nlohmann::ordered_json;

const char* kind_of(const std::string& tensor) {
  return !compile::averaged_weight(tensor).empty() ? "average"
         : compile::is_optimizer_state(tensor)     ? "optimizer"
                                                   : "weight";
}

Json type_of(const std::optional<graph::TensorType>& type) {
  return type ? Json(to_string(*type)) : Json();
}

}  // namespace

Json checkpoint_json(const checkpoint::LoadedCheckpoint& loaded, TensorList tensors) {
  const checkpoint::Checkpoint& shown = loaded.checkpoint;
  Json numbers{{"weight", 0}, {"average", 0}, {"optimizer", 0}};
  Json list = Json::array();
  std::int64_t not_finite = 0;
  for (const auto& [name, tensor] : shown.tensors) {
    const TensorStatistics statistics = statistics_of(tensor);
    const char* const kind = kind_of(name);
    numbers[kind] = numbers[kind].get<std::int64_t>() + tensor.type.elements();
    not_finite += statistics.not_finite;
    list.push_back({{"name", name},
                    {"kind", kind},
                    {"type", to_string(tensor.type)},
                    {"mean", statistics.mean},
                    {"deviation", statistics.deviation},
                    {"least", statistics.least},
                    {"greatest", statistics.greatest},
                    {"not_finite", statistics.not_finite}});
  }
  Json passed_over = Json::array();
  for (const checkpoint::Warning& warning : loaded.warnings) {
    passed_over.push_back({{"file", warning.file.string()}, {"reason", warning.reason}});
  }
  Json notes = Json::object();
  for (const auto& [name, text] : shown.run.notes) {
    notes[name] = text;
  }
  Json json{{"file", loaded.file.string()},
            {"origin", to_string(shown.origin)},
            {"step", shown.step},
            {"numbers", std::move(numbers)},
            {"not_finite", not_finite},
            {"program", shown.run.program},
            {"schedule", shown.run.schedule},
            {"random", shown.run.random},
            {"loader", shown.run.loader},
            {"data", shown.run.data_fingerprint},
            {"notes", std::move(notes)},
            {"configuration", shown.run.configuration},
            {"passed_over", std::move(passed_over)}};
  if (tensors == TensorList::with_statistics) {
    json["tensors"] = std::move(list);
  }
  return json;
}

Json difference_json(const checkpoint::CheckpointDifference& difference) {
  Json texts = Json::array();
  for (const checkpoint::TextDifference& text : difference.texts) {
    texts.push_back({{"what", text.what}, {"only_in_a", text.left}, {"only_in_b", text.right}});
  }
  Json tensors = Json::array();
  for (const checkpoint::TensorDifference& tensor : difference.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"a", type_of(tensor.left)},
                       {"b", type_of(tensor.right)},
                       {"different", tensor.different},
                       {"infinite_or_nan", tensor.incomparable},
                       {"largest", tensor.largest},
                       {"largest_relative", tensor.largest_relative}});
  }
  Json json{{"identical", difference.nothing()},
            {"tensors_in_both", difference.tensors_in_both},
            {"texts", std::move(texts)},
            {"tensors", std::move(tensors)}};
  if (difference.step) {
    json["step"] = {{"a", difference.step->first}, {"b", difference.step->second}};
  }
  return json;
}

}  // namespace cosmic::cli
