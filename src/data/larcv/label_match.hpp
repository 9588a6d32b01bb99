// Labels belong to the pixels of the image. larcv3 files store the same ids for both; where they do
// not, this makes them agree.
#pragma once

#include "data/event.hpp"
#include "data/larcv/read_place.hpp"
#include "data/larcv/read_warnings.hpp"

namespace cosmic::data::larcv {

/// Gives `labels` exactly the ids of `image`: a label elsewhere is dropped, a pixel without one is
/// background. Both are counted. Returns the number of pixels without a label.
std::int64_t match_labels(const SparsePlane& image, const ReadPlace& place, SparsePlane& labels,
                          ReadWarnings& warnings);

}  // namespace cosmic::data::larcv
