#include "data/larcv/predictions.hpp"

#include "core/error.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/larcv_source.hpp"

namespace cosmic::data::larcv {
namespace {

SparseImage probabilities(const std::filesystem::path& file, const char* producer,
                          std::int64_t entry) {
  const LarcvSource source(
      {.files = {file}, .image_producer = producer, .labels = LabelUse::ignored});
  SparseEvent event;
  source.reader()->read(entry, event);
  COSMIC_REQUIRE(DataError, source.warnings().count(WarningKind::value_not_finite) == 0,
                 file.string() << ": event " << entry << " has scores of '" << producer
                               << "' that are not finite (inference writes none, so another "
                                  "program did, or an earlier version with weights that are not "
                                  "finite); run the inference again");
  return event.image;
}

/// Ties go to the lower class, as everywhere.
Label most_likely(float cosmic, float neutrino) {
  const float background = 1 - cosmic - neutrino;
  if (neutrino > cosmic && neutrino > background) {
    return Label::neutrino;
  }
  return cosmic > background ? Label::cosmic : Label::background;
}

}  // namespace

std::optional<SparseImage> read_tags(const std::filesystem::path& file, std::int64_t entry) {
  ReadWarnings warnings;
  const EventFile contents(file, warnings);
  for (const char* producer : {kCosmicPrediction, kNeutrinoPrediction}) {
    if (!contents.has({std::string(kSparse2d), producer})) {
      return std::nullopt;
    }
  }
  SparseImage tags = probabilities(file, kCosmicPrediction, entry);
  const SparseImage neutrino = probabilities(file, kNeutrinoPrediction, entry);
  for (std::size_t plane = 0; plane < tags.size(); ++plane) {
    COSMIC_REQUIRE(
        DataError,
        tags[plane].ids == neutrino[plane].ids && tags[plane].meta == neutrino[plane].meta,
        file.string() << ": event " << entry << ", plane " << plane << ": " << kCosmicPrediction
                      << " has " << tags[plane].ids.size() << " pixels and " << kNeutrinoPrediction
                      << " has " << neutrino[plane].ids.size()
                      << ", or not the same ones (inference writes both for every pixel, "
                         "so the file was changed since); run the inference again");
    for (std::size_t i = 0; i < tags[plane].ids.size(); ++i) {
      float& value = tags[plane].values[i];
      value = static_cast<float>(most_likely(value, neutrino[plane].values[i]));
    }
  }
  return tags;
}

}  // namespace cosmic::data::larcv
