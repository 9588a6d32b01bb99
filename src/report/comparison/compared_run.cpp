#include "report/comparison/compared_run.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include "config/parse.hpp"
#include "config/schema.hpp"
#include "core/error.hpp"

namespace cosmic::report::comparison {
namespace {

template <class Number>
Mean mean_of_last(const evaluation::TrainingCurve& curve, const Number& number) {
  const std::vector<evaluation::CurvePoint>& points =
      curve.validation.empty() ? curve.training : curve.validation;
  std::vector<double> numbers;
  const std::size_t count = std::min(points.size(), kLastValidations);
  for (std::size_t i = points.size() - count; i < points.size(); ++i) {
    numbers.push_back(number(points[i]));
  }
  return mean_of(numbers);
}

/// The neutrino's IoU in one event, over runs.
struct EventScores {
  std::size_t number = 0;
  double mean = 0;
  double spread = 0;  ///< the best less the worst
};

/// Of the events in which every run sees a neutrino: halved images lose small ones.
std::vector<EventScores> scores_of_events(const std::vector<ComparedRun>& runs) {
  std::vector<EventScores> all;
  for (std::size_t i = 0; i < runs.front().evaluated->events.size(); ++i) {
    EventScores scores{i, 0, 0};
    double least = 1;
    double greatest = 0;
    bool everywhere = true;
    for (const ComparedRun& run : runs) {
      const evaluation::EventResult& event = run.evaluated->events.at(i);
      everywhere = everywhere && event.has_neutrino();
      const double iou = event.all().iou(evaluation::kNeutrinoClass);
      least = std::min(least, iou);
      greatest = std::max(greatest, iou);
      scores.mean += iou / static_cast<double>(runs.size());
    }
    if (everywhere) {
      scores.spread = greatest - least;
      all.push_back(scores);
    }
  }
  return all;
}

}  // namespace

Mean mean_of(const std::vector<double>& numbers) {
  const auto count = static_cast<double>(numbers.size());
  Mean mean{0, std::numeric_limits<double>::quiet_NaN(), numbers.size()};
  if (numbers.empty()) {
    mean.value = std::numeric_limits<double>::quiet_NaN();
    return mean;
  }
  for (const double number : numbers) {
    mean.value += number / count;
  }
  if (numbers.size() > 1) {
    double squares = 0;
    for (const double number : numbers) {
      squares += (number - mean.value) * (number - mean.value);
    }
    mean.error = std::sqrt(squares / (count - 1) / count);
  }
  return mean;
}

Mean ComparedRun::final_loss() const {
  return mean_of_last(curve, [](const evaluation::CurvePoint& point) { return point.loss; });
}

Mean ComparedRun::final_mean_iou() const {
  return mean_of_last(curve, [](const evaluation::CurvePoint& point) { return point.mean_iou; });
}

ComparedRun read_run(const std::filesystem::path& folder) {
  const std::filesystem::path settings = folder / "config.yaml";
  std::ifstream file(settings);
  COSMIC_REQUIRE(UserError, file,
                 folder.string() << ": is not the folder of a training (it has no config.yaml that "
                                    "can be read); name folders such as output/torch/A21/first");
  const std::string yaml{std::istreambuf_iterator<char>(file), {}};
  ComparedRun run;
  run.name = folder.string();
  run.configuration = config::from_yaml(yaml, settings.string());
  run.curve = evaluation::read_training_curve(folder / "checkpoints" / "any");
  COSMIC_REQUIRE(UserError, !run.curve.training.empty(),
                 folder.string() << ": has no updates to compare (train_metrics.csv has no row); "
                                    "train the run first");
  return run;
}

std::vector<ShownEvent> events_to_show(const std::vector<ComparedRun>& runs) {
  constexpr std::size_t kMostDifferent = 2;
  std::vector<EventScores> scores = scores_of_events(runs);
  std::vector<ShownEvent> shown;
  // Events of the same score stay in the file's order.
  const auto sort = [&](double EventScores::*by) {
    std::stable_sort(scores.begin(), scores.end(),
                     [&](const EventScores& a, const EventScores& b) { return a.*by > b.*by; });
  };
  const auto take = [&](std::size_t place, const char* why) {
    shown.push_back({scores[place].number, why});
    scores.erase(scores.begin() + static_cast<std::ptrdiff_t>(place));
  };
  sort(&EventScores::spread);
  while (shown.size() < kMostDifferent && !scores.empty()) {
    take(0, shown.empty() ? "where they differ most" : "where they differ second most");
  }
  sort(&EventScores::mean);
  if (!scores.empty()) {
    take(scores.size() / 2, "the median of their mean IoU");
  }
  if (!scores.empty()) {
    take(scores.size() - 1, "the hardest for all of them together");
  }
  return shown;
}

std::vector<DifferentSetting> different_settings(const std::vector<ComparedRun>& runs) {
  std::vector<DifferentSetting> different;
  for (const config::Key& key : config::schema()) {
    if (key.name == "run.id" || key.name == "output_dir") {
      continue;
    }
    DifferentSetting setting{key.name, {}};
    for (const ComparedRun& run : runs) {
      setting.values.push_back(config::to_text(key.read(run.configuration)));
    }
    if (std::any_of(setting.values.begin(), setting.values.end(),
                    [&](const std::string& value) { return value != setting.values.front(); })) {
      different.push_back(std::move(setting));
    }
  }
  return different;
}

}  // namespace cosmic::report::comparison
