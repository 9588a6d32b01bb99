// Reads `bbox2d` products: boxes around particles, or at the vertex.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "data/event.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/read_warnings.hpp"

namespace cosmic::data::larcv {

/// One of each projection id; a plane that was not stored has no boxes.
using BoxPlanes = std::array<BoxPlane, static_cast<std::size_t>(kPlanes)>;

/// Belongs to one thread; the file and the warnings outlive it.
class Box2dReader {
 public:
  Box2dReader(const EventFile& file, const std::string& producer, ReadWarnings& warnings);
  ~Box2dReader();
  Box2dReader(const Box2dReader&) = delete;
  Box2dReader& operator=(const Box2dReader&) = delete;

  /// Replaces `planes` by those of an event. Throws DataError with the file, product, event and
  /// plane.
  void read(std::int64_t entry, BoxPlanes& planes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cosmic::data::larcv
