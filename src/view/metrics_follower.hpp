// A table of metrics (train_metrics.csv and its neighbours) that another process is still writing:
// what was added is read, and a run that was taken up again, which drops rows it computes anew, is
// noticed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cosmic::view {

class MetricsFollower {
 public:
  explicit MetricsFollower(std::filesystem::path path) : path_(std::move(path)) {}

  /// Reads whole rows that were added. A file that is not there yet has none; one that was replaced
  /// or cut is read from its beginning.
  void update();

  /// Rises when rows that were there may have changed.
  std::int64_t generation() const { return generation_; }
  const std::vector<std::string>& columns() const { return columns_; }
  /// As many numbers as there are columns; NaN for what is none.
  const std::vector<std::vector<double>>& rows() const { return rows_; }

 private:
  void start_again();
  void add_line(std::string_view line);

  std::filesystem::path path_;
  std::int64_t generation_ = 0;
  std::uint64_t inode_ = 0;
  std::uint64_t read_ = 0;  ///< bytes, all of whole lines
  std::string last_line_;   ///< that was read
  std::vector<std::string> columns_;
  std::vector<std::vector<double>> rows_;
};

}  // namespace cosmic::view
