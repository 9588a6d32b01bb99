#include "view/run_follower.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "monitor/job_list.hpp"
#include "output/metrics_csv.hpp"

namespace cosmic::view {
namespace {

using nlohmann::json;

// Rows in one answer; the page asks again.
constexpr std::size_t kMostRows = 4000;
constexpr std::size_t kMostRates = 500;

json number(double value) {
  return std::isfinite(value) ? json(value) : json();
}

json rows_after(const MetricsFollower& table, std::int64_t seen) {
  const auto size = table.rows().size();
  const std::size_t from =
      std::min(static_cast<std::size_t>(std::max<std::int64_t>(seen, 0)), size);
  json rows = json::array();
  for (std::size_t i = from; i < std::min(size, from + kMostRows); ++i) {
    json row = json::array();
    for (const double value : table.rows()[i]) {
      row.push_back(number(value));
    }
    rows.push_back(std::move(row));
  }
  return {{"from", from}, {"total", size}, {"columns", table.columns()}, {"rows", std::move(rows)}};
}

/// A schedule is smooth; a few hundred points show it.
json thinned(const std::map<std::int64_t, double>& points) {
  json curve = json::array();
  const std::size_t step = points.size() / kMostRates + 1;
  std::size_t i = 0;
  for (const auto& [at, rate] : points) {
    if (i++ % step == 0) {
      curve.push_back({at, number(rate)});
    }
  }
  return curve;
}

/// The process that trains in this folder, if it is one of this user on this machine.
json job_in(const std::filesystem::path& folder) {
  std::error_code none;
  try {
    for (const monitor::RunningJob& job : monitor::list_jobs().jobs) {
      if (job.record.description.command == "train" &&
          std::filesystem::equivalent(job.record.description.folder, folder, none)) {
        const monitor::JobProgress& progress = job.record.progress;
        return {{"state", monitor::to_string(progress.state)},
                {"done", progress.done},
                {"total", progress.total},
                {"events_per_second", number(progress.host_events_per_second)},
                {"resident_bytes", job.usage.resident_bytes},
                {"seconds", number(job.seconds)}};
      }
    }
  } catch (const Error&) {
    return nullptr;  // a folder of records that cannot be trusted says nothing
  }
  return nullptr;
}

}  // namespace

bool is_run(const std::filesystem::path& folder) {
  std::error_code none;
  return std::filesystem::exists(output::metrics_csv_path(folder, output::Series::train), none) ||
         std::filesystem::exists(folder / "config.yaml", none);
}

RunFollower::RunFollower(const std::filesystem::path& folder)
    : folder_(std::filesystem::absolute(folder).lexically_normal()),
      train_(output::metrics_csv_path(folder, output::Series::train)),
      test_(output::metrics_csv_path(folder, output::Series::test)),
      learning_rate_(folder / "train") {
  COSMIC_REQUIRE(UserError, is_run(folder),
                 folder.string() << ": is not the folder of a run (it has neither config.yaml nor "
                                    "train_metrics.csv); name a larcv3 file, or the folder that "
                                    "`train` names in its first lines");
  if (!folder_.has_filename()) {
    folder_ = folder_.parent_path();  // it was given with a slash
  }
}

std::string RunFollower::name() const {
  const std::filesystem::path parent = folder_.parent_path().filename();
  return (parent / folder_.filename()).string();
}

std::string RunFollower::changes(const SeenRows& seen) {
  const std::lock_guard lock(mutex_);
  train_.update();
  test_.update();
  learning_rate_.update();
  const std::int64_t generation = train_.generation() + test_.generation();
  const bool same = generation == seen.generation;
  const json answer{{"generation", generation},
                    {"name", name()},
                    {"train", rows_after(train_, same ? seen.train : 0)},
                    {"test", rows_after(test_, same ? seen.test : 0)},
                    {"learning_rate", thinned(learning_rate_.points())},
                    {"job", job_in(folder_)}};
  return answer.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace cosmic::view
