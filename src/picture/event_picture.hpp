// A picture of one event for a slide or a web page: the charge of each plane and, where they are
// known, the labels of its pixels and what a network took them for, with axes, a colour scale and a
// legend.
#pragma once

#include <cstdint>
#include <string>

#include "data/event.hpp"
#include "picture/picture.hpp"

namespace cosmic::picture {

struct EventCaption {
  std::string title;       ///< usually the file
  std::int64_t entry = 0;  ///< its number in the file
};

/// Large grids are shrunk: of the pixels that become one, the largest charge and the strongest
/// label (neutrino before cosmic before background) are kept, because an average would lose thin
/// tracks. `tags` are a network's labels, on the grid of the image or on one that was halved some
/// times; null for none.
///
/// `probabilities` are those of being neutrino, on the grid of the tags; null for none.
Picture draw_event(const data::SparseEvent& event, const EventCaption& caption,
                   const data::SparseImage* tags = nullptr,
                   const data::SparseImage* probabilities = nullptr);

}  // namespace cosmic::picture
