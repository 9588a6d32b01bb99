// What inference adds to a file: for each pixel with charge the probability of being cosmic and of
// being neutrino, as two sparse2d products with the reference's names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "data/event.hpp"
#include "data/larcv/product_name.hpp"

namespace cosmic::data::larcv {

inline constexpr const char* kCosmicPrediction = "cosmic_prediction";
inline constexpr const char* kNeutrinoPrediction = "neutrino_prediction";

/// The most likely label of every pixel that was tagged, on the grid that the network saw; nothing
/// if the file holds no predictions. Throws DataError if the two products do not agree.
std::optional<SparseImage> read_tags(const std::filesystem::path& file, std::int64_t entry);

}  // namespace cosmic::data::larcv
