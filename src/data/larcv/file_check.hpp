// A look at everything in a larcv3 file before it is trained on: can each event be read, do labels
// belong to pixels, is there anything to learn from. What takes hours to fail in training is found
// in seconds here.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "data/event.hpp"
#include "data/larcv/product_name.hpp"
#include "data/larcv/read_warnings.hpp"

namespace cosmic::data::larcv {

struct FileCheckOptions {
  std::string image_producer = "sbndwire";
  std::string label_producer = "sbnd_cosmicseg";
  int threads = 1;
  /// Called now and then, from the calling thread, with the share that is done.
  std::function<void(double)> progress = [](double) {};
};

struct PlaneStatistics {
  std::int64_t pixels = 0;
  std::array<std::int64_t, 3> labels{};  ///< by Label
};

struct FileCheck {
  /// Only the first few of many problems are kept.
  static constexpr std::size_t kMostProblems = 20;

  std::int64_t events = 0;
  ImageMeta meta;
  bool labelled = false;
  std::array<PlaneStatistics, static_cast<std::size_t>(kPlanes)> planes;
  float least_charge = 0;
  float greatest_charge = 0;
  std::int64_t empty_events = 0;
  std::int64_t events_without_neutrino = 0;  ///< of those with labels
  /// LarcvSource::fingerprint: stands for events, images and labels, as checkpoints and reports
  /// have it; and the same for all other products that can be read. Only of a file without
  /// problems.
  std::string fingerprint;
  std::string products_fingerprint;
  std::vector<ProductName> unknown;  ///< of a type that this program does not read

  std::vector<std::string>
      problems;  ///< what cannot be read or makes no sense, at most kMostProblems
  std::int64_t problem_count = 0;
  std::vector<ReadWarning> mended;  ///< what reading would mend

  bool good() const { return problem_count == 0 && mended.empty(); }
};

/// Reads the whole file. What is wrong is in the result; nothing is thrown for it.
FileCheck check_file(const std::filesystem::path& path, const FileCheckOptions& options);

}  // namespace cosmic::data::larcv
