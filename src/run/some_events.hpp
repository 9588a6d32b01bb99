// A batch for commands that try out a network rather than use it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "data/dense_image.hpp"

namespace cosmic::run {

struct SomeEvents {
  std::vector<float> images;  ///< [events, 3, rows, columns]
  std::vector<std::uint8_t> labels;
  std::string origin;                 ///< for people
  std::vector<std::string> warnings;  ///< what was odd in them
};

/// The first events of data.file, or of data=detector, if it is there and its images have that
/// shape, else generated ones; noise if data=synthetic asks for it.
SomeEvents some_events(const config::Configuration& configuration, const data::DenseShape& shape,
                       std::int64_t events);

}  // namespace cosmic::run
