#include "run/records.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <sstream>
#include <string_view>

#include "core/error.hpp"

namespace cosmic::run {
namespace {

using Json = nlohmann::ordered_json;
using Kind = Observation::Kind;

constexpr std::string_view kFormat = "cosmictagger record 1";
constexpr std::uintmax_t kLongest = std::uintmax_t{1} << 30;  // bytes; traces are long
constexpr double kMicrosecond = 1e-6;

[[noreturn]] void fail(const std::string& name, const std::string& why) {
  throw DataError(name + ": " + why);
}

double positive(const std::string& name, const Json& json, const std::string& what) {
  const double value = json.is_number() ? json.get<double>() : 0;
  if (!(value > 0)) {
    fail(name, "'" + what + "' is " + json.dump() + "; it must be a positive number");
  }
  return value;
}

std::string word_of(const Json& json) {
  return json.is_string() ? json.get<std::string>() : json.dump();
}

/// Settings that change a prediction, of a whole configuration.
void add_configuration(const Json& configuration, std::vector<std::string>& settings) {
  const auto add = [&](const std::string& group, const std::string& key) {
    if (configuration.contains(group) && configuration[group].contains(key)) {
      settings.push_back(group + "." + key + "=" + word_of(configuration[group][key]));
    }
  };
  if (configuration.contains("network")) {
    for (const auto& [key, value] : configuration["network"].items()) {
      add("network", key);
    }
  }
  for (const char* key : {"minibatch_size", "precision", "tf32", "partials"}) {
    add("run", key);
  }
  add("data", "downsample");
}

std::vector<std::string> settings_of(const std::string& name, const Json& json) {
  std::vector<std::string> settings;
  if (json.is_array()) {
    for (const Json& word : json) {
      settings.push_back(word_of(word));
    }
  } else if (json.is_object() && json.contains("configuration")) {
    add_configuration(json["configuration"], settings);
  } else if (!json.is_null()) {
    fail(name, "'settings' must be a list of key=value, or have a 'configuration'");
  }
  return settings;
}

/// A record that says nothing else about what ran leaves that to the command line.
void add_kind(const Json& step, std::vector<std::string>& settings) {
  const bool given = std::any_of(settings.begin(), settings.end(),
                                 [](const std::string& word) { return word.starts_with("mode="); });
  if (!given && !settings.empty() && step.contains("kind")) {
    settings.push_back(step["kind"] == "training" ? "mode=train" : "mode=inference");
  }
}

/// Null where there is none.
Json member(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? Json() : *found;
}

Record own_record(const std::string& name, const Json& json) {
  Record record{.name = name, .settings = settings_of(name, member(json, "settings"))};
  const Json step = member(json, "step");
  if (!step.is_null()) {
    if (!step.is_object()) {
      fail(name, "'step' is " + step.dump() + "; it must be an object with 'seconds'");
    }
    add_kind(step, record.settings);
    record.observations.push_back(
        {Kind::step, positive(name, member(step, "seconds"), "step.seconds")});
  }
  for (const auto& [key, kind] : {std::pair{"products_seconds", Kind::products},
                                  {"other_seconds", Kind::other},
                                  {"peak_bytes", Kind::memory},
                                  {"loading_to_executing", Kind::loading}}) {
    const Json value = member(json, key);
    if (!value.is_null()) {
      record.observations.push_back({kind, positive(name, value, key)});
    }
  }
  return record;
}

/// By its name. nvjet: products of cuBLAS since Hopper. Kernels that convert types or layouts are
/// none, whatever they prepare for.
bool is_product(std::string kernel) {
  std::transform(kernel.begin(), kernel.end(), kernel.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array words{"conv",  "gemm", "wgrad",   "dgrad",    "fprop",
                             "nvjet", "xmma", "cutlass", "winograd", "implicit_"};
  return kernel.find("convert") == std::string::npos &&
         std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return kernel.find(word) != std::string::npos; });
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// torch.profiler: steps are events ProfilerStep#N, kernels have the category "kernel".
Record profiler_trace(const std::string& name, const Json& events) {
  std::vector<double> steps;
  double products = 0;
  double other = 0;
  for (const Json& event : events) {
    if (!event.is_object() || !event.contains("dur") || !event["dur"].is_number() ||
        !event.contains("name")) {
      continue;
    }
    const double seconds = event["dur"].get<double>() * kMicrosecond;
    const std::string what = word_of(event["name"]);
    const std::string category = event.contains("cat") ? word_of(event["cat"]) : "";
    if (what.starts_with("ProfilerStep#") && !category.ends_with("_user_annotation")) {
      steps.push_back(seconds);
    } else if (category == "kernel" || category == "Kernel" || category.ends_with("memcpy")) {
      (is_product(what) ? products : other) += seconds;
    }
  }
  if (steps.empty()) {
    fail(name,
         "there is no ProfilerStep#N among its events (so nothing says how long a step is); call "
         "step() of the profiler after each step");
  }
  const auto count = static_cast<double>(steps.size());
  Record record{.name = name, .settings = {}, .observations = {{Kind::step, median(steps)}}};
  if (products > 0 && other > 0) {
    record.observations.push_back({Kind::products, products / count});
    record.observations.push_back({Kind::other, other / count});
  }
  return record;
}

/// The largest number after one of the words, in bytes.
std::optional<double> logged_peak(const std::string& text) {
  const std::regex word(R"((?:MaxInUse|max_in_use|Max in use)\s*[:=]?\s*([0-9]+))",
                        std::regex::icase);
  std::optional<double> most;
  for (std::sregex_iterator it(text.begin(), text.end(), word), end; it != end; ++it) {
    const double bytes = std::strtod((*it)[1].str().c_str(), nullptr);
    most = std::max(most.value_or(0), bytes);
  }
  return most;
}

/// sntilestat: a header with %idle %exec %pload ..., and a row for each tile and time.
Record tile_statistics(const std::string& name, const std::string& text) {
  std::istringstream lines(text);
  std::vector<std::string> header;
  std::map<std::string, double> sums;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> cells{std::istream_iterator<std::string>(words), {}};
    if (std::find(cells.begin(), cells.end(), "%exec") != cells.end()) {
      header = cells;
      continue;
    }
    for (std::size_t i = 0; i < cells.size() && i < header.size(); ++i) {
      char* end = nullptr;
      const double value = std::strtod(cells[i].c_str(), &end);
      if (header[i].starts_with("%") && end != cells[i].c_str()) {
        sums[header[i]] += value;
      }
    }
  }
  if (!(sums["%exec"] > 0) || !(sums["%pload"] > 0)) {
    fail(name,
         "%exec and %pload add up to nothing (so nothing ran while it was written); take it "
         "while the program runs");
  }
  return {.name = name,
          .settings = {},
          .observations = {{Kind::loading, sums["%pload"] / sums["%exec"]}}};
}

}  // namespace

std::string to_string(Observation::Kind kind) {
  constexpr std::array<std::string_view, 5> names{"step", "products", "other kernels",
                                                  "peak memory", "loading of programs"};
  return std::string(names.at(static_cast<std::size_t>(kind)));
}

Record parse_record(const std::string& text, const std::string& name) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && (text[first] == '{' || text[first] == '[')) {
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) {
      fail(name, "it begins like JSON and is not (perhaps it was cut off); write it again");
    }
    if (json.is_object() && json.contains("traceEvents")) {
      return profiler_trace(name, json["traceEvents"]);
    }
    if (json.is_array()) {  // what a PyTorch without Kineto, such as Debian's, writes
      return profiler_trace(name, json);
    }
    if (json.is_object() && json.contains("format") && json["format"] == kFormat) {
      return own_record(name, json);
    }
    fail(name, "it is JSON, but neither a record ('format': '" + std::string(kFormat) +
                   "') nor a trace of torch.profiler ('traceEvents')");
  }
  if (text.find("%exec") != std::string::npos) {
    return tile_statistics(name, text);
  }
  if (const std::optional<double> bytes = logged_peak(text); bytes && *bytes > 0) {
    return {.name = name, .settings = {}, .observations = {{Kind::memory, *bytes}}};
  }
  fail(name,
       "it is neither our record, nor a trace of torch.profiler, nor a memory log of Habana "
       "(MaxInUse), nor the text of sntilestat (%exec)");
}

Record read_record(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  COSMIC_REQUIRE(UserError, !error, path << ": " << error.message() << " (a record); give a file");
  COSMIC_REQUIRE(UserError, bytes <= kLongest,
                 path << " has " << bytes << " bytes (a record has at most " << kLongest
                      << "); profile fewer steps");
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_record(text, std::filesystem::path(path).filename().string());
}

std::string to_json(const Record& record) {
  Json json{{"format", kFormat}, {"settings", record.settings}};
  for (const Observation& observation : record.observations) {
    switch (observation.kind) {
      case Kind::step:
        json["step"] = {{"seconds", observation.value}};
        break;
      case Kind::products:
        json["products_seconds"] = observation.value;
        break;
      case Kind::other:
        json["other_seconds"] = observation.value;
        break;
      case Kind::memory:
        json["peak_bytes"] = observation.value;
        break;
      case Kind::loading:
        json["loading_to_executing"] = observation.value;
        break;
    }
  }
  return json.dump(2) + "\n";
}

}  // namespace cosmic::run
