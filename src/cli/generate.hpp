// `cosmictagger generate`: events of the detector simulation, as a larcv3 file.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/pending_file.hpp"

namespace cosmic::cli {

struct GenerateOptions {
  std::int64_t events = 100;
  std::uint64_t seed = 1;
  std::filesystem::path output;
  int threads = 0;  ///< 0 for all cores
  Existing existing = Existing::refuse;
};

/// Writes the file. Its bytes depend on the events and the seed, not on the threads.
void run_generate(const GenerateOptions& options);

}  // namespace cosmic::cli
