// Where in which file a reader is, for its errors and warnings.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace cosmic::data::larcv {

struct ReadPlace {
  std::string file{};
  std::string product{};    ///< empty: not in a product
  std::int64_t event = -1;  ///< -1: not in an event
  std::int64_t plane = -1;  ///< -1: not in a plane

  /// "light.h5: sparse2d_sbndwire, event 3, plane 1"
  std::string text() const {
    std::string text = file;
    if (!product.empty()) {
      text += ": " + product;
    }
    if (event >= 0) {
      text += ", event " + std::to_string(event);
    }
    if (plane >= 0) {
      text += ", plane " + std::to_string(plane);
    }
    return text;
  }
};

/// Runs `work`; an error about data says where it happened. The place may move while it runs.
template <class Work>
decltype(auto) at_place(const ReadPlace& place, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const DataError& error) {
    throw DataError(place.text() + ": " + error.what());
  }
}

}  // namespace cosmic::data::larcv
