#include "view/event_message.hpp"

#include <bit>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/little_endian.hpp"
#include "picture/charge_scale.hpp"

namespace cosmic::view {
namespace {

using nlohmann::json;
using report::evaluation::Interaction;

constexpr std::size_t kAlignment = 4;

void align(std::string& bytes, char filling) {
  bytes.append((kAlignment - bytes.size() % kAlignment) % kAlignment, filling);
}

void append(std::string& bytes, const std::vector<float>& values) {
  for (const float value : values) {
    append_little_endian(bytes, std::bit_cast<std::uint32_t>(value));
  }
}

void append(std::string& bytes, const std::vector<std::uint8_t>& values) {
  bytes.append(values.begin(), values.end());
  align(bytes, '\0');
}

picture::ChargeScale scale_of(const data::SparseImage& image) {
  std::vector<float> charges;
  for (const data::SparsePlane& plane : image) {
    charges.insert(charges.end(), plane.values.begin(), plane.values.end());
  }
  return picture::charge_scale(std::move(charges));
}

json header_of(const ViewedEvent& event) {
  json planes = json::array();
  for (const data::SparsePlane& plane : event.pixels.image) {
    planes.push_back({{"columns", plane.meta.columns()},
                      {"rows", plane.meta.rows()},
                      {"pixels", plane.ids.size()}});
  }
  const picture::ChargeScale scale = scale_of(event.pixels.image);
  const data::EventId& id = event.pixels.id;
  return {{"entry", event.entry},
          {"file", event.file},
          {"entry_in_file", event.entry_in_file},
          {"id", {id.run, id.subrun, id.event}},
          {"labelled", event.pixels.labelled},
          {"networks", event.networks.size()},
          {"energy", event.neutrino ? json(event.neutrino->energy) : json()},
          {"interaction", interaction_code(event.neutrino)},
          {"scale", {scale.low, scale.high}},
          {"planes", planes}};
}

}  // namespace

const char* interaction_code(const std::optional<report::evaluation::TrueNeutrino>& neutrino) {
  if (!neutrino) {
    return "cosmic";
  }
  switch (neutrino->interaction) {
    case Interaction::electron_charged:
      return "nue";
    case Interaction::muon_charged:
      return "numu";
    case Interaction::neutral:
      return "nc";
    case Interaction::other:
      return "other";
  }
  throw InternalError("an interaction without a name");
}

std::string to_message(const ViewedEvent& event) {
  // Names of files may be any bytes; those that are not UTF-8 are replaced.
  std::string header = header_of(event).dump(-1, ' ', false, json::error_handler_t::replace);
  align(header, ' ');
  std::string bytes;
  append_little_endian(bytes, static_cast<std::uint32_t>(header.size()));
  bytes += header;
  for (std::size_t plane = 0; plane < event.pixels.image.size(); ++plane) {
    const data::SparsePlane& image = event.pixels.image[plane];
    for (const std::uint64_t id : image.ids) {
      append_little_endian(bytes, static_cast<std::uint32_t>(id));  // kMaxAxis keeps it in range
    }
    append(bytes, image.values);
    if (event.pixels.labelled) {
      const std::vector<float>& labels = event.pixels.labels[plane].values;
      append(bytes, std::vector<std::uint8_t>(labels.begin(), labels.end()));
    }
    for (const EventScores& network : event.networks) {
      append(bytes, network[plane].tag);
      append(bytes, network[plane].cosmic);
      append(bytes, network[plane].neutrino);
    }
  }
  return bytes;
}

}  // namespace cosmic::view
