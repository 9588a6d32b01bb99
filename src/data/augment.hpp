// Turns an event into another one that could equally have happened, so that a network sees more
// than was recorded. All planes and the labels turn together: reversing the wires of every plane is
// the event turned by half around the drift direction, reversing the time is the event mirrored in
// it; so the planes still agree on one event in space.
#pragma once

#include "core/random.hpp"
#include "data/event.hpp"

namespace cosmic::data {

struct Flips {
  bool wire = false;  ///< column c becomes the c-th from the right
  bool time = false;  ///< row r becomes the r-th from the end

  friend bool operator==(const Flips&, const Flips&) = default;
};

/// Each of the two with a chance of one half.
Flips random_flips(RandomStream& random);

/// In place and without allocating; the pixels stay sorted by id. Pixels are on the plane's grid.
void flip(SparsePlane& plane, const Flips& flips);
void flip(SparseEvent& event, const Flips& flips);

}  // namespace cosmic::data
