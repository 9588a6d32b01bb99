// Turns an event into another one that could equally have happened, so that a network sees more
// than was recorded. All planes and the labels turn together: reversing the wires of every plane is
// the event turned by half around the drift direction, reversing the time is the event mirrored in
// it; so the planes still agree on one event in space. Or the same event as another detector would
// have recorded it: of another gain, with more noise, with dead wires.
#pragma once

#include "core/random.hpp"
#include "data/event.hpp"

namespace cosmic::data {

struct Flips {
  bool wire = false;  ///< column c becomes the c-th from the right
  bool time = false;  ///< row r becomes the r-th from the end

  friend bool operator==(const Flips&, const Flips&) = default;
};

/// What is done to the samples of a training, each with random numbers of its own.
struct Augmentation {
  bool flips = false;     ///< each axis with a chance of one half
  double charge = 0;      ///< each plane's charges times a factor between 1 - charge and 1 + charge
  double noise = 0;       ///< standard deviation of what is added to the charge of each pixel
  double dead_wires = 0;  ///< the chance of each wire to be dead

  friend bool operator==(const Augmentation&, const Augmentation&) = default;
};

/// Each of the two with a chance of one half.
Flips random_flips(RandomStream& random);

/// In place and without allocating; the pixels stay sorted by id. Pixels are on the plane's grid.
void flip(SparsePlane& plane, const Flips& flips);
void flip(SparseEvent& event, const Flips& flips);

/// A factor for each plane, uniform between 1 - width and 1 + width: gains differ by plane.
void scale_charge(SparseImage& image, double width, RandomStream& random);
/// Normal noise on stored pixels. A charge does not become negative: what is below a threshold was
/// not stored.
void add_noise(SparseImage& image, double deviation, RandomStream& random);
/// Takes away all pixels of some wires, with their labels: nobody can tag what is not there.
void kill_wires(SparseEvent& event, double share, RandomStream& random);

}  // namespace cosmic::data
