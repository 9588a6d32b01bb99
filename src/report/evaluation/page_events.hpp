// Events on a page: three planes with the charge, what became of the neutrino and an overview.
#pragma once

#include <string>

#include "report/evaluation/event_view.hpp"

namespace cosmic::report::evaluation {

/// A <figure>. `downsample`: wires and ticks are numbered as in the detector.
std::string event_figure(const EventView& view, std::int64_t downsample);

/// What the colours mean.
std::string event_legend();

}  // namespace cosmic::report::evaluation
