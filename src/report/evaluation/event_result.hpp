// What is kept of each event that was evaluated: counts of pixels, what is known about its neutrino
// and how much the event looks like one with a neutrino. Everything a report says is made of these.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/byte_reader.hpp"
#include "core/byte_writer.hpp"
#include "data/event.hpp"
#include "infer/event_scores.hpp"
#include "infer/tagger.hpp"

namespace cosmic::report::evaluation {

inline constexpr std::array<const char*, infer::kClasses> kClassNames{"background", "cosmic",
                                                                      "neutrino"};
inline constexpr auto kCosmicClass = static_cast<std::size_t>(data::Label::cosmic);
inline constexpr auto kNeutrinoClass = static_cast<std::size_t>(data::Label::neutrino);

/// An event with fewer true neutrino pixels, of all planes together, is one of cosmic rays only:
/// the definition of the reference's second version.
inline constexpr std::int64_t kLeastNeutrinoPixels = 10;

/// As the reference's second version sorts them.
enum class Interaction { electron_charged, muon_charged, neutral, other };
inline constexpr std::array<Interaction, 4> kInteractions{Interaction::electron_charged,
                                                          Interaction::muon_charged,
                                                          Interaction::neutral, Interaction::other};
/// "muon neutrino, charged current"
std::string_view interaction_name(Interaction interaction);

struct TrueNeutrino {
  double energy = 0;  ///< GeV
  Interaction interaction = Interaction::other;
};

/// The neutrino that an event's particle list begins with; nothing if the first is not a neutrino.
std::optional<TrueNeutrino> true_neutrino(const data::Particle& first);

struct EventResult {
  std::int64_t entry = 0;
  data::EventId id;
  infer::EventConfusion planes;
  /// Pixels without charge that were tagged as neutrino: false ones, which a file of predictions
  /// leaves out.
  std::int64_t tagged_without_charge = 0;
  std::optional<TrueNeutrino> neutrino;  ///< if the file says
  /// How much it looks like an event with a neutrino, 0 to 1 (event_score below).
  double score = 0;

  /// The three planes together.
  infer::Confusion all() const;
  std::int64_t neutrino_pixels() const { return all().of_class(kNeutrinoClass); }
  bool has_neutrino() const { return neutrino_pixels() >= kLeastNeutrinoPixels; }
  /// Pixels tagged as neutrino on the plane with the fewest.
  std::int64_t fewest_tagged() const;
};

/// As bytes, for processes that evaluate together, and back.
void put(const EventResult& event, ByteWriter& to);
EventResult take_event_result(ByteReader& from);

/// EventResult::tagged_without_charge of an event.
std::int64_t count_tagged_without_charge(const infer::TaggedEvent& event);

/// The neutrino probability of the tenth most neutrino-like pixel, on the plane where it is lowest.
/// "Score above t" is "every plane has ten pixels with a neutrino probability above t", so a
/// threshold on it is a selection that asks for the neutrino on all planes.
double event_score(const data::SparseImage& neutrino_probabilities);
/// Pixels that each plane must have above the threshold.
inline constexpr std::size_t kScorePixels = 10;

}  // namespace cosmic::report::evaluation
