// `train --view`: the display of a training, in a process of its own, so that nothing that happens
// there can harm the training. It has a lower priority than the training, and ends with it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "output/run_log.hpp"

namespace cosmic::cli {

class TrainingDisplay {
 public:
  /// Of the run in this folder, which has begun. A display that cannot be started is a warning of
  /// the log.
  TrainingDisplay(const std::filesystem::path& folder, output::RunLog& log);
  /// Ends it.
  ~TrainingDisplay();
  TrainingDisplay(const TrainingDisplay&) = delete;
  TrainingDisplay& operator=(const TrainingDisplay&) = delete;

  /// Logs its address as soon as it is known. Never waits: to be called every now and then.
  void look();

 private:
  void give_up(const std::string& why);

  std::filesystem::path folder_;
  output::RunLog& log_;
  pid_t process_ = 0;  ///< 0 for none
  int printed_ = -1;   ///< what it prints, until the address is known
  std::string text_;   ///< of that, so far
};

}  // namespace cosmic::cli
