#include "report/evaluation/training_curve.hpp"

#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

#include "core/regular_file.hpp"
#include "output/metrics.hpp"
#include "output/metrics_csv.hpp"

namespace cosmic::report::evaluation {
namespace {

std::vector<std::string_view> cells_of(std::string_view row) {
  std::vector<std::string_view> cells;
  while (true) {
    const std::size_t comma = row.find(',');
    cells.push_back(row.substr(0, comma));
    if (comma == std::string_view::npos) {
      return cells;
    }
    row.remove_prefix(comma + 1);
  }
}

std::optional<std::size_t> column_of(const std::vector<std::string_view>& header,
                                     std::string_view name) {
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (header[i] == name) {
      return i;
    }
  }
  return std::nullopt;
}

template <class Number>
std::optional<Number> number_in(std::string_view cell) {
  Number value{};
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return error == std::errc() && end == cell.data() + cell.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::vector<CurvePoint> read_curve(const std::filesystem::path& path) {
  std::ifstream file(regular_file(path));
  std::string line;
  if (!std::getline(file, line)) {
    return {};
  }
  const std::string header_line = line;
  const std::vector<std::string_view> header = cells_of(header_line);
  const auto step = column_of(header, "step");
  const auto loss = column_of(header, "loss");
  const auto mean_iou = column_of(header, "Average/mIoU");
  if (!step || !loss || !mean_iou) {
    return {};
  }
  std::vector<CurvePoint> curve;
  while (std::getline(file, line)) {
    const std::vector<std::string_view> cells = cells_of(line);
    if (cells.size() != header.size()) {
      continue;
    }
    const auto at_step = number_in<std::int64_t>(cells[*step]);
    const auto at_loss = number_in<double>(cells[*loss]);
    const auto at_iou = number_in<double>(cells[*mean_iou]);
    if (at_step && at_loss && at_iou && std::isfinite(*at_loss) && std::isfinite(*at_iou)) {
      curve.push_back({*at_step, *at_loss, *at_iou});
    }
  }
  return curve;
}

}  // namespace

TrainingCurve read_training_curve(const std::filesystem::path& weights) {
  const std::filesystem::path folder = weights.parent_path().parent_path();
  return {read_curve(output::metrics_csv_path(folder, output::Series::train)),
          read_curve(output::metrics_csv_path(folder, output::Series::test))};
}

std::vector<CurvePoint> thinned(const std::vector<CurvePoint>& curve, std::size_t count) {
  if (curve.size() <= count) {
    return curve;
  }
  std::vector<CurvePoint> result;
  for (std::size_t part = 0; part < count; ++part) {
    const std::size_t begin = part * curve.size() / count;
    const std::size_t end = (part + 1) * curve.size() / count;
    CurvePoint mean;
    double steps = 0;
    for (std::size_t i = begin; i < end; ++i) {
      steps += static_cast<double>(curve[i].step);
      mean.loss += curve[i].loss;
      mean.mean_iou += curve[i].mean_iou;
    }
    const auto number = static_cast<double>(end - begin);
    mean.step = std::llround(steps / number);
    mean.loss /= number;
    mean.mean_iou /= number;
    result.push_back(mean);
  }
  return result;
}

}  // namespace cosmic::report::evaluation
