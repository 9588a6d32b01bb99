// What was odd in the events that were read, and what was done about it: one note for each kind,
// whoever reads them and whatever they come from.
#pragma once

#include <cstdint>
#include <string>

namespace cosmic::data {

struct ReadNote {
  std::string what;         ///< "pixels stored more than once (the last counts)"
  std::uint64_t count = 0;  ///< each time an event is read
  std::string first;        ///< where the first was, and its values
  std::string file = {};    ///< that the first was in
  std::int64_t event = -1;  ///< of that file; -1: not in an event
  int order = 0;            ///< of its kind among all; a list has the lowest first

  friend bool operator==(const ReadNote&, const ReadNote&) = default;
};

/// "3 pixels stored more than once (the last counts); the first: a.h5: sparse2d_sbndwire, ..."
inline std::string to_text(const ReadNote& note) {
  return std::to_string(note.count) + " " + note.what + "; the first: " + note.first;
}

}  // namespace cosmic::data
