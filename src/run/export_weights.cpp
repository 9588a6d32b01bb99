#include "run/export_weights.hpp"

#include "config/parse.hpp"
#include "core/error.hpp"
#include "data/detector/geometry.hpp"
#include "run/weights.hpp"

namespace cosmic::run {
namespace {

std::optional<config::WeightsRecord> record_of(
    const std::optional<checkpoint::LoadedCheckpoint>& loaded) {
  if (!loaded) {
    return std::nullopt;
  }
  return config::WeightsRecord{loaded->file.string(), loaded->checkpoint.run.configuration};
}

}  // namespace

std::string ExportedWeights::name() const {
  return loaded ? loaded->file.filename().string() : "untrained";
}

ExportedWeights load_for_export(const ExportSource& source, config::Mode mode,
                                config::Command command, const ExportHooks& hooks) {
  ExportedWeights result;
  if (!source.weights.empty()) {
    result.loaded = checkpoint::load_newest(source.weights);
    for (const checkpoint::Warning& warning : result.loaded->warnings) {
      hooks.warning(warning);
    }
  }
  const std::optional<config::WeightsRecord> record = record_of(result.loaded);
  COSMIC_REQUIRE(UserError, !source.settings.empty() || !record || !record->configuration.empty(),
                 record->file << ": does not say which network its weights belong to (it contains "
                                 "no configuration); name the network, such as network=a21");
  config::Resolved resolved =
      config::parse(source.settings, {.mode = mode,
                                      .command = command,
                                      .missing = config::MissingKeys::leave,
                                      .weights = [&](const config::Situation&) { return record; }});
  for (const std::string& note : resolved.notes) {
    hooks.note(note);
  }
  if (result.loaded) {
    check_settings(*result.loaded, {resolved.configuration, command}, hooks.note);
  }
  result.configuration = std::move(resolved.configuration);
  return result;
}

data::DenseShape exported_image(const config::Configuration& configuration, std::int64_t rows,
                                std::int64_t columns) {
  const data::DenseShape detector = data::dense_shape(
      data::detector::meta_of(0), static_cast<int>(configuration.data.downsample));
  return {rows > 0 ? rows : detector.rows, columns > 0 ? columns : detector.columns};
}

}  // namespace cosmic::run
