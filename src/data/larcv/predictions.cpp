#include "data/larcv/predictions.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/larcv_source.hpp"

namespace cosmic::data::larcv {
namespace {

SparseImage values_of(const std::filesystem::path& file, const char* producer, std::int64_t entry) {
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

const std::array<ProductName, 5>& prediction_products() {
  static const std::array<ProductName, 5> names{
      ProductName{std::string(kSparse2d), kCosmicPrediction},
      ProductName{std::string(kSparse2d), kNeutrinoPrediction},
      ProductName{std::string(kSparse2d), kPixelTag},
      ProductName{std::string(kSparse2d), kPixelCosmic},
      ProductName{std::string(kSparse2d), kPixelNeutrino}};
  return names;
}

SparseImage tags_of(const SparseImage& cosmic, const SparseImage& neutrino) {
  SparseImage tags = cosmic;
  for (std::size_t plane = 0; plane < tags.size(); ++plane) {
    for (std::size_t i = 0; i < tags[plane].values.size(); ++i) {
      float& value = tags[plane].values[i];
      value = static_cast<float>(most_likely(value, neutrino[plane].values[i]));
    }
  }
  return tags;
}

std::optional<SparseImage> read_tags(const std::filesystem::path& file, std::int64_t entry) {
  ReadWarnings warnings;
  const EventFile contents(file, warnings);
  if (contents.has({std::string(kSparse2d), kPixelTag})) {
    SparseImage tags = values_of(file, kPixelTag, entry);
    for (const SparsePlane& plane : tags) {
      const auto is_label = [](float tag) { return tag == 0 || tag == 1 || tag == 2; };
      COSMIC_REQUIRE(DataError, std::all_of(plane.values.begin(), plane.values.end(), is_label),
                     file.string()
                         << ": event " << entry << ", plane " << plane.meta.projection << ": "
                         << kPixelTag
                         << " has values other than 0, 1 and 2 (inference writes none, so "
                            "the file was changed since); run the inference again");
    }
    return tags;
  }
  for (const char* producer : {kCosmicPrediction, kNeutrinoPrediction}) {
    if (!contents.has({std::string(kSparse2d), producer})) {
      return std::nullopt;
    }
  }
  const SparseImage cosmic = values_of(file, kCosmicPrediction, entry);
  const SparseImage neutrino = values_of(file, kNeutrinoPrediction, entry);
  for (std::size_t plane = 0; plane < cosmic.size(); ++plane) {
    COSMIC_REQUIRE(
        DataError,
        cosmic[plane].ids == neutrino[plane].ids && cosmic[plane].meta == neutrino[plane].meta,
        file.string() << ": event " << entry << ", plane " << plane << ": " << kCosmicPrediction
                      << " has " << cosmic[plane].ids.size() << " pixels and "
                      << kNeutrinoPrediction << " has " << neutrino[plane].ids.size()
                      << ", or not the same ones (inference writes both for every pixel, "
                         "so the file was changed since); run the inference again");
  }
  return tags_of(cosmic, neutrino);
}

std::optional<SparseImage> read_neutrino_probabilities(const std::filesystem::path& file,
                                                       std::int64_t entry) {
  ReadWarnings warnings;
  const EventFile contents(file, warnings);
  for (const char* producer : {kPixelNeutrino, kNeutrinoPrediction}) {
    if (contents.has({std::string(kSparse2d), producer})) {
      return values_of(file, producer, entry);
    }
  }
  return std::nullopt;
}

}  // namespace cosmic::data::larcv
