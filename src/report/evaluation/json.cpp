#include "report/evaluation/json.hpp"

#include <nlohmann/json.hpp>

#include "report/evaluation/binned_shares.hpp"

namespace cosmic::report::evaluation {
namespace {

using Json = nlohmann::ordered_json;

// Raised when a reader of the old files would misread the new ones.
constexpr int kFormatVersion = 1;

Json json_of(const Share& share) {
  return {{"value", share.value}, {"low", share.low}, {"high", share.high}};
}

Json json_of(const infer::Confusion& confusion) {
  Json classes;
  for (std::size_t which = 0; which < infer::kClasses; ++which) {
    classes[kClassNames[which]] = {{"true_pixels", confusion.of_class(which)},
                                   {"tagged_pixels", confusion.predicted_as(which)},
                                   {"efficiency", confusion.efficiency(which)},
                                   {"purity", confusion.purity(which)},
                                   {"iou", confusion.iou(which)}};
  }
  return {{"confusion", confusion.counts},
          {"accuracy", confusion.accuracy()},
          {"accuracy_without_background", confusion.accuracy_without_background()},
          {"classes", classes}};
}

Json json_of(const std::vector<ShareBin>& bins) {
  Json list = Json::array();
  for (const ShareBin& bin : bins) {
    list.push_back({{"low", bin.low},
                    {"high", bin.high},
                    {"events", bin.events},
                    {"neutrino_pixels", bin.efficiency.whole()},
                    {"tagged_pixels", bin.purity.whole()},
                    {"efficiency", json_of(bin.efficiency.share())},
                    {"purity", json_of(bin.purity.share())}});
  }
  return list;
}

Json json_of(const Selection& selection, const Kept& kept) {
  return {{"threshold", kept.threshold},
          {"neutrino_kept", kept.neutrino},
          {"cosmic_only_kept", kept.cosmic_only},
          {"neutrino_share", json_of(selection.neutrino_share(kept))},
          {"cosmic_only_share", json_of(selection.cosmic_only_share(kept))}};
}

const char* name_of(CosmicOnlyKind kind) {
  switch (kind) {
    case CosmicOnlyKind::real:
      return "events of the file";
    case CosmicOnlyKind::neutrino_removed:
      return "events with the charge of true neutrino pixels set to zero";
    case CosmicOnlyKind::both:
      break;
  }
  return "events of the file, and others with the charge of true neutrino pixels set to zero";
}

Json json_of(const Selection& selection, CosmicOnlyKind kind) {
  Json json{{"score",
             "neutrino probability of the tenth most neutrino-like pixel, on the plane "
             "where it is lowest"},
            {"neutrino_events", selection.neutrino_events()},
            {"cosmic_only_events", selection.cosmic_only_events()},
            {"cosmic_only_sample", name_of(kind)},
            {"separation", selection.separation()}};
  json["working_points"] = Json::array();
  for (const double wanted : kWorkingPoints) {
    if (const auto kept = selection.keeping(wanted)) {
      Json point = json_of(selection, *kept);
      point["wanted_neutrino_share"] = wanted;
      json["working_points"].push_back(point);
    }
  }
  json["scan"] = Json::array();
  for (const Kept& kept : selection.scan(kScanSteps)) {
    json["scan"].push_back(json_of(selection, kept));
  }
  return json;
}

Json json_of(const PixelScores& scores) {
  Json json{{"pixels", scores.pixels()},
            {"neutrino_pixels", scores.neutrinos()},
            {"calibration_error", scores.calibration_error(kCalibrationGroups)}};
  json["calibration"] = Json::array();
  for (const PixelScores::Calibration& group : scores.calibration(kCalibrationGroups)) {
    json["calibration"].push_back({{"mean_probability", group.mean_probability},
                                   {"pixels", group.pixels},
                                   {"neutrino_pixels", group.neutrinos}});
  }
  json["threshold_scan"] = Json::array();
  for (const PixelScores::AtThreshold& at : scores.threshold_scan()) {
    json["threshold_scan"].push_back(
        {{"threshold", at.threshold}, {"efficiency", at.efficiency}, {"purity", at.purity}});
  }
  return json;
}

Json json_of(const Provenance& from) {
  return {{"program", from.program},
          {"revision", from.revision},
          {"date", from.date},
          {"run_id", from.run_id},
          {"network", from.network},
          {"weights", from.weights},
          {"weights_fingerprint", from.weights_fingerprint},
          {"step", from.step},
          {"insisted_on_settings", from.insisted_on},
          {"data", from.data},
          {"data_fingerprint", from.data_fingerprint},
          {"trained_on_these_events",
           from.trained_on_these ? Json(*from.trained_on_these) : Json(nullptr)},
          {"downsample", from.downsample},
          {"configuration", from.configuration}};
}

Json json_of(const EventResult& event) {
  const infer::Confusion all = event.all();
  Json json{{"entry", event.entry},
            {"run", event.id.run},
            {"subrun", event.id.subrun},
            {"event", event.id.event},
            {"neutrino_pixels", event.neutrino_pixels()},
            {"score", event.score},
            {"neutrino_efficiency", all.efficiency(kNeutrinoClass)},
            {"neutrino_purity", all.purity(kNeutrinoClass)},
            {"neutrino_iou", all.iou(kNeutrinoClass)},
            {"cosmic_iou", all.iou(kCosmicClass)}};
  if (event.neutrino) {
    json["neutrino_energy"] = event.neutrino->energy;
    json["interaction"] = interaction_name(event.neutrino->interaction);
  }
  return json;
}

Json entries_of(const std::vector<EventView>& views) {
  Json entries = Json::array();
  for (const EventView& view : views) {
    entries.push_back(view.result.entry);
  }
  return entries;
}

}  // namespace

std::string to_json(const Evaluation& evaluation) {
  Json json{{"format", "cosmictagger evaluation"},
            {"format_version", kFormatVersion},
            {"provenance", json_of(evaluation.provenance)},
            {"rows", evaluation.shape.rows},
            {"columns", evaluation.shape.columns},
            {"entries", evaluation.entries},
            {"events", evaluation.events.size()}};
  json["read_warnings"] = Json::array();
  for (const data::ReadNote& note : evaluation.read_notes) {
    json["read_warnings"].push_back(
        {{"what", note.what}, {"count", note.count}, {"first", note.first}});
  }
  for (const output::Metric& metric : evaluation.reference_scores) {
    json["metrics"][metric.key] = metric.value;
  }
  json["planes"] = Json::array();
  for (const infer::Confusion& plane : evaluation.planes) {
    json["planes"].push_back(json_of(plane));
  }
  json["all_planes"] = json_of(evaluation.all());
  json["neutrino_tags_without_charge"] = evaluation.tagged_without_charge();
  json["by_neutrino_pixels"] = json_of(shares_by_pixels(evaluation.events));
  json["by_neutrino_energy"] = json_of(shares_by_energy(evaluation.events));
  json["selection"] =
      evaluation.selection ? json_of(*evaluation.selection, evaluation.cosmic_only) : Json(nullptr);
  json["probabilities"] = json_of(evaluation.pixel_scores);
  json["probabilities"]["temperature"] = evaluation.temperature;
  json["probabilities"]["calibration_error_without_temperature"] =
      (evaluation.temperature == 1 ? evaluation.pixel_scores : evaluation.uncalibrated_scores)
          .calibration_error(kCalibrationGroups);
  json["shown"] = {{"best", entries_of(evaluation.best)},
                   {"typical", entries_of(evaluation.typical)},
                   {"worst", entries_of(evaluation.worst)}};
  json["per_event"] = Json::array();
  for (const EventResult& event : evaluation.events) {
    json["per_event"].push_back(json_of(event));
  }
  // File names need not be UTF-8, which JSON has to be.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cosmic::report::evaluation
