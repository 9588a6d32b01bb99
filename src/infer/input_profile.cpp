#include "infer/input_profile.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_file.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "infer/tagger.hpp"

namespace cosmic::infer {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kRareShare = 0.005;

/// The value that a share of them is below; 0 of none. Reorders them.
template <class Value>
double quantile(std::vector<Value>& values, double share) {
  if (values.empty()) {
    return 0;
  }
  const auto at =
      static_cast<std::ptrdiff_t>(std::lround(share * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

std::vector<double> each(const std::vector<InputFigures>& events, double InputFigures::*figure) {
  std::vector<double> values;
  for (const InputFigures& event : events) {
    values.push_back(event.*figure);
  }
  return values;
}

InputProfile::Spread spread_of(const std::vector<InputFigures>& events,
                               double InputFigures::*figure) {
  std::vector<double> values = each(events, figure);
  return {quantile(values, kRareShare), quantile(values, 0.5), quantile(values, 1 - kRareShare)};
}

struct Figure {
  const char* key;
  const char* name;
  double InputFigures::*of_event;
  InputProfile::Spread InputProfile::*of_profile;
};
constexpr std::array<Figure, 3> kFigures{
    {{"pixels", "pixels with charge in an event", &InputFigures::pixels, &InputProfile::pixels},
     {"median", "median charge of a pixel", &InputFigures::median, &InputProfile::median},
     {"ninth_decile", "charge that one pixel in ten exceeds", &InputFigures::ninth_decile,
      &InputProfile::ninth_decile}}};

/// 12,345 or 1.23.
std::string number(double value) {
  return value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

}  // namespace

InputFigures input_figures(const TaggedEvent& event) {
  std::vector<float> charges;
  for (const float charge : event.charge) {
    if (charge != 0) {
      charges.push_back(charge);
    }
  }
  constexpr double kNinthDecile = 0.9;
  return {static_cast<double>(charges.size()), quantile(charges, 0.5),
          quantile(charges, kNinthDecile)};
}

InputProfile profile_of(const data::DenseShape& shape, const std::vector<InputFigures>& events) {
  COSMIC_ASSERT(!events.empty());
  InputProfile profile;
  profile.shape = shape;
  profile.events = static_cast<std::int64_t>(events.size());
  for (const Figure& figure : kFigures) {
    profile.*figure.of_profile = spread_of(events, figure.of_event);
  }
  return profile;
}

std::string InputProfile::to_text() const {
  Json json{{"rows", shape.rows}, {"columns", shape.columns}, {"events", events}};
  for (const Figure& figure : kFigures) {
    const Spread& spread = this->*figure.of_profile;
    json[figure.key] = {spread.low, spread.middle, spread.high};
  }
  return json.dump();
}

InputProfile InputProfile::from_text(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    InputProfile profile;
    profile.shape = {json.at("rows").get<std::int64_t>(), json.at("columns").get<std::int64_t>()};
    profile.events = json.at("events").get<std::int64_t>();
    for (const Figure& figure : kFigures) {
      const Json& spread = json.at(figure.key);
      profile.*figure.of_profile = {spread.at(0).get<double>(), spread.at(1).get<double>(),
                                    spread.at(2).get<double>()};
    }
    return profile;
  } catch (const Json::exception&) {
    throw DataError("the weights say that they know events like " + printable(text) +
                    " (which is no list of figures); publish them again with `cosmictagger "
                    "checkpoint publish`");
  }
}

std::optional<InputProfile> input_profile_in(const std::map<std::string, std::string>& notes) {
  const auto note = notes.find(checkpoint::kInputsNote);
  return note == notes.end() ? std::nullopt : std::optional(InputProfile::from_text(note->second));
}

std::vector<std::string> oddities(const InputProfile& known, const data::DenseShape& shape,
                                  const std::vector<InputFigures>& events) {
  std::vector<std::string> found;
  if (shape.rows != known.shape.rows || shape.columns != known.shape.columns) {
    found.push_back(fmt::format("its images are {} x {} pixels, not {} x {}", shape.rows,
                                shape.columns, known.shape.rows, known.shape.columns));
  }
  const auto empty = std::count_if(events.begin(), events.end(),
                                   [](const InputFigures& event) { return event.pixels == 0; });
  if (empty > 0) {
    found.push_back(fmt::format("{} of {} events have no charge at all", empty, events.size()));
  }
  if (2 * static_cast<std::size_t>(empty) >= events.size()) {
    return found;  // the middle of nothing
  }
  for (const Figure& figure : kFigures) {
    const InputProfile::Spread& spread = known.*figure.of_profile;
    std::vector<double> values = each(events, figure.of_event);
    const double middle = quantile(values, 0.5);
    constexpr double kMargin = 0.1;
    if (middle < (1 - kMargin) * spread.low || middle > (1 + kMargin) * spread.high) {
      found.push_back(fmt::format("{}: {}, against {} ({} to {})", figure.name, number(middle),
                                  number(spread.middle), number(spread.low), number(spread.high)));
    }
  }
  return found;
}

}  // namespace cosmic::infer
