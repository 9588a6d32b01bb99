#include "run/layer_comparison.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/error.hpp"

namespace cosmic::run {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uintmax_t kLongestFile = std::uintmax_t{256} << 20;  // bytes

const Json& member(const Json& json, const std::string& key, const std::string& name) {
  COSMIC_REQUIRE(DataError, json.is_object() && json.contains(key),
                 name << ": '" << key
                      << "' is missing (a profile has it); give the profile.json that "
                         "run.profile=true wrote");
  return json[key];
}

template <class Value>
Value value_of(const Json& json, const std::string& key, const std::string& name) {
  try {
    return member(json, key, name).get<Value>();
  } catch (const Json::exception&) {
    throw DataError(name + ": '" + key + "' is " + json[key].dump() +
                    " (another kind of value is expected); write the profile again");
  }
}

/// The layer as people name it: without the parts of a block.
std::string layer_of(std::string name) {
  constexpr std::array<std::string_view, 6> parts{"conv", "norm",          "weight",
                                                  "bias", "convolution_1", "convolution_2"};
  while (true) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos ||
        std::find(parts.begin(), parts.end(), std::string_view(name).substr(dot + 1)) ==
            parts.end()) {
      return name.empty() ? "outside layers (loss, copies)" : name;
    }
    name.resize(dot);
  }
}

std::string kind_of(const std::string& op) {
  const bool product = op.starts_with("conv") || op == "matmul";
  return product ? "convolutions and their gradients" : "everything else";
}

/// Sums of times by name.
class Sums {
 public:
  void measured(const std::string& what, double seconds) { at(what).measured_seconds += seconds; }
  void predicted(const std::string& what, machine::ModelledTime time) {
    ComparedTime& sum = at(what);
    sum.predicted =
        machine::ModelledTime(sum.predicted.modelled_seconds() + time.modelled_seconds());
  }

  std::vector<ComparedTime> longest_first() const {
    std::vector<ComparedTime> result;
    for (const auto& [what, sum] : sums_) {
      result.push_back(sum);
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const ComparedTime& a, const ComparedTime& b) {
                       return a.measured_seconds > b.measured_seconds;
                     });
    return result;
  }

 private:
  ComparedTime& at(const std::string& what) {
    ComparedTime& sum = sums_[what];
    sum.what = what;
    return sum;
  }

  std::map<std::string, ComparedTime> sums_;
};

std::string row_of(const ComparedTime& time) {
  constexpr double kMillisecond = 1e-3;
  return fmt::format(
      "  {:<56} {:>10.3f} {:>10.3f} {:>8}\n", time.what, time.measured_seconds / kMillisecond,
      time.predicted.modelled_seconds() / kMillisecond,
      time.measured_seconds > 0 ? fmt::format("{:.2f}", time.predicted_to_measured()) : "–");
}

}  // namespace

double ComparedTime::predicted_to_measured() const {
  return predicted.modelled_seconds() / measured_seconds;
}

MeasuredProfile parse_profile(const std::string& text, const std::string& name) {
  const Json json = Json::parse(text, nullptr, false);
  COSMIC_REQUIRE(DataError,
                 json.is_object() && json.value("format", Json()) == "cosmictagger profile",
                 name << ": it is no profile ('format' is not 'cosmictagger profile'); give the "
                         "profile.json that run.profile=true wrote");
  const Json& machine = member(json, "machine", name);
  const auto provenance = value_of<std::string>(machine, "provenance", name);
  COSMIC_REQUIRE(DataError, provenance == "measured",
                 name << ": its times are " << provenance
                      << " (a prediction cannot be checked with that); give a profile of a run "
                         "on the machine itself");
  MeasuredProfile profile{
      .name = name,
      .target = value_of<std::string>(machine, "target", name) +
                (machine.contains("threads") && machine["threads"].is_number()
                     ? fmt::format(", {} threads", machine["threads"].dump())
                     : ""),
      .revision = value_of<std::string>(json, "revision", name),
      .purpose = value_of<std::string>(json, "purpose", name),
      .network = value_of<std::string>(json, "network", name),
      .batch = value_of<std::string>(json, "batch", name),
      .step_seconds = value_of<double>(member(json, "step", name), "seconds", name)};
  if (json.contains("settings")) {
    profile.settings = value_of<std::vector<std::string>>(json, "settings", name);
  }
  for (const Json& op : member(json, "ops", name)) {
    if (member(op, "seconds", name).is_null()) {
      continue;  // nobody timed it
    }
    profile.ops.push_back({value_of<std::string>(op, "op", name),
                           value_of<std::string>(op, "layer", name),
                           value_of<double>(op, "seconds", name)});
  }
  COSMIC_REQUIRE(DataError, !profile.ops.empty() && profile.step_seconds > 0,
                 name << ": it has " << profile.ops.size() << " ops in a step of "
                      << profile.step_seconds
                      << " s (nothing was timed); profile a run of several iterations");
  return profile;
}

MeasuredProfile read_profile(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  COSMIC_REQUIRE(UserError, !error, path << ": " << error.message() << " (a profile); give a file");
  COSMIC_REQUIRE(UserError, bytes <= kLongestFile,
                 path << " has " << bytes << " bytes (a profile has at most " << kLongestFile
                      << "); give the profile.json of one run");
  std::ifstream file(path, std::ios::binary);
  return parse_profile({std::istreambuf_iterator<char>(file), {}},
                       std::filesystem::path(path).filename().string());
}

void require_same_run(const MeasuredProfile& profile, const RunChoice& choice) {
  const config::Configuration& configuration = choice.configuration;
  const auto require = [&](const std::string& what, const std::string& measured,
                           const std::string& asked) {
    COSMIC_REQUIRE(UserError, measured == asked,
                   profile.name << " was measured with " << what << " " << measured
                                << ", and the settings say " << asked
                                << " (times of different work cannot be compared); give the "
                                   "settings of that run");
  };
  require("the network", profile.network, configuration.network.name);
  require("the mode", profile.purpose,
          configuration.mode.name == config::Mode::train ? "training" : "inference");
  require("a batch of", profile.batch.substr(0, profile.batch.find('x')),
          profile.batch.substr(0, profile.batch.find('[') + 1) +
              std::to_string(configuration.run.minibatch_size));
}

LayerComparison compared(const machine::Prediction& prediction, const MeasuredProfile& profile) {
  Sums layers;
  Sums kinds;
  for (const MeasuredProfile::Op& op : profile.ops) {
    layers.measured(layer_of(op.layer), op.seconds);
    kinds.measured(kind_of(op.op), op.seconds);
  }
  for (const machine::OpTime& op : prediction.ops) {
    layers.predicted(layer_of(op.layer), op.time);
    kinds.predicted(kind_of(op.op), op.time);
  }
  return {.step = {"the step", profile.step_seconds, prediction.step.best},
          .kinds = kinds.longest_first(),
          .layers = layers.longest_first()};
}

std::vector<ComparedTime> longest(const std::vector<ComparedTime>& layers, std::size_t most) {
  if (layers.size() <= most + 1) {
    return layers;
  }
  std::vector<ComparedTime> result(layers.begin(), layers.begin() + static_cast<long>(most));
  ComparedTime others{.what = fmt::format("{} others", layers.size() - most)};
  double predicted = 0;
  for (std::size_t i = most; i < layers.size(); ++i) {
    others.measured_seconds += layers[i].measured_seconds;
    predicted += layers[i].predicted.modelled_seconds();
  }
  others.predicted = machine::ModelledTime(predicted);
  result.push_back(others);
  return result;
}

std::string text_of(const LayerComparison& comparison, const MeasuredProfile& profile,
                    const std::string& machine) {
  constexpr std::size_t kMost = 30;
  std::string text =
      fmt::format("Measured: {} ({}, revision {}). Predicted: {}, modelled.\n\n"
                  "  {:<56} {:>10} {:>10} {:>8}\n",
                  profile.name, profile.target, profile.revision, machine, "", "measured",
                  "predicted", "ratio");
  text += fmt::format("  {:<56} {:>10} {:>10}\n", "", "ms", "ms");
  text += row_of(comparison.step) + "\n";
  for (const ComparedTime& kind : comparison.kinds) {
    text += row_of(kind);
  }
  text += "\n";
  for (const ComparedTime& layer : longest(comparison.layers, kMost)) {
    text += row_of(layer);
  }
  return text;
}

}  // namespace cosmic::run
