// Ctrl-C and the batch system's SIGTERM as a flag that long work can check, so that it ends
// cleanly. A second signal ends the program at once.
#pragma once

namespace cosmic::cli {

/// Listens while it lives; one at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool requested() const;
};

}  // namespace cosmic::cli
