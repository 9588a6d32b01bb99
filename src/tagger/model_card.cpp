#include "tagger/model_card.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/utc_time.hpp"

namespace cosmic::tagger {
namespace {

using Json = nlohmann::json;

std::string percent(double share) {
  return fmt::format("{:.2f} %", 100 * share);
}

/// The reference's metrics by plane, and the selection of events.
std::string quality(const std::string& evaluation) {
  if (evaluation.empty()) {
    return "No evaluation was given when the weights were published.\n";
  }
  try {
    const Json json = Json::parse(evaluation);
    const Json& metrics = json.at("metrics");
    std::string text = fmt::format(
        "Means over {} events of {} that the network was not trained on (`cosmictagger evaluate`, "
        "revision {}, {}):\n\n"
        "| | plane 0 | plane 1 | plane 2 |\n|---|---:|---:|---:|\n",
        json.at("events").get<std::int64_t>(),
        std::filesystem::path(json.at("provenance").at("data").get<std::string>())
            .filename()
            .string(),
        json.at("provenance").at("revision").get<std::string>(),
        json.at("provenance").at("date").get<std::string>());
    for (const auto& [key, name] :
         {std::pair{"Non_Bkg_Accuracy", "accuracy without background"},
          std::pair{"Cosmic_IoU", "cosmic IoU"}, std::pair{"Neutrino_IoU", "neutrino IoU"},
          std::pair{"mIoU", "mean IoU"}}) {
      text += fmt::format("| {} |", name);
      for (int plane = 0; plane < 3; ++plane) {
        const std::string metric = fmt::format("plane{}/{}", plane, key);
        text += " " + percent(metrics.at(metric).get<double>()) + " |";
      }
      text += "\n";
    }
    if (const Json& selection = json.at("selection"); !selection.is_null()) {
      for (const Json& point : selection.at("working_points")) {
        if (point.at("wanted_neutrino_share").get<double>() == 0.9) {
          text += fmt::format(
              "\nOf events, a cut on their score that keeps 90 % of those with a neutrino keeps {} "
              "of those without ({}).\n",
              percent(point.at("cosmic_only_share").at("value").get<double>()),
              selection.at("cosmic_only_sample").get<std::string>());
        }
      }
    }
    return text;
  } catch (const Json::exception& error) {
    throw DataError("the evaluation is not what `cosmictagger evaluate` writes (" +
                    std::string(error.what()) + "); evaluate the checkpoint again");
  }
}

std::string indented(const std::string& yaml) {
  std::string text = "    ";
  for (const char letter : yaml) {
    text += letter;
    if (letter == '\n') {
      text += "    ";
    }
  }
  return text.substr(0, text.find_last_not_of(" \n") + 1) + "\n";
}

std::string spread_text(const infer::InputProfile::Spread& spread) {
  return fmt::format("{:.4g} ({:.4g} to {:.4g})", spread.middle, spread.low, spread.high);
}

}  // namespace

std::string model_card(const Published& p, const CardSource& source) {
  std::string text = fmt::format(
      "# The network `{}`\n\n"
      "Tags each pixel of three wire-plane images as background, cosmic ray or neutrino.\n\n"
      "| | |\n|---|---|\n"
      "| File | `{}`, fingerprint {}, {} parameters |\n"
      "| Network | {}, images halved {} times |\n"
      "| Trained | {} updates, by {} |\n"
      "| Data | {}; the settings below name it |\n"
      "| Published | {}, revision {} |\n\n",
      source.name, p.file.filename().string(), source.fingerprint, p.parameters,
      source.tagging.network.name, source.tagging.data.downsample, p.step,
      source.trained_by.empty() ? "an unknown program" : source.trained_by,
      source.trained_on.empty() ? "of unknown fingerprint" : "fingerprint " + source.trained_on,
      utc_now(), std::string(revision));
  text += "## How good it is\n\n" + quality(source.evaluation);
  text += fmt::format(
      "\n## Probabilities\n\n"
      "Scores are divided by the temperature {:.4f} before they become probabilities, fitted to {} "
      "pixels with charge of {} events of {}, which are neither those of the training nor those "
      "above. There it took the mean negative log likelihood from {:.4f} to {:.4f} and the "
      "expected "
      "calibration error of the tag's probability from {} to {}. Tags do not change.\n",
      p.temperature, p.pixels, p.events, p.calibrated_on, p.loss_before, p.loss_after,
      percent(p.error_before), percent(p.error_after));
  if (p.same_tags) {
    text += fmt::format(
        "\nKernels are rounded to bfloat16. Of the tags of pixels with charge of these events, {} "
        "are the same without.\n",
        percent(*p.same_tags));
  }
  text += fmt::format(
      "\n## What it knows\n\n"
      "Images of {} x {} pixels. Of an event, with the span of 99 % of them:\n\n"
      "| | |\n|---|---:|\n"
      "| pixels with charge | {} |\n| median charge, after data.img_transform | {} |\n"
      "| 90 % quantile of the charge, likewise | {} |\n\n"
      "`cosmictagger tag` warns of a file that does not look like that.\n",
      p.inputs.shape.rows, p.inputs.shape.columns, spread_text(p.inputs.pixels),
      spread_text(p.inputs.median), spread_text(p.inputs.ninth_decile));
  text +=
      "\n## What it must not be used for\n\n"
      "- Physics results. If it was trained on simulated events, it has learnt that simulation, "
      "whose cosmic rays, interactions and noise are those of [the detector]"
      "(../docs/detector.md), not of an experiment. Measure efficiency, purity and bias on a "
      "simulation of your experiment first, or train on that.\n"
      "- Other detectors, other wire spacings, other units of charge, other halvings of the "
      "image.\n"
      "- Events with more than one neutrino, or with something in them that was in no training "
      "event.\n"
      "- Probabilities as such where the share of neutrinos differs from that of the events it was "
      "calibrated on.\n";
  text +=
      "\n## Settings of the training\n\n" +
      (source.configuration.empty() ? std::string("Not known.\n") : indented(source.configuration));
  return text;
}

}  // namespace cosmic::tagger
