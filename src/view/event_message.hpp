// An event as bytes for the page: a header in JSON, then flat arrays that a script looks at in
// place, without parsing. About 18 bytes per stored pixel with one network.
//
//   u32            bytes of the header, a multiple of 4
//   header         JSON, filled up with spaces; says how many pixels each plane has
//   of each plane  u32 ids, f32 charge, u8 label (if labelled),
//                  of each network u8 tag, f32 cosmic, f32 neutrino
//
// All little-endian. Every array begins at a multiple of 4 bytes. A pixel that a network says
// nothing about has the tag 255 and NaN.
#pragma once

#include <string>

#include "view/viewed_event.hpp"

namespace cosmic::view {

std::string to_message(const ViewedEvent& event);

/// "nue", "numu", "nc", "other"; "cosmic" where the file knows of no neutrino.
const char* interaction_code(const std::optional<report::evaluation::TrueNeutrino>& neutrino);

}  // namespace cosmic::view
