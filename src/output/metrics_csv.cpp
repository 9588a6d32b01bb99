#include "output/metrics_csv.hpp"

#include <fmt/core.h>

#include <charconv>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/regular_file.hpp"
#include "core/whole_file.hpp"
#include "output/number_text.hpp"

namespace cosmic::output {
namespace {

constexpr int kDecimals = 5;

std::string read_all(const std::filesystem::path& path) {
  std::ifstream file(regular_file(path), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Takes the first line, without its end, off `text`; nothing if no whole line is left.
std::optional<std::string_view> next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

std::optional<std::int64_t> step_of(std::string_view row) {
  std::int64_t step = 0;
  const char* const end = row.data() + row.size();
  const auto [rest, error] = std::from_chars(row.data(), end, step);
  return error == std::errc() && rest != end && *rest == ',' ? std::optional(step) : std::nullopt;
}

std::string header_of(const Metrics& metrics) {
  std::string header = "step";
  for (const Metric& metric : metrics) {
    header += ',' + metric.key;
  }
  return header;
}

std::string row_of(std::int64_t step, const Metrics& metrics) {
  std::string row = std::to_string(step);
  for (const Metric& metric : metrics) {
    row += ',' + (metric.digits == Digits::significant ? fmt::format("{:.6g}", metric.value)
                                                       : fixed_point(metric.value, kDecimals));
  }
  return row;
}

/// A table as it is and as it would be without its rows from a step on.
struct KeptRows {
  std::string before;
  std::string kept;
  std::string header;  ///< empty if no row is kept
};

KeptRows rows_before(const std::filesystem::path& path, std::int64_t first_step) {
  KeptRows rows{.before = read_all(path), .kept = {}, .header = {}};
  std::string_view rest = rows.before;
  const std::string header(next_line(rest).value_or(""));
  while (const std::optional<std::string_view> row = next_line(rest)) {
    const std::optional<std::int64_t> step = step_of(*row);
    if (step && *step < first_step) {
      rows.kept.append(*row).append("\n");
    }
  }
  if (!rows.kept.empty()) {
    rows.header = header;
    rows.kept.insert(0, header + '\n');
  }
  return rows;
}

void require_header(const std::filesystem::path& path, const std::string& there,
                    const std::string& wanted) {
  COSMIC_REQUIRE(UserError, wanted == there,
                 path.string() << ": has the columns '" << there << "', this run measures '"
                               << wanted
                               << "' (rows under a different header would be misread); move the "
                                  "file away or choose another output folder");
}

}  // namespace

std::filesystem::path metrics_csv_path(const std::filesystem::path& folder, Series series) {
  return folder / (to_string(series) + "_metrics.csv");
}

std::optional<std::filesystem::path> set_metrics_aside(const std::filesystem::path& path,
                                                       std::int64_t first_step) {
  const std::string all = read_all(path);
  std::string_view rest = all;
  next_line(rest);  // the header
  bool later = false;
  while (const std::optional<std::string_view> row = next_line(rest)) {
    later = later || step_of(*row).value_or(-1) >= first_step;
  }
  if (!later) {
    return std::nullopt;
  }
  std::filesystem::path aside;
  for (int number = 1; aside.empty() || std::filesystem::exists(aside); ++number) {
    aside = path.parent_path() /
            (path.stem().string() + ".aside-" + std::to_string(number) + path.extension().string());
  }
  write_whole_file(aside, all, Existing::refuse);
  return aside;
}

MetricsCsv::MetricsCsv(std::filesystem::path path, std::int64_t first_step)
    : path_(std::move(path)) {
  if (std::filesystem::exists(path_)) {
    const KeptRows rows = rows_before(path_, first_step);
    header_ = rows.header;
    if (rows.kept != rows.before) {
      write_whole_file(path_, rows.kept, Existing::replace);
    }
  }
}

bool MetricsCsv::can_have_column(const std::filesystem::path& path, std::int64_t first_step,
                                 const std::string& key) {
  std::error_code unknown;
  const std::string header =
      std::filesystem::exists(path, unknown) ? rows_before(path, first_step).header : "";
  return header.empty() || (header + ',').find(',' + key + ',') != std::string::npos;
}

void MetricsCsv::require_same_columns(const std::filesystem::path& path, std::int64_t first_step,
                                      const Metrics& metrics) {
  std::error_code unknown;
  const std::string header =
      std::filesystem::exists(path, unknown) ? rows_before(path, first_step).header : "";
  if (!header.empty()) {
    require_header(path, header, header_of(metrics));
  }
}

void MetricsCsv::add(std::int64_t step, const Metrics& metrics) {
  const std::string header = header_of(metrics);
  if (!file_) {
    file_.emplace(path_, AppendFile::Start::continued);
  }
  std::string record = row_of(step, metrics) + '\n';
  if (header_.empty()) {
    record.insert(0, header + '\n');
    header_ = header;
  }
  require_header(path_, header_, header);
  file_->append(record);
}

WholeMetricsCsv::WholeMetricsCsv(const std::filesystem::path& path, Existing existing)
    : file_(path, existing) {}

void WholeMetricsCsv::add(std::int64_t step, const Metrics& metrics) {
  std::string record = row_of(step, metrics) + '\n';
  if (!has_header_) {
    record.insert(0, header_of(metrics) + '\n');
    has_header_ = true;
  }
  file_.append(std::as_bytes(std::span(record)));
}

}  // namespace cosmic::output
