// `cosmictagger iotest`: how fast events can be read, without a network that uses them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "config/configuration.hpp"

namespace cosmic::cli {

struct IoTestOptions {
  std::vector<std::filesystem::path> files;
  std::string image_producer;
  std::string label_producer;
  std::string order = "random_blocks";
  std::int64_t batch = 2;
  std::int64_t events = 500;  ///< to be read; small files are read again and again
  std::int64_t start_index = 0;
  std::uint64_t seed = 0;
  int downsample = 1;
  int threads = 0;  ///< 0 for all cores
  bool flips = false;
  bool json = false;  ///< one object, for programs

  IoTestOptions();
};

/// The same reading as a run with these settings does.
IoTestOptions iotest_options(const config::Configuration& configuration);

/// Reads and prints what was measured.
void run_iotest(const IoTestOptions& options);

}  // namespace cosmic::cli
