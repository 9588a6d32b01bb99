// Curves and pictures for TensorBoard: one event file per run and folder, in the format of
// TensorFlow's event files, written without TensorFlow. TensorBoard may watch it while it grows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "output/append_file.hpp"
#include "output/metrics.hpp"

namespace cosmic::output {

/// Classes of pixels row by row: 0 background, 1 cosmic, 2 neutrino.
struct ClassImage {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::span<const std::uint8_t> classes = {};
};

/// Every event reaches the file at once, so a killed run keeps its curves.
class TensorBoardWriter {
 public:
  /// Starts a new event file in `folder`. A run that resumes at `first_step` > 0 makes TensorBoard
  /// forget what earlier files of the folder say about that step and later ones. Throws DataError
  /// if nothing can be written there.
  explicit TensorBoardWriter(const std::filesystem::path& folder, std::int64_t first_step = 0);

  const std::filesystem::path& path() const { return file_.path(); }

  /// One point for each curve.
  void add_scalars(std::int64_t step, const Metrics& metrics);
  /// A grey picture: background black, cosmic half bright, neutrino white.
  void add_image(std::int64_t step, const std::string& tag, const ClassImage& image);

 private:
  AppendFile file_;
};

}  // namespace cosmic::output
