// Events of the detector simulation, as a larcv3 file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "core/pending_file.hpp"

namespace cosmic::run {

struct GenerateOptions {
  std::int64_t events = 100;
  std::uint64_t seed = 1;
  std::filesystem::path output;
  int threads = 0;  ///< 0 for all cores
  Existing existing = Existing::refuse;
};

struct GeneratedFile {
  double seconds = 0;  ///< that writing it took
  std::uintmax_t bytes = 0;
};

/// Writes the file. Its bytes depend on the events and the seed, not on the threads. `progress`
/// hears of every event.
GeneratedFile generate(
    const GenerateOptions& options,
    const std::function<void(std::int64_t events, double seconds)>& progress = [](std::int64_t,
                                                                                  double) {});

}  // namespace cosmic::run
