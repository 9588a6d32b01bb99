// What the events look like that a network knows: how large their images are, how many pixels have
// charge, and how much. Kept with weights, so that whoever tags a file hears that it does not look
// like them: another detector, another calibration, charge in other units.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/dense_image.hpp"

namespace cosmic::infer {

struct TaggedEvent;

/// Figures of one event, of what the network saw of its three planes together.
struct InputFigures {
  double pixels = 0;        ///< that have charge
  double median = 0;        ///< of their values; 0 without any
  double ninth_decile = 0;  ///< likewise
};
InputFigures input_figures(const TaggedEvent& event);

struct InputProfile {
  /// Of a figure, over the events.
  struct Spread {
    double low = 0;  ///< one event in 200 is below
    double middle = 0;
    double high = 0;  ///< one event in 200 is above
  };

  data::DenseShape shape;
  std::int64_t events = 0;
  Spread pixels;
  Spread median;
  Spread ninth_decile;

  std::string to_text() const;
  /// Throws DataError for what is no profile.
  static InputProfile from_text(const std::string& text);
};

/// Of labelled or unlabelled events; at least one.
InputProfile profile_of(const data::DenseShape& shape, const std::vector<InputFigures>& events);

/// What the notes of weights say; nothing if they say nothing.
std::optional<InputProfile> input_profile_in(const std::map<std::string, std::string>& notes);

/// In what a file differs from the profile, with the figures of both; empty if in nothing. The
/// middle of the file's events is held against the spread of single events, and a tenth more: a
/// file of few events is not called odd for one.
std::vector<std::string> oddities(const InputProfile& known, const data::DenseShape& shape,
                                  const std::vector<InputFigures>& events);

}  // namespace cosmic::infer
