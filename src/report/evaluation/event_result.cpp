#include "report/evaluation/event_result.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <vector>

namespace cosmic::report::evaluation {
namespace {

// Numbers of the Particle Data Group; antiparticles have the negative ones.
constexpr int kElectronNeutrino = 12;
constexpr int kMuonNeutrino = 14;
constexpr int kTauNeutrino = 16;
constexpr int kNeutralCurrent = 1;

}  // namespace

std::string_view interaction_name(Interaction interaction) {
  switch (interaction) {
    case Interaction::electron_charged:
      return "electron neutrino, charged current";
    case Interaction::muon_charged:
      return "muon neutrino, charged current";
    case Interaction::neutral:
      return "neutral current";
    case Interaction::other:
      break;
  }
  return "other neutrino";
}

std::optional<TrueNeutrino> true_neutrino(const data::Particle& first) {
  const int flavour = std::abs(first.pdg);
  if (flavour != kElectronNeutrino && flavour != kMuonNeutrino && flavour != kTauNeutrino) {
    return std::nullopt;
  }
  const Interaction charged = flavour == kElectronNeutrino ? Interaction::electron_charged
                              : flavour == kMuonNeutrino   ? Interaction::muon_charged
                                                           : Interaction::other;
  return TrueNeutrino{first.initial_energy,
                      first.current_type == kNeutralCurrent ? Interaction::neutral : charged};
}

infer::Confusion EventResult::all() const {
  infer::Confusion sum;
  for (const infer::Confusion& plane : planes) {
    sum += plane;
  }
  return sum;
}

std::int64_t EventResult::fewest_tagged() const {
  std::int64_t fewest = planes.front().predicted_as(kNeutrinoClass);
  for (const infer::Confusion& plane : planes) {
    fewest = std::min(fewest, plane.predicted_as(kNeutrinoClass));
  }
  return fewest;
}

void put(const EventResult& event, ByteWriter& to) {
  to.i64(event.entry);
  to.i64(event.id.run);
  to.i64(event.id.subrun);
  to.i64(event.id.event);
  for (const infer::Confusion& plane : event.planes) {
    for (const auto& row : plane.counts) {
      for (const std::int64_t count : row) {
        to.i64(count);
      }
    }
  }
  to.i64(event.tagged_without_charge);
  to.u8(event.neutrino ? 1 : 0);
  if (event.neutrino) {
    to.real(event.neutrino->energy);
    to.u8(static_cast<std::uint8_t>(event.neutrino->interaction));
  }
  to.real(event.score);
}

EventResult take_event_result(ByteReader& from) {
  EventResult event;
  event.entry = from.i64();
  event.id.run = from.i64();
  event.id.subrun = from.i64();
  event.id.event = from.i64();
  for (infer::Confusion& plane : event.planes) {
    for (auto& row : plane.counts) {
      for (std::int64_t& count : row) {
        count = from.i64();
      }
    }
  }
  event.tagged_without_charge = from.i64();
  if (from.u8() != 0) {
    const double energy = from.real();
    const std::uint8_t interaction = from.u8();
    from.require(interaction < kInteractions.size(), "names an interaction that is not there");
    event.neutrino = TrueNeutrino{energy, static_cast<Interaction>(interaction)};
  }
  event.score = from.real();
  return event;
}

std::int64_t count_tagged_without_charge(const infer::TaggedEvent& event) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < event.charge.size(); ++i) {
    count += event.charge[i] == 0 && event.classes[i] == kNeutrinoClass ? 1 : 0;
  }
  return count;
}

double event_score(const data::SparseImage& neutrino_probabilities) {
  double score = 1;
  for (const data::SparsePlane& plane : neutrino_probabilities) {
    if (plane.values.size() < kScorePixels) {
      return 0;
    }
    std::vector<float> values = plane.values;
    const auto tenth = values.begin() + (kScorePixels - 1);
    std::nth_element(values.begin(), tenth, values.end(), std::greater<>());
    score = std::min(score, static_cast<double>(*tenth));
  }
  return score;
}

}  // namespace cosmic::report::evaluation
