// What inference adds to a file: for each pixel with charge that the network saw the probability of
// being cosmic and of being neutrino, as two sparse2d products with the reference's names; if asked
// for, three more with the tag and both probabilities of every pixel that the input has stored.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "data/event.hpp"
#include "data/larcv/product_name.hpp"

namespace cosmic::data::larcv {

inline constexpr const char* kCosmicPrediction = "cosmic_prediction";
inline constexpr const char* kNeutrinoPrediction = "neutrino_prediction";

// On the grid of the input; a tag is a Label.
inline constexpr const char* kPixelTag = "pixel_tag";
inline constexpr const char* kPixelCosmic = "pixel_cosmic";
inline constexpr const char* kPixelNeutrino = "pixel_neutrino";

/// All of them.
const std::array<ProductName, 5>& prediction_products();

/// The most likely Label of pixels with these probabilities, which are the same pixels.
SparseImage tags_of(const SparseImage& cosmic, const SparseImage& neutrino);

/// The most likely label of every pixel that was tagged: on the grid of the input if the file has
/// that, otherwise on the one that the network saw; nothing if the file holds no predictions.
/// Throws DataError if products do not agree or a tag is no label.
std::optional<SparseImage> read_tags(const std::filesystem::path& file, std::int64_t entry);

/// Probabilities of being neutrino of the same pixels.
std::optional<SparseImage> read_neutrino_probabilities(const std::filesystem::path& file,
                                                       std::int64_t entry);

}  // namespace cosmic::data::larcv
