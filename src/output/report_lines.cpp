#include "output/report_lines.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "output/number_text.hpp"

namespace cosmic::output {
namespace {

constexpr std::array<std::string_view, 3> kConsoleKeys{"Average/Non_Bkg_Accuracy", "Average/mIoU",
                                                       "loss"};
constexpr int kMetricDigits = 3;
constexpr int kTimingDigits = 2;
constexpr int kReportDecimals = 4;

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    text += text.empty() ? "" : separator;
    text += part;
  }
  return text;
}

std::string console_metrics(const Metrics& metrics) {
  std::vector<std::string> parts;
  for (const std::string_view key : kConsoleKeys) {
    const auto found = std::find_if(metrics.begin(), metrics.end(),
                                    [&](const Metric& metric) { return metric.key == key; });
    if (found != metrics.end()) {
      parts.push_back(found->key + ": " + significant_digits(found->value, kMetricDigits));
    }
  }
  return joined(parts, ", ");
}

/// " (0.15 Img/s / 0.036 IOs / 0.046 (Step)(s))"; nothing if nothing is known.
std::string in_parentheses(const StepTiming& timing) {
  std::vector<std::string> parts;
  const auto add = [&](const std::optional<double>& value, std::string_view unit) {
    if (value) {
      parts.push_back(significant_digits(*value, kTimingDigits) + std::string(unit));
    }
  };
  add(timing.images_per_second, " Img/s");
  add(timing.io_seconds, " IOs");
  add(timing.step_seconds, " (Step)(s)");
  return parts.empty() ? "" : marked(" (" + joined(parts, " / ") + ")", timing.provenance);
}

std::string throughput_line(std::string_view which, std::int64_t iterations, double seconds,
                            std::int64_t images_per_iteration) {
  const double images = static_cast<double>(iterations) * static_cast<double>(images_per_iteration);
  return fmt::format("Total time to batch process {}: {:.4f}, throughput: {:.4f}", which, seconds,
                     images / seconds);
}

}  // namespace

std::string metrics_line(Series series, std::int64_t step, const Metrics& metrics,
                         const StepTiming& timing) {
  return fmt::format("{} Step {} metrics: {}{}", to_string(series), step, console_metrics(metrics),
                     in_parentheses(timing));
}

std::vector<std::string> inference_report(std::int64_t batches, std::int64_t entries,
                                          const Metrics& means) {
  std::vector<std::string> lines{
      fmt::format("Inference report: {} batches processed for {} entries.", batches, entries)};
  for (const Metric& metric : means) {
    lines.push_back("  " + metric.key + ": " + fixed_point(metric.value, kReportDecimals));
  }
  return lines;
}

std::vector<std::string> throughput_lines(const IterationTimes& times,
                                          std::int64_t images_per_iteration,
                                          Provenance provenance) {
  std::vector<std::string> lines{fmt::format("Total time to batch_process: {:.4f}", times.seconds)};
  constexpr std::array<std::string_view, IterationTimes::kFirst> kWithout{
      "except first iteration", "except first two iterations"};
  double seconds = times.seconds;
  std::int64_t iterations = times.count;
  for (std::size_t i = 0; i < times.first.size() && iterations > 1; ++i) {
    seconds -= times.first[i];
    lines.push_back(throughput_line(kWithout[i], --iterations, seconds, images_per_iteration));
  }
  if (times.count > std::ssize(times.last)) {
    lines.push_back(throughput_line(
        fmt::format("last {} iterations", times.last.size()), std::ssize(times.last),
        std::accumulate(times.last.begin(), times.last.end(), 0.0), images_per_iteration));
  }
  for (std::string& line : lines) {
    line = marked(std::move(line), provenance);
  }
  return lines;
}

}  // namespace cosmic::output
