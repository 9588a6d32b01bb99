// The learning rate of a run, which only TensorBoard's files have.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace cosmic::view {

/// Follows all event files of a folder. What cannot be read as such a file is left out.
class LearningRateCurve {
 public:
  explicit LearningRateCurve(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void update();
  const std::map<std::int64_t, double>& points() const { return points_; }

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::uint64_t> read_;  ///< bytes of each file
  std::map<std::int64_t, double> points_;
};

}  // namespace cosmic::view
