// How fast the events of files can be read, or events be made by the detector, without a network
// that uses them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "data/augment.hpp"
#include "data/dense_image.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/loader/throughput.hpp"

namespace cosmic::run {

struct IoTestOptions {
  std::vector<std::filesystem::path> files;
  bool detector = false;  ///< events are made instead, one after the other
  std::string image_producer;
  std::string label_producer;
  std::string order = "random_blocks";
  std::int64_t batch = 2;
  std::int64_t events = 500;  ///< to be read; small files are read again and again
  std::int64_t start_index = 0;
  std::uint64_t seed = 0;  ///< of the order and the augmentation, or of the detector's events
  int downsample = 1;
  int threads = 0;  ///< 0 for all cores
  data::Augmentation augmentation = {};

  IoTestOptions();
};

/// The same reading as a run with these settings does.
IoTestOptions iotest_options(const config::Configuration& configuration);

struct IoTest {
  data::Throughput throughput;  ///< handed over as images
  data::Throughput as_pixels;   ///< the same events, handed over as what is not zero of them
  std::optional<std::int64_t> entries;  ///< of all files; none where there is no end
  data::DenseShape shape;               ///< of a plane, as a network would see it
  int threads = 0;                      ///< that read

  /// Of the time of all threads, what went into events.
  double busy_share() const;
};

/// Reads as many events as were asked for, once in each form. `progress` hears of every batch.
IoTest run_iotest(const IoTestOptions& options,
                  const std::function<void(data::BatchForm, const data::Throughput&)>& progress);

}  // namespace cosmic::run
