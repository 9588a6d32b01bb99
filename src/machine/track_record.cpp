#include "machine/track_record.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>

#include "core/error.hpp"
#include "core/yaml/yaml_tree.hpp"
#include "machine/description.hpp"
#include "machine/machine_library.hpp"

namespace cosmic::machine {
namespace {

/// Student's t: 95 % of the distribution lie below, by degrees of freedom.
double students_t(std::size_t freedom) {
  constexpr std::array few{6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812};
  constexpr double kMany = 1.645;
  if (freedom <= few.size()) {
    return few.at(freedom - 1);
  }
  return kMany + 1.67 / static_cast<double>(freedom);  // within 0.01 of the tables
}

class RecordParser {
 public:
  explicit RecordParser(const std::string& name) : name_(name) {}

  std::vector<Deviation> read(const YamlNode& root) const {
    std::vector<Deviation> rows;
    if (root.kind == YamlNode::Kind::nothing) {
      return rows;
    }
    if (root.kind != YamlNode::Kind::list) {
      fail(root, "a track record is a list of rows; start each with '-'");
    }
    for (const YamlNode& node : root.items) {
      rows.push_back({.row = word(node, "row"),
                      .group = word(node, "judged_with"),
                      .judged = judged(node),
                      .predicted_to_published = ratio(node)});
    }
    return rows;
  }

 private:
  [[noreturn]] void fail(const YamlNode& at, const std::string& message) const {
    throw UserError(name_ + ":" + std::to_string(at.line) + ": " + message);
  }

  std::string word(const YamlNode& map, std::string_view key) const {
    for (std::size_t i = 0; map.kind == YamlNode::Kind::map && i + 1 < map.items.size(); i += 2) {
      if (map.items[i].text == key) {
        return map.items[i + 1].text;
      }
    }
    fail(map, "a row has no '" + std::string(key) + "'; write the file again with its program");
  }

  Judged judged(const YamlNode& map) const {
    const std::string text = word(map, "of");
    for (const Judged known : {Judged::training, Judged::inference, Judged::memory}) {
      if (to_string(known) == text) {
        return known;
      }
    }
    fail(map, "'of' is '" + text + "'; it must be training, inference or memory");
  }

  double ratio(const YamlNode& map) const {
    const std::string text = word(map, "predicted_to_published");
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(value > 0)) {
      fail(map, "'predicted_to_published' is '" + text + "'; it must be a positive number");
    }
    return value;
  }

  const std::string& name_;
};

}  // namespace

std::string to_string(Judged judged) {
  constexpr std::array<std::string_view, 3> names{"training", "inference", "memory"};
  return std::string(names.at(static_cast<std::size_t>(judged)));
}

std::vector<Deviation> parse_track_record(std::string_view text, const std::string& name) {
  return RecordParser(name).read(parse_yaml(text, name));
}

const std::vector<Deviation>& track_record() {
  static const std::vector<Deviation> rows =
      parse_track_record(track_record_text(), "track_record.yaml");
  return rows;
}

std::optional<PastError> past_error(const std::vector<Deviation>& deviations) {
  if (deviations.empty()) {
    return std::nullopt;
  }
  double squares = 0;
  double sum = 0;
  for (const Deviation& deviation : deviations) {
    const double log = std::log(deviation.predicted_to_published);
    squares += log * log;
    sum += log;
  }
  const auto count = static_cast<double>(deviations.size());
  return PastError{.rows = deviations.size(),
                   .factor = std::exp(students_t(deviations.size()) * std::sqrt(squares / count)),
                   .bias = std::exp(sum / count) - 1};
}

std::optional<PastError> past_error(const Description& machine, Judged judged) {
  std::vector<Deviation> ours;
  std::vector<Deviation> of_times;
  for (const Deviation& deviation : track_record()) {
    if (deviation.group != machine.judged_with) {
      continue;
    }
    if (deviation.judged == judged) {
      ours.push_back(deviation);
    }
    if (deviation.judged != Judged::memory) {
      of_times.push_back(deviation);
    }
  }
  if (judged == Judged::memory || ours.size() >= kFewRows || of_times.size() == ours.size()) {
    return past_error(ours);
  }
  std::optional<PastError> error = past_error(of_times);
  error->pooled = true;
  return error;
}

std::string to_string(const std::optional<PastError>& error, Judged judged) {
  if (!error) {
    return "there is no figure to check " + to_string(judged) +
           " of this kind of machine against; the error bar is that of the ranges alone";
  }
  const bool memory = judged == Judged::memory;
  const std::string direction =
      error->bias > 0 ? (memory ? "too much" : "too slow") : (memory ? "too little" : "too fast");
  return fmt::format(
      "{} would be within a factor of {:.2f} in 9 of 10 cases, by {} figure{} that {} "
      "not fitted (on average {:.0f} % {})",
      error->pooled ? "training and inference together" : to_string(judged), error->factor,
      error->rows, error->rows == 1 ? "" : "s", error->rows == 1 ? "was" : "were",
      100 * std::abs(error->bias), direction);
}

}  // namespace cosmic::machine
